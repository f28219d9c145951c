// Shape rules of the reductions and of ArgMax.
#ifndef EBB_BYTECODE_SHAPE_RULES_REDUCE_H_
#define EBB_BYTECODE_SHAPE_RULES_REDUCE_H_

#include <string>
#include <utility>
#include <vector>

#include "bytecode/shape_rules/check.h"

namespace ebb {

// `dims` without the axes of `mask`, or with 1 in their place.
template <class A>
std::vector<typename A::Dim> ReducedDims(
    A& arith, const std::vector<typename A::Dim>& dims, uint32_t mask,
    bool keepdims) {
  std::vector<typename A::Dim> result;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (((mask >> i) & 1U) == 0) {
      result.push_back(dims[i]);
    } else if (keepdims) {
      result.push_back(arith.Constant(1));
    }
  }
  return result;
}

template <class A>
Status InferReduce(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  const bool has_axes = ctx.Has(1);
  if (has_axes) RETURN_IF_ERROR(RequireIntList(ctx, 1));
  const auto& x = ctx.inputs[0];
  const bool keepdims = ctx.attributes.Int("keepdims", 1) != 0;
  const bool noop = ctx.attributes.Int("noop_with_empty_axes", 0) != 0;
  if (!x.ranked) {
    // Over everything: a scalar, whatever the input is.
    const bool all =
        !noop && !keepdims &&
        (!has_axes || ListLength(ctx, 1) == std::optional<int64_t>(0));
    if (all) {
      SetOutput<A>(ctx.outputs[0], x.dtype, {});
    } else {
      SetUnranked<A>(ctx.outputs[0], x.dtype);
    }
    return {};
  }
  const std::optional<Dims> axes = KnownInts(ctx, 1);
  const std::optional<int64_t> length =
      has_axes ? ListLength(ctx, 1) : std::optional<int64_t>(0);
  if (axes.has_value() || length == std::optional<int64_t>(0)) {
    TRY(const uint32_t mask, ReduceMask(AsList(axes), noop, x.rank()));
    SetOutput<A>(ctx.outputs[0], x.dtype,
                 ReducedDims(ctx.arith, x.dims, mask, keepdims));
    return {};
  }
  // Which axes is found out at run time.
  if (keepdims) {
    SetOutput<A>(ctx.outputs[0], x.dtype,
                 UnknownDims(ctx.arith, x.dims.size()));
  } else if (length.has_value() && *length <= x.rank()) {
    SetOutput<A>(ctx.outputs[0], x.dtype,
                 UnknownDims(ctx.arith, x.dims.size() -
                                            static_cast<std::size_t>(*length)));
  } else if (length.has_value()) {
    return ShapeError(std::to_string(*length) + " axes given for rank " +
                      std::to_string(x.rank()));
  } else {
    SetUnranked<A>(ctx.outputs[0], x.dtype);
  }
  return {};
}

template <class A>
Status InferArg(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  const auto& x = ctx.inputs[0];
  if (!x.ranked) {
    SetUnranked<A>(ctx.outputs[0], DType::kI64);
    return {};
  }
  TRY(const int axis, NormalizeAxis(ctx.attributes.Int("axis", 0), x.rank()));
  if (IsKnown(ctx.arith, x.dims[static_cast<std::size_t>(axis)], 0)) {
    return ShapeError("axis " + std::to_string(axis) +
                      " is empty and has no largest element");
  }
  SetOutput<A>(ctx.outputs[0], DType::kI64,
               ReducedDims(ctx.arith, x.dims, 1U << axis,
                           ctx.attributes.Int("keepdims", 1) != 0));
  return {};
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_REDUCE_H_
