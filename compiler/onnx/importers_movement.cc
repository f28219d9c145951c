// Importers of operators that move elements, resize, or make tensors.
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compiler/onnx/operator_importers.h"
#include "compiler/onnx/weights.h"

namespace ebb::onnx {
namespace {

// A list given as attribute `name` in old forms, as input `i` in new ones.
Expected<ir::ValueId> ListOf(NodeContext& node, std::string_view name,
                             std::size_t i) {
  TRY(const auto list, node.Ints(name));
  if (!list.has_value()) return node.Input(i);
  if (node.Has(i)) {
    return node.Invalid("has " + std::string(name) +
                        " as attribute and as input");
  }
  return node.builder().AddInts(*list, name);
}

// A tensor of floats as a rank-1 constant.
Expected<ir::ValueId> AddFloats(NodeContext& node,
                                const std::vector<float>& values,
                                std::string_view hint) {
  auto kept = std::make_shared<const std::vector<float>>(values);
  ir::Constant constant;
  constant.name = hint;
  constant.dtype = DType::kF32;
  constant.dims = {static_cast<int64_t>(values.size())};
  constant.data = std::as_bytes(std::span(*kept));
  node.builder().module().owned.push_back(std::move(kept));
  return node.builder().AddConstant(std::move(constant));
}

bool IsEmptyTensor(NodeContext& node, std::size_t i) {
  const ir::Type& type = node.TypeOf(i);
  return type.IsTensor() && type.ranked && type.dims.size() == 1 &&
         node.builder().dims().Known(type.dims[0]) == 0;
}

}  // namespace

Status ImportReshape(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(node.CheckInputs(1, 2));
  node.Ignore("consumed_inputs");
  TRY(const ir::ValueId shape, ListOf(node, "shape", 1));
  if (!shape.valid()) return node.Invalid("needs a shape");
  TRY(const int64_t allowzero, node.Int("allowzero", 0));
  Attributes attributes;
  attributes.Set("allowzero", allowzero);
  TRY(const ir::ValueId y,
      node.Op1(code, {node.Input(0), shape}, std::move(attributes)));
  node.SetOutput(0, y);
  return {};
}

Status ImportSqueeze(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(node.CheckInputs(1, 2));
  TRY(const ir::ValueId axes, ListOf(node, "axes", 1));
  if (code == OperatorCode::kUnsqueeze && !axes.valid()) {
    return node.Invalid("needs axes");
  }
  TRY(const ir::ValueId y, node.Op1(code, {node.Input(0), axes}));
  node.SetOutput(0, y);
  return {};
}

Status ImportSlice(NodeContext& node, OperatorCode code) {
  ir::ValueId starts = node.Input(1);
  ir::ValueId ends = node.Input(2);
  ir::ValueId axes = node.Input(3);
  if (node.opset() < 10) {
    RETURN_IF_ERROR(node.CheckInputs(1, 1));
    TRY(starts, ListOf(node, "starts", 1));
    TRY(ends, ListOf(node, "ends", 2));
    TRY(axes, ListOf(node, "axes", 3));
    if (!starts.valid() || !ends.valid()) {
      return node.Invalid("needs starts and ends");
    }
  } else {
    RETURN_IF_ERROR(node.CheckInputs(3, 5));
  }
  TRY(const ir::ValueId y,
      node.Op1(code, {node.Input(0), starts, ends, axes, node.Input(4)}));
  node.SetOutput(0, y);
  return {};
}

Status ImportSplit(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(node.CheckInputs(1, 2));
  Attributes attributes;
  TRY(const int64_t axis, node.Int("axis", 0));
  attributes.Set("axis", axis);
  TRY(const ir::ValueId sizes, ListOf(node, "split", 1));
  const std::size_t count = node.output_count();
  TRY(const int64_t parts,
      node.Int("num_outputs", static_cast<int64_t>(count)));
  if (parts != static_cast<int64_t>(count)) {
    return node.Invalid("num_outputs is " + std::to_string(parts) +
                        ", the node names " + std::to_string(count) +
                        " results");
  }
  if (count == 0) return node.Invalid("names no results");
  TRY(const auto results,
      node.Op(code, {node.Input(0), sizes}, std::move(attributes), count));
  for (std::size_t i = 0; i < count; ++i) node.SetOutput(i, results[i]);
  return {};
}

Status ImportPad(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(node.CheckInputs(1, 4));
  TRY(const std::string mode, node.String("mode", "constant"));
  Attributes attributes;
  attributes.Set("mode", mode);
  TRY(const ir::ValueId pads, ListOf(node, "pads", 1));
  if (!pads.valid()) return node.Invalid("needs pads");
  ir::ValueId value = node.Input(2);
  if (node.opset() < 11) {
    TRY(const float fill, node.Float("value", 0));
    TRY(value, node.builder().AddScalar(node.TypeOf(0).dtype, fill, "value"));
  }
  TRY(const ir::ValueId y,
      node.Op1(code, {node.Input(0), pads, value, node.Input(3)},
               std::move(attributes)));
  node.SetOutput(0, y);
  return {};
}

Status ImportTile(NodeContext& node, OperatorCode code) {
  if (node.opset() < 6) {
    return node.Unsupported("Tile before opset 6");
  }
  return ImportDirect(node, code);
}

Status ImportConcat(NodeContext& node, OperatorCode code) {
  if (!node.HasAttribute("axis")) {
    return node.Invalid("needs the attribute axis");
  }
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    if (!node.Has(i)) {
      return node.Invalid("input " + std::to_string(i) + " may not be absent");
    }
  }
  return ImportDirect(node, code);
}

