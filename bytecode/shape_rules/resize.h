// Shape rule of Resize. Known dims go through the int64 geometry; a symbolic
// dim is exact for sizes and for whole or whole-divisor scales.
#ifndef EBB_BYTECODE_SHAPE_RULES_RESIZE_H_
#define EBB_BYTECODE_SHAPE_RULES_RESIZE_H_

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/shape_rules/check.h"
#include "bytecode/shape_rules/resize_geometry.h"
#include "bytecode/shape_rules/window.h"

namespace ebb {

// floor(dim * scale) without a region of interest.
template <class A>
Expected<typename A::Dim> ScaledDim(A& arith, const typename A::Dim& dim,
                                    double scale) {
  if (const auto known = arith.Known(dim)) {
    TRY(const int64_t size, ScaledSize(*known, scale, 1));
    return arith.Constant(size);
  }
  RETURN_IF_ERROR(ScaledSize(1, scale, 1));
  constexpr double kExact = 1 << 20;
  if (scale == std::floor(scale) && scale <= kExact) {
    return arith.Mul(dim, arith.Constant(static_cast<int64_t>(scale)));
  }
  // Powers of two only: their reciprocals are exact, so floor agrees.
  int exponent = 0;
  if (scale < 1 && std::frexp(scale, &exponent) == 0.5 && exponent > -20) {
    return FloorDivBy(arith, dim, int64_t{1} << (1 - exponent));
  }
  return arith.Unknown();
}

template <class A>
Status InferResize(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  A& arith = ctx.arith;
  const auto& x = ctx.inputs[0];
  const auto given = [&ctx](std::size_t input) {
    return ctx.Has(input) &&
           ListLength(ctx, input) != std::optional<int64_t>(0);
  };
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    if (!ctx.Has(i)) continue;
    RETURN_IF_ERROR(RequireDType(ctx, i, kFloatTypes));
    RETURN_IF_ERROR(RequireRank(ctx, i, 1, 1));
  }
  if (ctx.Has(3)) {
    RETURN_IF_ERROR(RequireDType(ctx, 3, kIndexTypes));
    RETURN_IF_ERROR(RequireRank(ctx, 3, 1, 1));
  }
  TRY(const ResizeAttributes resize, ReadResizeAttributes(ctx.attributes));
  SetUnranked<A>(ctx.outputs[0], x.dtype);
  if (!x.ranked) return {};
  const bool has_scales = given(2);
  const bool has_sizes = given(3);
  if (!has_scales && !has_sizes && x.rank() > 0) {
    return ArgumentError("neither scales nor sizes are given");
  }
  TRY(const std::vector<int> named, ResizeAxes(resize, x.rank()));
  const std::size_t list = has_sizes ? 3 : 2;
  for (const std::size_t i : {list, std::size_t{1}}) {
    const bool used =
        i == list ? has_scales || has_sizes
                  : resize.coordinates == CoordinateMode::kTfCropAndResize;
    if (!used) continue;
    if (!ctx.Has(i)) return ArgumentError("roi is missing");
    const std::size_t entries = named.size() * (i == 1 ? 2 : 1);
    const auto length = ListLength(ctx, i);
    if (length.has_value() && *length != static_cast<int64_t>(entries)) {
      return ShapeError("input " + std::to_string(i) + " has " +
                        std::to_string(*length) + " entries, expected " +
                        std::to_string(entries));
    }
  }

  // All known: the geometry that the kernel works with.
  Dims known_dims;
  for (const auto& dim : x.dims) {
    if (const auto known = arith.Known(dim)) known_dims.push_back(*known);
  }
  const auto floats = [&ctx](std::size_t input) {
    const auto* values = ctx.Has(input) ? ctx.Floats(input) : nullptr;
    return values == nullptr ? OptionalFloats()
                             : OptionalFloats(std::span(*values));
  };
  const auto roi = floats(1);
  const auto scales = has_scales ? floats(2) : std::nullopt;
  const auto sizes = has_sizes ? KnownInts(ctx, 3) : std::nullopt;
  const bool crops = resize.coordinates == CoordinateMode::kTfCropAndResize;
  auto dims = x.dims;
  if (known_dims.size() == dims.size() && has_scales == scales.has_value() &&
      has_sizes == sizes.has_value() && (!crops || roi.has_value())) {
    TRY(const ResizeGeometry geometry,
        ResolveResize(ctx.attributes, known_dims, roi, scales, AsList(sizes)));
    for (std::size_t i = 0; i < dims.size(); ++i) {
      dims[i] = arith.Constant(geometry.axes[i].output);
    }
    SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
    return {};
  }
  if (has_scales && has_sizes) {
    return ArgumentError("both scales and sizes are given");
  }
  const auto* size_list = has_sizes ? ctx.Ints(3) : nullptr;
  for (std::size_t i = 0; i < named.size(); ++i) {
    auto& dim = dims[static_cast<std::size_t>(named[i])];
    if (size_list != nullptr && resize.policy == AspectPolicy::kStretch) {
      dim = (*size_list)[i];
    } else if (scales.has_value() && !crops) {
      TRY(dim, ScaledDim(arith, dim, (*scales)[i]));
    } else {
      dim = arith.Unknown();
    }
  }
  SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
  return {};
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_RESIZE_H_
