// Shape rules of Slice and Pad. Both work axis by axis: on a known axis the
// int64 geometry decides, on a symbolic one the clamping is written with
// minimum and maximum, and what cannot be written so is left open.
#ifndef EBB_BYTECODE_SHAPE_RULES_SLICE_H_
#define EBB_BYTECODE_SHAPE_RULES_SLICE_H_

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/shape_rules/check.h"
#include "bytecode/shape_rules/window.h"

namespace ebb {

// Exporters write the largest and the lowest int64 for "to the end". No dim
// comes near this bound, so beyond it clamping needs no expression.
inline constexpr int64_t kBeyondAnyDim = int64_t{1} << 62;

// A slice position that is clamped to [low, high] after a negative one got
// the dim added. nullopt: the sign of `position` is not known.
template <class A>
std::optional<typename A::Dim> ClampPosition(A& arith, typename A::Dim position,
                                             typename A::Dim dim,
                                             typename A::Dim low,
                                             typename A::Dim high) {
  const auto known = arith.Known(position);
  if (known.has_value() && *known >= kBeyondAnyDim) return high;
  if (known.has_value() && *known <= -kBeyondAnyDim) {
    return arith.Min(low, high);
  }
  if (known == std::optional<int64_t>(0) && arith.Same(dim, high)) {
    return position;
  }
  if (AtLeast(arith, position, 0)) return arith.Min(position, high);
  if (!known.has_value()) return std::nullopt;
  return arith.Min(arith.Max(arith.Add(dim, position), low), high);
}

// Number of elements start, start + step, … before end. A symbolic axis.
template <class A>
typename A::Dim SlicedDim(A& arith, typename A::Dim dim, typename A::Dim start,
                          typename A::Dim end, int64_t step) {
  const auto zero = arith.Constant(0);
  const auto known_start = arith.Known(start);
  const auto known_end = arith.Known(end);
  if (step > 0) {
    const bool to_end = known_end.has_value() && *known_end >= kBeyondAnyDim;
    // The clamps drop out of the usual forms.
    if (to_end && known_start.has_value()) {
      const auto length =
          *known_start == 0 || *known_start <= -kBeyondAnyDim ? dim
          : *known_start > 0 ? arith.Max(arith.Sub(dim, start), zero)
                             : arith.Min(arith.Constant(-*known_start), dim);
      return CeilDivBy(arith, length, step);
    }
    if (known_start.has_value() && *known_start >= 0 && known_end.has_value() &&
        *known_end < 0 && *known_end > -kBeyondAnyDim) {
      const auto length = arith.Sub(arith.Add(dim, end), start);
      return CeilDivBy(arith, arith.Max(length, zero), step);
    }
    const auto from = ClampPosition(arith, start, dim, zero, dim);
    const auto to = ClampPosition(arith, end, dim, zero, dim);
    if (!from.has_value() || !to.has_value()) return arith.Unknown();
    if (IsKnown(arith, *from, 0)) return CeilDivBy(arith, *to, step);
    return CeilDivBy(arith, arith.Max(arith.Sub(*to, *from), zero), step);
  }
  if (step <= -kBeyondAnyDim) return arith.Unknown();
  const auto minus_one = arith.Constant(-1);
  const auto last = arith.Sub(dim, arith.Constant(1));
  // -1 is the last element: no clamp against an axis of any length.
  const auto from = known_start == std::optional<int64_t>(-1)
                        ? std::optional(last)
                        : ClampPosition(arith, start, dim, zero, last);
  const auto to = ClampPosition(arith, end, dim, minus_one, last);
  if (!from.has_value() || !to.has_value()) return arith.Unknown();
  const bool whole = arith.Same(*from, last) && known_end.has_value() &&
                     *known_end <= -kBeyondAnyDim;
  const auto length = whole ? dim : arith.Max(arith.Sub(*from, *to), zero);
  return CeilDivBy(arith, length, -step);
}

// `list[i]` known, or `fallback` when the input is absent.
template <class A>
std::optional<int64_t> KnownElement(const RuleContext<A>& ctx,
                                    std::size_t input, std::size_t i,
                                    int64_t fallback) {
  if (!ctx.Has(input)) return fallback;
  const auto* list = ctx.Ints(input);
  if (list == nullptr || i >= list->size()) return std::nullopt;
  return ctx.arith.Known((*list)[i]);
}

// All lists that are given must have one length; nullopt: none is known.
template <class A>
Expected<std::optional<int64_t>> CommonLength(
    const RuleContext<A>& ctx, std::initializer_list<std::size_t> inputs) {
  std::optional<int64_t> length;
  for (const std::size_t input : inputs) {
    if (!ctx.Has(input)) continue;
    const auto next = ListLength(ctx, input);
    if (!next.has_value()) continue;
    if (length.has_value() && *length != *next) {
      return ShapeError("input " + std::to_string(input) + " has " +
                        std::to_string(*next) + " entries, expected " +
                        std::to_string(*length));
    }
    length = next;
  }
  return length;
}

// The axes of `count` list entries: named by the input, or the first ones.
// nullopt: found out at run time.
template <class A>
Expected<std::optional<std::vector<int>>> ListedAxes(
    const RuleContext<A>& ctx, std::size_t input, std::optional<int64_t> count,
    int rank) {
  std::vector<int> axes;
  if (!ctx.Has(input)) {
    if (!count.has_value()) return std::nullopt;
    if (*count > rank) {
      return ShapeError(std::to_string(*count) + " axes given for rank " +
                        std::to_string(rank));
    }
    for (int i = 0; i < *count; ++i) axes.push_back(i);
    return axes;
  }
  const std::optional<Dims> named = KnownInts(ctx, input);
  if (!named.has_value()) return std::nullopt;
  RETURN_IF_ERROR(AxesMask(*named, rank));
  for (const int64_t axis : *named) {
    TRY(const int at, NormalizeAxis(axis, rank));
    axes.push_back(at);
  }
  return axes;
}

template <class A>
Status InferSlice(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  for (std::size_t i = 1; i < ctx.inputs.size(); ++i) {
    if (ctx.Has(i)) RETURN_IF_ERROR(RequireIntList(ctx, i));
  }
  A& arith = ctx.arith;
  const auto& x = ctx.inputs[0];
  SetUnranked<A>(ctx.outputs[0], x.dtype);
  TRY(const auto length, CommonLength(ctx, {1, 2, 3, 4}));
  if (!x.ranked) return {};
  TRY(const auto axes, ListedAxes(ctx, 3, length, x.rank()));
  if (!axes.has_value()) {
    SetOutput<A>(ctx.outputs[0], x.dtype, UnknownDims(arith, x.dims.size()));
    return {};
  }
  auto dims = x.dims;
  const auto* starts = ctx.Ints(1);
  const auto* ends = ctx.Ints(2);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    auto& dim = dims[static_cast<std::size_t>((*axes)[i])];
    const auto step = KnownElement(ctx, 4, i, 1);
    if (step == std::optional<int64_t>(0)) {
      return ArgumentError("step of axis " + std::to_string((*axes)[i]) +
                           " is 0");
    }
    if (starts == nullptr || ends == nullptr || !step.has_value() ||
        i >= starts->size() || i >= ends->size()) {
      dim = arith.Unknown();
      continue;
    }
    const auto known = arith.Known(dim);
    const auto start = arith.Known((*starts)[i]);
    const auto end = arith.Known((*ends)[i]);
    if (known.has_value() && start.has_value() && end.has_value()) {
      const std::array<int64_t, 1> steps = {*step};
      TRY(const auto slice,
          ResolveSlice(DimSpan(&*known, 1), DimSpan(&*start, 1),
                       DimSpan(&*end, 1), std::nullopt, DimSpan(steps)));
      dim = arith.Constant(slice[0].count);
    } else {
      dim = SlicedDim(arith, dim, (*starts)[i], (*ends)[i], *step);
    }
  }
  SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
  return {};
}

