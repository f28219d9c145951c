// Shape rules of Transpose, Expand and Tile.
#ifndef EBB_BYTECODE_SHAPE_RULES_MOVEMENT_H_
#define EBB_BYTECODE_SHAPE_RULES_MOVEMENT_H_

#include <string>
#include <utility>
#include <vector>

#include "bytecode/shape_rules/check.h"
#include "bytecode/shape_rules/elementwise.h"

namespace ebb {

template <class A>
Status InferTranspose(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  const auto& x = ctx.inputs[0];
  const DimSpan perm = ctx.attributes.Ints("perm");
  if (!x.ranked) {
    if (perm.empty()) {
      SetUnranked<A>(ctx.outputs[0], x.dtype);
      return {};
    }
    RETURN_IF_ERROR(RequireOutputRank(perm.size()));
    RETURN_IF_ERROR(ResolvePermutation(perm, static_cast<int>(perm.size())));
    SetOutput<A>(ctx.outputs[0], x.dtype, UnknownDims(ctx.arith, perm.size()));
    return {};
  }
  TRY(const std::vector<int> axes, ResolvePermutation(perm, x.rank()));
  std::vector<typename A::Dim> dims;
  for (const int axis : axes) {
    dims.push_back(x.dims[static_cast<std::size_t>(axis)]);
  }
  SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
  return {};
}

// The elements of input `input` that say how many: none may be negative.
template <class A>
Status RequireNotNegative(const RuleContext<A>& ctx, std::size_t input,
                          const std::vector<typename A::Dim>& list) {
  for (const auto& element : list) {
    const auto known = ctx.arith.Known(element);
    if (known.has_value() && *known < 0) {
      return ArgumentError("input " + std::to_string(input) +
                           " holds a negative number, " +
                           std::to_string(*known));
    }
  }
  return {};
}

template <class A>
Status InferExpand(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireDType(ctx, 1, kIndexTypes));
  RETURN_IF_ERROR(RequireRank(ctx, 1, 1, 1));
  const auto& x = ctx.inputs[0];
  SetUnranked<A>(ctx.outputs[0], x.dtype);
  const auto length = ListLength(ctx, 1);
  if (!length.has_value() || !x.ranked) return {};
  RETURN_IF_ERROR(RequireOutputRank(static_cast<std::size_t>(*length)));
  if (const auto* shape = ctx.Ints(1)) {
    RETURN_IF_ERROR(RequireNotNegative(ctx, 1, *shape));
    TRY(auto dims, BroadcastDims(ctx.arith, x.dims, *shape));
    SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
    return {};
  }
  // Dims before the unknown shape stay, and so does a constant above 1.
  auto dims = x.dims;
  const auto rank = static_cast<std::size_t>(*length);
  if (dims.size() < rank) {
    auto front = UnknownDims(ctx.arith, rank - dims.size());
    dims.insert(dims.begin(), front.begin(), front.end());
  }
  for (std::size_t i = dims.size() - rank; i < dims.size(); ++i) {
    const auto known = ctx.arith.Known(dims[i]);
    if (!known.has_value() || *known == 1) dims[i] = ctx.arith.Unknown();
  }
  SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
  return {};
}

template <class A>
Status InferTile(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireDType(ctx, 1, kIndexTypes));
  RETURN_IF_ERROR(RequireRank(ctx, 1, 1, 1));
  const auto& x = ctx.inputs[0];
  SetUnranked<A>(ctx.outputs[0], x.dtype);
  const auto length = ListLength(ctx, 1);
  if (length.has_value() && x.ranked && *length != x.rank()) {
    return ShapeError("repeats has " + std::to_string(*length) +
                      " entries, the rank is " + std::to_string(x.rank()));
  }
  if (!x.ranked) {
    if (!length.has_value()) return {};
    const auto rank = static_cast<std::size_t>(*length);
    RETURN_IF_ERROR(RequireOutputRank(rank));
    SetOutput<A>(ctx.outputs[0], x.dtype, UnknownDims(ctx.arith, rank));
    return {};
  }
  const auto* repeats = ctx.Ints(1);
  if (repeats == nullptr) {
    SetOutput<A>(ctx.outputs[0], x.dtype,
                 UnknownDims(ctx.arith, x.dims.size()));
    return {};
  }
  RETURN_IF_ERROR(RequireNotNegative(ctx, 1, *repeats));
  auto dims = x.dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    dims[i] = ctx.arith.Mul(dims[i], (*repeats)[i]);
  }
  SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
  return {};
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_MOVEMENT_H_
