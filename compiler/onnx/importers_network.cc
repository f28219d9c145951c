// Importers of normalisations, pooling, reductions and matrix products.
#include <utility>
#include <vector>

#include "compiler/onnx/operator_importers.h"

namespace ebb::onnx {

// Before opset 13 the dims from `axis` on (default 1) count as one.
Status ImportSoftmax(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(node.CheckInputs(1, 1));
  const bool flattens = node.opset() < 13;
  TRY(int64_t axis, node.Int("axis", flattens ? 1 : -1));
  const ir::ValueId x = node.Input(0);
  const ir::Type type = node.TypeOf(0);
  Attributes attributes;
  if (!flattens) {
    attributes.Set("axis", axis);
    TRY(const ir::ValueId y, node.Op1(code, {x}, std::move(attributes)));
    node.SetOutput(0, y);
    return {};
  }
  const auto rank = static_cast<int64_t>(type.dims.size());
  if (type.ranked) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis > rank) {
      return node.Invalid("axis " + std::to_string(axis) +
                          " is outside a rank of " + std::to_string(rank));
    }
    if (axis == rank - 1) {
      attributes.Set("axis", int64_t{-1});
      TRY(const ir::ValueId y, node.Op1(code, {x}, std::move(attributes)));
      node.SetOutput(0, y);
      return {};
    }
  }
  Attributes flatten;
  flatten.Set("axis", axis);
  TRY(const ir::ValueId shape, node.Op1(OperatorCode::kShape, {x}));
  TRY(const ir::ValueId flat,
      node.Op1(OperatorCode::kFlatten, {x}, std::move(flatten)));
  attributes.Set("axis", int64_t{1});
  TRY(const ir::ValueId y, node.Op1(code, {flat}, std::move(attributes)));
  // A dim of 0 in the shape is a size here, not "copy".
  Attributes allowzero;
  allowzero.Set("allowzero", int64_t{1});
  TRY(const ir::ValueId back,
      node.Op1(OperatorCode::kReshape, {y, shape}, std::move(allowzero)));
  node.SetOutput(0, back);
  return {};
}

namespace {

// The mean of `x` over all dims but the channels.
Expected<ir::ValueId> ChannelMean(NodeContext& node, ir::ValueId x,
                                  ir::ValueId axes, bool keepdims) {
  Attributes attributes;
  attributes.Set("keepdims", int64_t{keepdims ? 1 : 0});
  return node.Op1(OperatorCode::kReduceMean, {x, axes}, std::move(attributes));
}

// running * momentum + batch * (1 - momentum)
Expected<ir::ValueId> RunningStatistic(NodeContext& node, ir::ValueId running,
                                       ir::ValueId batch, float momentum) {
  GraphBuilder& builder = node.builder();
  const DType dtype = builder.TypeOf(running).dtype;
  const auto kept = static_cast<double>(momentum);
  TRY(const ir::ValueId keep, builder.AddScalar(dtype, kept, "momentum"));
  TRY(const ir::ValueId take, builder.AddScalar(dtype, 1 - kept, "momentum"));
  TRY(const ir::ValueId old_part,
      node.Op1(OperatorCode::kMul, {running, keep}));
  TRY(const ir::ValueId new_part, node.Op1(OperatorCode::kMul, {batch, take}));
  return node.Op1(OperatorCode::kAdd, {old_part, new_part});
}

// Training mode: the statistics are those of the batch, and go into the
// running ones, which are results 1 and 2.
Status ImportBatchStatistics(NodeContext& node, OperatorCode code,
                             float epsilon, float momentum) {
  const ir::Type& type = node.TypeOf(0);
  if (!type.ranked) {
    return node.Unsupported(
        "BatchNormalization in training mode of a tensor of unknown rank");
  }
  std::vector<int64_t> others = {0};
  for (std::size_t i = 2; i < type.dims.size(); ++i) {
    others.push_back(static_cast<int64_t>(i));
  }
  const ir::ValueId x = node.Input(0);
  TRY(const ir::ValueId axes, node.builder().AddInts(others, "axes"));
  TRY(const ir::ValueId mean, ChannelMean(node, x, axes, false));
  TRY(const ir::ValueId centre, ChannelMean(node, x, axes, true));
  TRY(const ir::ValueId off, node.Op1(OperatorCode::kSub, {x, centre}));
  TRY(const ir::ValueId square, node.Op1(OperatorCode::kMul, {off, off}));
  TRY(const ir::ValueId variance, ChannelMean(node, square, axes, false));
  Attributes attributes;
  attributes.Set("epsilon", epsilon);
  TRY(const ir::ValueId y,
      node.Op1(code, {x, node.Input(1), node.Input(2), mean, variance},
               std::move(attributes)));
  node.SetOutput(0, y);
  if (node.Wants(1)) {
    TRY(const ir::ValueId running,
        RunningStatistic(node, node.Input(3), mean, momentum));
    node.SetOutput(1, running);
  }
  if (node.Wants(2)) {
    TRY(const ir::ValueId running,
        RunningStatistic(node, node.Input(4), variance, momentum));
    node.SetOutput(2, running);
  }
  return {};
}

}  // namespace

