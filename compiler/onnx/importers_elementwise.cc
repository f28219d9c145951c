// Importers of elementwise operators, and of those that are names only.
#include <utility>
#include <vector>

#include "compiler/onnx/operator_importers.h"

namespace ebb::onnx {
namespace {

// Before opset 7, `broadcast=1` let the second operand's dims line up with
// the first's from `axis` on (default: at the end, as today). Dims of 1 are
// appended to the second so that today's rule lines them up.
Expected<ir::ValueId> AlignLegacy(NodeContext& node) {
  TRY(const int64_t broadcast, node.Int("broadcast", 0));
  const bool has_axis = node.HasAttribute("axis");
  TRY(int64_t axis, node.Int("axis", 0));
  node.Ignore("consumed_inputs");
  if (broadcast == 0 || !has_axis) return node.Input(1);
  const ir::Type& a = node.TypeOf(0);
  const ir::Type& b = node.TypeOf(1);
  if (!a.ranked || !b.ranked) {
    return node.Unsupported("legacy broadcast of tensors of unknown rank");
  }
  const auto a_rank = static_cast<int64_t>(a.dims.size());
  const auto b_rank = static_cast<int64_t>(b.dims.size());
  if (axis < 0) axis += a_rank;
  const int64_t missing = a_rank - axis - b_rank;
  if (axis < 0 || missing < 0) {
    return node.Invalid("axis " + std::to_string(axis) + " does not place " +
                        std::to_string(b_rank) + " dims in " +
                        std::to_string(a_rank));
  }
  if (missing == 0) return node.Input(1);
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < missing; ++i) axes.push_back(b_rank + i);
  TRY(const ir::ValueId list, node.builder().AddInts(axes, "axes"));
  return node.Op1(OperatorCode::kUnsqueeze, {node.Input(1), list});
}

// A bound of Clip given as an attribute (before opset 11).
Expected<ir::ValueId> ClipBound(NodeContext& node, std::string_view name) {
  if (!node.HasAttribute(name)) return ir::ValueId();
  TRY(const float value, node.Float(name, 0));
  return node.builder().AddScalar(node.TypeOf(0).dtype, value, name);
}

}  // namespace

Status ImportBinary(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(node.CheckInputs(2, 2));
  ir::ValueId b = node.Input(1);
  if (node.opset() < 7) {
    TRY(b, AlignLegacy(node));
  }
  TRY(const ir::ValueId result, node.Op1(code, {node.Input(0), b}));
  node.SetOutput(0, result);
  return {};
}

Status ImportVariadic(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(node.CheckInputs(1, kVariadic));
  node.Ignore("consumed_inputs");
  ir::ValueId result = node.Input(0);
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    if (!node.Has(i)) {
      return node.Invalid("input " + std::to_string(i) + " may not be absent");
    }
    TRY(result, node.Op1(code, {result, node.Input(i)}));
  }
  node.SetOutput(0, result);
  return {};
}

Status ImportMean(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(ImportVariadic(node, code));
  if (node.input_count() == 1) return {};
  const ir::ValueId sum = node.outputs()[0];
  TRY(const ir::ValueId count,
      node.builder().AddScalar(node.builder().TypeOf(sum).dtype,
                               static_cast<double>(node.input_count()),
                               "count"));
  TRY(const ir::ValueId mean, node.Op1(OperatorCode::kDiv, {sum, count}));
  node.SetOutput(0, mean);
  return {};
}

Status ImportClip(NodeContext& node, OperatorCode code) {
  ir::ValueId low = node.Input(1);
  ir::ValueId high = node.Input(2);
  if (node.opset() < 11) {
    RETURN_IF_ERROR(node.CheckInputs(1, 1));
    node.Ignore("consumed_inputs");
    TRY(low, ClipBound(node, "min"));
    TRY(high, ClipBound(node, "max"));
  } else {
    RETURN_IF_ERROR(node.CheckInputs(1, 3));
  }
  TRY(const ir::ValueId result, node.Op1(code, {node.Input(0), low, high}));
  node.SetOutput(0, result);
  return {};
}

Status ImportCast(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(node.CheckInputs(1, 1));
  TRY(const int64_t to, node.Int("to", 0));
  TRY(const int64_t saturate, node.Int("saturate", 1));
  (void)node.String("round_mode", "up");
  if (to < 0 || to > 255 || !IsValidDType(static_cast<uint8_t>(to))) {
    return node.Unsupported("casts to element type " + std::to_string(to));
  }
  if (node.TypeOf(0).IsTensor() &&
      node.TypeOf(0).dtype == static_cast<DType>(to)) {
    node.SetOutput(0, node.Input(0));
    return {};
  }
  Attributes attributes;
  attributes.Set("to", to);
  attributes.Set("saturate", saturate);
  TRY(const ir::ValueId result,
      node.Op1(code, {node.Input(0)}, std::move(attributes)));
  node.SetOutput(0, result);
  return {};
}

// Before opset 7 a one-dim slope goes along the channels (axis 1).
Status ImportPRelu(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(node.CheckInputs(2, 2));
  node.Ignore("consumed_inputs");
  ir::ValueId slope = node.Input(1);
  const ir::Type& x = node.TypeOf(0);
  const ir::Type& s = node.TypeOf(1);
  if (node.opset() < 7 && x.ranked && s.ranked && s.dims.size() == 1 &&
      x.dims.size() > 2) {
    std::vector<int64_t> axes;
    for (std::size_t i = 2; i < x.dims.size(); ++i) {
      axes.push_back(static_cast<int64_t>(i) - 1);
    }
    TRY(const ir::ValueId list, node.builder().AddInts(axes, "axes"));
    TRY(slope, node.Op1(OperatorCode::kUnsqueeze, {slope, list}));
  }
  TRY(const ir::ValueId result, node.Op1(code, {node.Input(0), slope}));
  node.SetOutput(0, result);
  return {};
}

Status ImportIdentity(NodeContext& node, OperatorCode) {
  RETURN_IF_ERROR(node.CheckInputs(1, 1));
  node.SetOutput(0, node.Input(0));
  return {};
}

// Inference: the input itself, and a mask that keeps everything.
Status ImportDropout(NodeContext& node, OperatorCode) {
  RETURN_IF_ERROR(node.CheckInputs(1, 3));
  node.Ignore("ratio");
  node.Ignore("seed");
  node.Ignore("consumed_inputs");
  TRY(const int64_t is_test, node.Int("is_test", 1));
  if (node.opset() < 7 && node.HasAttribute("is_test") && is_test == 0) {
    return node.Unsupported("Dropout in training mode");
  }
  if (node.Has(2)) {
    const auto& contents = node.builder().value(node.Input(2)).contents;
    const auto known = contents.has_value() && contents->size() == 1
                           ? node.builder().dims().Known(contents->front())
                           : std::nullopt;
    if (known != 0) return node.Unsupported("Dropout in training mode");
  }
  node.SetOutput(0, node.Input(0));
  if (!node.Wants(1)) return {};
  const DType mask = node.opset() < 10 ? node.TypeOf(0).dtype : DType::kBool;
  TRY(const ir::ValueId one, node.builder().AddScalar(mask, 1, "one"));
  TRY(const ir::ValueId shape, node.Op1(OperatorCode::kShape, {node.Input(0)}));
  TRY(const ir::ValueId all, node.Op1(OperatorCode::kFull, {shape, one}));
  node.SetOutput(1, all);
  return {};
}

}  // namespace ebb::onnx
