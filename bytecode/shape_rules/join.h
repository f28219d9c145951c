// Shape rules of Concat, Split and Gather.
#ifndef EBB_BYTECODE_SHAPE_RULES_JOIN_H_
#define EBB_BYTECODE_SHAPE_RULES_JOIN_H_

#include <string>
#include <utility>
#include <vector>

#include "bytecode/shape_rules/check.h"

namespace ebb {

template <class A>
Status InferConcat(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  const DType dtype = ctx.inputs[0].dtype;
  bool ranked = true;
  for (std::size_t i = 0; i < ctx.inputs.size(); ++i) {
    if (!ctx.Has(i)) {
      return ArgumentError("input " + std::to_string(i) + " is absent");
    }
    RETURN_IF_ERROR(RequireSameDType(ctx, 0, i));
    ranked = ranked && ctx.inputs[i].ranked;
  }
  if (!ranked) {
    SetUnranked<A>(ctx.outputs[0], dtype);
    return {};
  }
  auto dims = ctx.inputs[0].dims;
  const int rank = ctx.inputs[0].rank();
  TRY(const int axis, NormalizeAxis(ctx.attributes.Int("axis", 0), rank));
  const auto at = static_cast<std::size_t>(axis);
  for (std::size_t i = 1; i < ctx.inputs.size(); ++i) {
    const auto& next = ctx.inputs[i];
    if (next.rank() != rank) {
      return ShapeError("input " + std::to_string(i) + " has rank " +
                        std::to_string(next.rank()) + ", input 0 has rank " +
                        std::to_string(rank));
    }
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (d == at) {
        dims[d] = ctx.arith.Add(dims[d], next.dims[d]);
        continue;
      }
      RETURN_IF_ERROR(RequireEqualDims(ctx.arith, next.dims[d], dims[d],
                                       "dim " + std::to_string(d) +
                                           " of input " + std::to_string(i) +
                                           " and of those before"));
      dims[d] = Better(ctx.arith, dims[d], next.dims[d]);
    }
  }
  SetOutput<A>(ctx.outputs[0], dtype, std::move(dims));
  return {};
}

// Sizes of the parts along an axis of `dim` elements.
template <class A>
Expected<std::vector<typename A::Dim>> SplitSizes(RuleContext<A>& ctx,
                                                  typename A::Dim dim) {
  const std::size_t parts = ctx.outputs.size();
  A& arith = ctx.arith;
  std::vector<typename A::Dim> result;
  const auto known_dim = arith.Known(dim);
  const auto known_sizes = KnownInts(ctx, 1);
  if (known_dim.has_value() && (!ctx.Has(1) || known_sizes.has_value())) {
    TRY(const Dims sizes, ResolveSplit(*known_dim, parts, AsList(known_sizes)));
    for (const int64_t size : sizes) result.push_back(arith.Constant(size));
    return result;
  }
  if (!ctx.Has(1)) {
    // All but the last are ceil(dim / parts), as far as there is enough.
    const auto count = arith.Constant(static_cast<int64_t>(parts));
    const auto part = parts == 1 ? dim : arith.CeilDiv(dim, count);
    if (parts == 1 || arith.Same(arith.Mul(part, count), dim)) {
      return std::vector<typename A::Dim>(parts, part);
    }
    for (std::size_t i = 0; i < parts; ++i) {
      const auto before =
          arith.Mul(part, arith.Constant(static_cast<int64_t>(i)));
      const auto left = arith.Max(arith.Sub(dim, before), arith.Constant(0));
      result.push_back(i == 0 ? part : arith.Min(part, left));
    }
    return result;
  }
  const auto* sizes = ctx.Ints(1);
  const auto length = ListLength(ctx, 1);
  if (length.has_value() && *length != static_cast<int64_t>(parts)) {
    return ShapeError("split has " + std::to_string(*length) + " sizes for " +
                      std::to_string(parts) + " outputs");
  }
  if (sizes == nullptr) return UnknownDims(arith, parts);
  for (const auto& size : *sizes) {
    if (const auto known = arith.Known(size); known.has_value() && *known < 0) {
      return ArgumentError("split size " + std::to_string(*known) +
                           " is negative");
    }
    result.push_back(size);
  }
  return result;
}

template <class A>
Status InferSplit(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  if (ctx.Has(1)) RETURN_IF_ERROR(RequireIntList(ctx, 1));
  const auto& x = ctx.inputs[0];
  for (auto& output : ctx.outputs) SetUnranked<A>(output, x.dtype);
  if (!x.ranked) return {};
  TRY(const int axis, NormalizeAxis(ctx.attributes.Int("axis", 0), x.rank()));
  const auto at = static_cast<std::size_t>(axis);
  TRY(const auto sizes, SplitSizes(ctx, x.dims[at]));
  for (std::size_t i = 0; i < ctx.outputs.size(); ++i) {
    auto dims = x.dims;
    dims[at] = sizes[i];
    SetOutput<A>(ctx.outputs[i], x.dtype, std::move(dims));
  }
  return {};
}

template <class A>
Status InferGather(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireDType(ctx, 1, kIndexTypes));
  RETURN_IF_ERROR(RequireRank(ctx, 0, 1));
  const auto& x = ctx.inputs[0];
  const auto& indices = ctx.inputs[1];
  SetUnranked<A>(ctx.outputs[0], x.dtype);
  if (!x.ranked) return {};
  TRY(const int axis, NormalizeAxis(ctx.attributes.Int("axis", 0), x.rank()));
  if (!indices.ranked) return {};
  RETURN_IF_ERROR(RequireOutputRank(x.dims.size() - 1 + indices.dims.size()));
  std::vector<typename A::Dim> dims(x.dims.begin(), x.dims.begin() + axis);
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + axis + 1, x.dims.end());
  SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
  return {};
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_JOIN_H_