template <class A>
Status InferPad(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireIntList(ctx, 1));
  if (ctx.Has(2)) {
    RETURN_IF_ERROR(RequireSameDType(ctx, 0, 2));
    RETURN_IF_ERROR(RequireRank(ctx, 2, 0, 1));
    if (ctx.inputs[2].ranked && ctx.inputs[2].rank() == 1) {
      RETURN_IF_ERROR(RequireEqualDims(ctx.arith, ctx.inputs[2].dims[0],
                                       ctx.arith.Constant(1),
                                       "elements of input 2, a scalar"));
    }
  }
  if (ctx.Has(3)) RETURN_IF_ERROR(RequireIntList(ctx, 3));
  TRY(const PadMode mode,
      PadModeFromName(ctx.attributes.String("mode", "constant")));
  A& arith = ctx.arith;
  const auto& x = ctx.inputs[0];
  SetUnranked<A>(ctx.outputs[0], x.dtype);
  if (!x.ranked) return {};
  const auto entries = ListLength(ctx, 1);
  const auto count =
      ctx.Has(3) ? ListLength(ctx, 3) : std::optional<int64_t>(x.rank());
  if (entries.has_value() && count.has_value() &&
      (*entries % 2 != 0 || *entries / 2 != *count)) {
    return ShapeError("pads has " + std::to_string(*entries) +
                      " entries, expected 2 for each of " +
                      std::to_string(*count) + " axes");
  }
  TRY(const auto axes, ListedAxes(ctx, 3, count, x.rank()));
  const auto* pads = ctx.Ints(1);
  if (!axes.has_value() || pads == nullptr ||
      pads->size() != 2 * axes->size()) {
    SetOutput<A>(ctx.outputs[0], x.dtype, UnknownDims(arith, x.dims.size()));
    return {};
  }
  auto dims = x.dims;
  for (std::size_t i = 0; i < axes->size(); ++i) {
    auto& dim = dims[static_cast<std::size_t>((*axes)[i])];
    const auto begin = (*pads)[i];
    const auto end = (*pads)[i + axes->size()];
    const auto known = arith.Known(dim);
    const auto known_begin = arith.Known(begin);
    const auto known_end = arith.Known(end);
    if (known.has_value() && known_begin.has_value() && known_end.has_value()) {
      const std::array<int64_t, 2> pair = {*known_begin, *known_end};
      auto resolved =
          ResolvePads(DimSpan(&*known, 1), pair, std::nullopt, mode);
      if (!resolved.has_value()) {
        return Fail(resolved.error().code, "dim " + std::to_string((*axes)[i]) +
                                               ": " + resolved.error().message);
      }
    }
    dim = arith.Add(arith.Add(dim, begin), end);
  }
  SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
  return {};
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_SLICE_H_