// Opset 10: scales are the second input, places count from the corner.
// Later: roi, scales, sizes, an empty list of scales standing for none.
Status ImportResize(NodeContext& node, OperatorCode code) {
  Attributes attributes;
  TRY(const std::string mode, node.String("mode", "nearest"));
  attributes.Set("mode", mode);
  if (node.opset() < 11) {
    RETURN_IF_ERROR(node.CheckInputs(2, 2));
    attributes.Set("coordinate_transformation_mode", std::string("asymmetric"));
    attributes.Set("nearest_mode", std::string("floor"));
    TRY(const ir::ValueId y,
        node.Op1(code, {node.Input(0), ir::ValueId(), node.Input(1)},
                 std::move(attributes)));
    node.SetOutput(0, y);
    return {};
  }
  RETURN_IF_ERROR(node.CheckInputs(1, 4));
  for (const std::string_view name :
       {"coordinate_transformation_mode", "nearest_mode",
        "keep_aspect_ratio_policy"}) {
    if (!node.HasAttribute(name)) continue;
    TRY(std::string value, node.String(name, ""));
    attributes.Set(name, std::move(value));
  }
  for (const std::string_view name : {"cubic_coeff_a", "extrapolation_value"}) {
    if (!node.HasAttribute(name)) continue;
    TRY(const float value, node.Float(name, 0));
    attributes.Set(name, value);
  }
  for (const std::string_view name : {"antialias", "exclude_outside"}) {
    if (!node.HasAttribute(name)) continue;
    TRY(const int64_t value, node.Int(name, 0));
    attributes.Set(name, value);
  }
  TRY(auto axes, node.Ints("axes"));
  if (axes.has_value()) attributes.Set("axes", std::move(*axes));
  ir::ValueId roi = node.Input(1);
  ir::ValueId scales = node.Input(2);
  ir::ValueId sizes = node.Input(3);
  if (roi.valid() && IsEmptyTensor(node, 1)) roi = {};
  if (scales.valid() && IsEmptyTensor(node, 2)) scales = {};
  if (sizes.valid() && IsEmptyTensor(node, 3)) sizes = {};
  TRY(const ir::ValueId y, node.Op1(code, {node.Input(0), roi, scales, sizes},
                                    std::move(attributes)));
  node.SetOutput(0, y);
  return {};
}

Status ImportUpsample(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(node.CheckInputs(1, 2));
  TRY(std::string mode, node.String("mode", "nearest"));
  if (mode == "bilinear") mode = "linear";
  Attributes attributes;
  attributes.Set("mode", mode);
  attributes.Set("coordinate_transformation_mode", std::string("asymmetric"));
  attributes.Set("nearest_mode", std::string("floor"));
  ir::ValueId scales = node.Input(1);
  TRY(const auto listed, node.Floats("scales"));
  TRY(const float height, node.Float("height_scale", 1));
  TRY(const float width, node.Float("width_scale", 1));
  if (listed.has_value()) {
    TRY(scales, AddFloats(node, *listed, "scales"));
  } else if (node.opset() < 7) {
    TRY(scales, AddFloats(node, {1, 1, height, width}, "scales"));
  }
  if (!scales.valid()) return node.Invalid("needs scales");
  TRY(const ir::ValueId y,
      node.Op1(code, {node.Input(0), ir::ValueId(), scales},
               std::move(attributes)));
  node.SetOutput(0, y);
  return {};
}

Status ImportConstant(NodeContext& node, OperatorCode) {
  RETURN_IF_ERROR(node.CheckInputs(0, 0));
  GraphBuilder& builder = node.builder();
  ir::ValueId result;
  if (const Attribute* a = node.Raw("value")) {
    ExternalFiles none("");
    auto constant = ToConstant(a->t, none, builder.module().owned);
    if (!constant.has_value()) {
      return node.Invalid(constant.error().ToString());
    }
    if (constant->name.empty() && node.Wants(0)) {
      constant->name = node.node().outputs[0];
    }
    TRY(result, builder.AddConstant(std::move(*constant)));
  } else if (node.HasAttribute("value_int")) {
    TRY(const int64_t value, node.Int("value_int", 0));
    TRY(result, builder.AddInt(value, "value"));
  } else if (node.HasAttribute("value_float")) {
    TRY(const float value, node.Float("value_float", 0));
    TRY(result, builder.AddScalar(DType::kF32, value, "value"));
  } else if (node.HasAttribute("value_ints")) {
    TRY(const auto values, node.Ints("value_ints"));
    TRY(result, builder.AddInts(*values, "value"));
  } else if (node.HasAttribute("value_floats")) {
    TRY(const auto values, node.Floats("value_floats"));
    TRY(result, AddFloats(node, *values, "value"));
  } else {
    for (const char* other :
         {"value_string", "value_strings", "sparse_value"}) {
      if (node.HasAttribute(other)) {
        return node.Unsupported("Constant with " + std::string(other));
      }
    }
    return node.Invalid("has no value");
  }
  node.SetOutput(0, result);
  return {};
}

Status ImportConstantOfShape(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(node.CheckInputs(1, 1));
  ir::ValueId value;
  if (const Attribute* a = node.Raw("value")) {
    ExternalFiles none("");
    auto constant = ToConstant(a->t, none, node.builder().module().owned);
    if (!constant.has_value()) {
      return node.Invalid(constant.error().ToString());
    }
    int64_t count = 1;
    for (const int64_t dim : constant->dims) count *= dim;
    if (count != 1) {
      return node.Invalid("value holds " + std::to_string(count) +
                          " elements, not one");
    }
    TRY(value, node.builder().AddConstant(std::move(*constant)));
  } else {
    TRY(value, node.builder().AddScalar(DType::kF32, 0, "zero"));
  }
  TRY(const ir::ValueId y, node.Op1(code, {node.Input(0), value}));
  node.SetOutput(0, y);
  return {};
}

}  // namespace ebb::onnx