Status ImportBatchNormalization(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(node.CheckInputs(5, 5));
  TRY(const float momentum, node.Float("momentum", 0.9F));
  node.Ignore("consumed_inputs");
  TRY(const float epsilon, node.Float("epsilon", 1e-5F));
  TRY(const int64_t training, node.Int("training_mode", 0));
  TRY(const int64_t is_test, node.Int("is_test", 1));
  TRY(const int64_t spatial, node.Int("spatial", 1));
  if (is_test == 0) {
    return node.Unsupported("BatchNormalization in training mode");
  }
  if (training != 0) {
    return ImportBatchStatistics(node, code, epsilon, momentum);
  }
  const ir::Type& type = node.TypeOf(0);
  if (spatial == 0 && !(type.ranked && type.dims.size() <= 2)) {
    return node.Unsupported("BatchNormalization with spatial=0");
  }
  for (std::size_t i = 1; i < node.output_count(); ++i) {
    if (node.Wants(i)) {
      return node.Unsupported("BatchNormalization that gives its statistics");
    }
  }
  Attributes attributes;
  attributes.Set("epsilon", epsilon);
  TRY(const ir::ValueId y,
      node.Op1(code,
               {node.Input(0), node.Input(1), node.Input(2), node.Input(3),
                node.Input(4)},
               std::move(attributes)));
  node.SetOutput(0, y);
  return {};
}

Status ImportPool(NodeContext& node, OperatorCode code) {
  if (!node.HasAttribute("kernel_shape")) {
    return node.Invalid("needs the attribute kernel_shape");
  }
  return ImportDirect(node, code);
}

// A reduction over all spatial dims that keeps them.
Status ImportGlobalPool(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(node.CheckInputs(1, 1));
  const ir::Type& type = node.TypeOf(0);
  if (!type.ranked) {
    return node.Unsupported("global pooling of a tensor of unknown rank");
  }
  if (type.dims.size() < 2) {
    return node.Invalid("needs a rank of at least 2, the input has " +
                        std::to_string(type.dims.size()));
  }
  if (type.dims.size() == 2) {
    node.SetOutput(0, node.Input(0));
    return {};
  }
  std::vector<int64_t> axes;
  for (std::size_t i = 2; i < type.dims.size(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  TRY(const ir::ValueId list, node.builder().AddInts(axes, "axes"));
  TRY(const ir::ValueId y, node.Op1(code, {node.Input(0), list}));
  node.SetOutput(0, y);
  return {};
}

// Axes were an attribute before opset 13 (ReduceSum) or 18 (the others).
Status ImportReduce(NodeContext& node, OperatorCode code) {
  RETURN_IF_ERROR(node.CheckInputs(1, 2));
  Attributes attributes;
  TRY(const int64_t keepdims, node.Int("keepdims", 1));
  TRY(const int64_t noop, node.Int("noop_with_empty_axes", 0));
  attributes.Set("keepdims", keepdims);
  attributes.Set("noop_with_empty_axes", noop);
  TRY(const auto axes, node.Ints("axes"));
  ir::ValueId list = node.Input(1);
  if (axes.has_value()) {
    if (list.valid()) return node.Invalid("has axes twice");
    TRY(list, node.builder().AddInts(*axes, "axes"));
  }
  TRY(const ir::ValueId y,
      node.Op1(code, {node.Input(0), list}, std::move(attributes)));
  node.SetOutput(0, y);
  return {};
}

Status ImportArg(NodeContext& node, OperatorCode code) {
  return ImportDirect(node, code);
}

Status ImportGemm(NodeContext& node, OperatorCode code) {
  if (node.opset() < 7) node.Ignore("broadcast");
  return ImportDirect(node, code);
}

}  // namespace ebb::onnx
