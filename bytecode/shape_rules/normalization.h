// Shape rules of batch, layer and instance normalisation, and of the
// operators along one axis (softmax).
#ifndef EBB_BYTECODE_SHAPE_RULES_NORMALIZATION_H_
#define EBB_BYTECODE_SHAPE_RULES_NORMALIZATION_H_

#include <string>
#include <utility>
#include <vector>

#include "bytecode/shape_rules/check.h"

namespace ebb {

// Inputs 1… are lists with one value per channel (dim 1 of the data).
template <class A>
Status RequirePerChannel(const RuleContext<A>& ctx) {
  for (std::size_t i = 1; i < ctx.inputs.size(); ++i) {
    RETURN_IF_ERROR(RequireSameDType(ctx, 0, i));
    RETURN_IF_ERROR(RequireRank(ctx, i, 1, 1));
    if (!ctx.inputs[0].ranked || !ctx.inputs[i].ranked) continue;
    RETURN_IF_ERROR(RequireEqualDims(
        ctx.arith, ctx.inputs[i].dims[0], ctx.inputs[0].dims[1],
        "elements of input " + std::to_string(i) + " and channels"));
  }
  return {};
}

template <class A>
Status InferBatchNormalization(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireRank(ctx, 0, 2));
  RETURN_IF_ERROR(RequirePerChannel(ctx));
  ctx.outputs[0] = ctx.inputs[0];
  return {};
}

template <class A>
Status InferInstanceNormalization(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireRank(ctx, 0, 3));
  RETURN_IF_ERROR(RequirePerChannel(ctx));
  ctx.outputs[0] = ctx.inputs[0];
  return {};
}

// Scale and bias have the normalised dims, [axis, rank); dims of 1 may stand
// before them. Mean and InvStdDev have 1 in place of those dims, in f32.
template <class A>
Status InferLayerNormalization(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireRank(ctx, 0, 1));
  const int64_t stash = ctx.attributes.Int("stash_type", 1);
  if (stash != static_cast<int64_t>(DType::kF32)) {
    return Fail(ErrorCode::kUnsupported,
                "stash_type " + std::to_string(stash) + ", expected 1 (f32)");
  }
  for (std::size_t i = 1; i < ctx.inputs.size(); ++i) {
    if (ctx.Has(i)) RETURN_IF_ERROR(RequireSameDType(ctx, 0, i));
  }
  const auto& x = ctx.inputs[0];
  for (std::size_t i = 1; i < ctx.outputs.size(); ++i) {
    SetUnranked<A>(ctx.outputs[i], DType::kF32);
  }
  ctx.outputs[0] = x;
  if (!x.ranked) return {};
  TRY(const int axis, NormalizeAxis(ctx.attributes.Int("axis", -1), x.rank()));
  const auto first = static_cast<std::size_t>(axis);
  const std::size_t count = x.dims.size() - first;
  for (std::size_t i = 1; i < ctx.inputs.size(); ++i) {
    if (!ctx.Has(i) || !ctx.inputs[i].ranked) continue;
    const auto& dims = ctx.inputs[i].dims;
    const std::string name = "input " + std::to_string(i);
    if (dims.size() < count) {
      return ShapeError(name + " has rank " + std::to_string(dims.size()) +
                        ", expected " + std::to_string(count));
    }
    const std::size_t extra = dims.size() - count;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      RETURN_IF_ERROR(RequireEqualDims(
          ctx.arith, dims[d],
          d < extra ? ctx.arith.Constant(1) : x.dims[first + d - extra],
          "dim " + std::to_string(d) + " of " + name +
              " and the normalised dims"));
    }
  }
  auto reduced = x.dims;
  for (std::size_t i = first; i < reduced.size(); ++i) {
    reduced[i] = ctx.arith.Constant(1);
  }
  for (std::size_t i = 1; i < ctx.outputs.size(); ++i) {
    SetOutput<A>(ctx.outputs[i], DType::kF32, reduced);
  }
  return {};
}

template <class A>
Status InferAxis(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  if (ctx.inputs[0].ranked) {
    RETURN_IF_ERROR(
        NormalizeAxis(ctx.attributes.Int("axis", -1), ctx.inputs[0].rank()));
  }
  ctx.outputs[0] = ctx.inputs[0];
  return {};
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_NORMALIZATION_H_
