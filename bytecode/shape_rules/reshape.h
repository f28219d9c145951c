// Shape rules of the operators that give the same elements other dims:
// Reshape, Flatten, Squeeze, Unsqueeze.
#ifndef EBB_BYTECODE_SHAPE_RULES_RESHAPE_H_
#define EBB_BYTECODE_SHAPE_RULES_RESHAPE_H_

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/shape_rules/check.h"
#include "bytecode/shape_rules/window.h"

namespace ebb {

template <class A>
typename A::Dim Product(A& arith, const std::vector<typename A::Dim>& dims) {
  auto product = arith.Constant(1);
  for (const auto& dim : dims) product = arith.Mul(product, dim);
  return product;
}

// product(from) / product(to), exact when it divides: equal factors cancel
// one against one, and the constants by their greatest common divisor.
template <class A>
typename A::Dim Quotient(A& arith, std::vector<typename A::Dim> from,
                         const std::vector<typename A::Dim>& to) {
  int64_t over = 1;
  std::vector<typename A::Dim> under;
  for (const auto& divisor : to) {
    if (const auto known = arith.Known(divisor)) {
      if (__builtin_mul_overflow(over, *known, &over)) return arith.Unknown();
      continue;
    }
    const auto same =
        std::find_if(from.begin(), from.end(),
                     [&](const auto& dim) { return arith.Same(dim, divisor); });
    if (same != from.end()) {
      *same = arith.Constant(1);
    } else {
      under.push_back(divisor);
    }
  }
  if (over <= 0) return arith.Unknown();
  for (auto& dim : from) {
    const auto known = arith.Known(dim);
    if (!known.has_value() || *known == 0) continue;
    const int64_t common = std::gcd(*known, over);
    over /= common;
    dim = arith.Constant(*known / common);
  }
  const auto rest = Product(arith, from);
  if (under.empty()) return FloorDivBy(arith, rest, over);
  return arith.FloorDiv(rest,
                        arith.Mul(arith.Constant(over), Product(arith, under)));
}

// Output dims of Reshape where something is symbolic. A shape element whose
// sign is not known may be -1, so its dim is left open.
template <class A>
Expected<std::vector<typename A::Dim>> SymbolicReshape(
    A& arith, const std::vector<typename A::Dim>& dims,
    const std::vector<typename A::Dim>& shape, bool allowzero) {
  std::vector<typename A::Dim> result;
  std::vector<typename A::Dim> from = dims;
  std::vector<typename A::Dim> to;
  std::optional<std::size_t> wild;
  bool open = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto known = arith.Known(shape[i]);
    if (known.has_value() && *known < -1) {
      return ArgumentError("dim " + std::to_string(*known) +
                           " of the shape is below -1");
    }
    if (known == std::optional<int64_t>(-1)) {
      if (wild.has_value()) {
        return ArgumentError("the shape " + DimsText(arith, shape) +
                             " has more than one -1");
      }
      wild = i;
      result.push_back(arith.Constant(1));
    } else if (known == std::optional<int64_t>(0) && !allowzero) {
      if (i >= dims.size()) {
        return ShapeError("the shape " + DimsText(arith, shape) +
                          " copies dim " + std::to_string(i) + " of rank " +
                          std::to_string(dims.size()));
      }
      result.push_back(dims[i]);
      from[i] = arith.Constant(1);
    } else if (AtLeast(arith, shape[i], 0)) {
      result.push_back(shape[i]);
      to.push_back(shape[i]);
    } else {
      open = true;
      result.push_back(arith.Unknown());
    }
  }
  if (wild.has_value()) {
    result[*wild] =
        open ? arith.Unknown() : Quotient(arith, std::move(from), to);
  }
  return result;
}

template <class A>
Status InferReshape(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireDType(ctx, 1, kIndexTypes));
  RETURN_IF_ERROR(RequireRank(ctx, 1, 1, 1));
  const auto& x = ctx.inputs[0];
  const bool allowzero = ctx.attributes.Int("allowzero", 0) != 0;
  SetUnranked<A>(ctx.outputs[0], x.dtype);
  const auto length = ListLength(ctx, 1);
  if (!length.has_value()) return {};
  const auto rank = static_cast<std::size_t>(*length);
  RETURN_IF_ERROR(RequireOutputRank(rank));
  const auto* shape = ctx.Ints(1);
  if (shape == nullptr) {
    SetOutput<A>(ctx.outputs[0], x.dtype, UnknownDims(ctx.arith, rank));
    return {};
  }
  if (!x.ranked) {
    // What neither copies a dim nor is worked out still stands.
    auto dims = *shape;
    for (auto& dim : dims) {
      if (!AtLeast(ctx.arith, dim, allowzero ? 0 : 1)) {
        dim = ctx.arith.Unknown();
      }
    }
    SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
    return {};
  }
  const std::optional<Dims> known_shape = KnownInts(ctx, 1);
  Dims known_dims;
  for (const auto& dim : x.dims) {
    if (const auto known = ctx.arith.Known(dim)) known_dims.push_back(*known);
  }
  if (known_shape.has_value() && known_dims.size() == x.dims.size()) {
    TRY(const Dims resolved,
        ResolveReshape(known_dims, *known_shape, allowzero));
    std::vector<typename A::Dim> dims;
    for (const int64_t dim : resolved) {
      dims.push_back(ctx.arith.Constant(dim));
    }
    SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
    return {};
  }
  TRY(auto dims, SymbolicReshape(ctx.arith, x.dims, *shape, allowzero));
  SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
  return {};
}

template <class A>
Status InferFlatten(RuleContext<A>& ctx) {
  using DimList = std::vector<typename A::Dim>;
  RETURN_IF_ERROR(RequireDataType(ctx));
  const auto& x = ctx.inputs[0];
  if (!x.ranked) {
    SetOutput<A>(ctx.outputs[0], x.dtype, UnknownDims(ctx.arith, 2));
    return {};
  }
  int64_t axis = ctx.attributes.Int("axis", 1);
  if (axis < -x.rank() || axis > x.rank()) {
    return ShapeError("axis " + std::to_string(axis) +
                      " is out of range for rank " + std::to_string(x.rank()));
  }
  if (axis < 0) axis += x.rank();
  SetOutput<A>(
      ctx.outputs[0], x.dtype,
      {Product(ctx.arith, DimList(x.dims.begin(), x.dims.begin() + axis)),
       Product(ctx.arith, DimList(x.dims.begin() + axis, x.dims.end()))});
  return {};
}

template <class A>
Status InferSqueeze(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  const bool has_axes = ctx.Has(1);
  if (has_axes) RETURN_IF_ERROR(RequireIntList(ctx, 1));
  const auto& x = ctx.inputs[0];
  SetUnranked<A>(ctx.outputs[0], x.dtype);
  if (!x.ranked) return {};
  uint32_t mask = 0;
  if (!has_axes) {
    for (std::size_t i = 0; i < x.dims.size(); ++i) {
      const auto known = ctx.arith.Known(x.dims[i]);
      // A dim that may be 1 leaves the rank open.
      if (!known.has_value()) return {};
      if (*known == 1) mask |= 1U << i;
    }
  } else if (const auto axes = KnownInts(ctx, 1)) {
    TRY(mask, AxesMask(*axes, x.rank()));
  } else {
    const auto length = ListLength(ctx, 1);
    if (!length.has_value()) return {};
    if (*length > x.rank()) {
      return ShapeError(std::to_string(*length) + " axes given for rank " +
                        std::to_string(x.rank()));
    }
    SetOutput<A>(ctx.outputs[0], x.dtype,
                 UnknownDims(ctx.arith, x.dims.size() -
                                            static_cast<std::size_t>(*length)));
    return {};
  }
  std::vector<typename A::Dim> dims;
  for (std::size_t i = 0; i < x.dims.size(); ++i) {
    if (((mask >> i) & 1U) == 0) {
      dims.push_back(x.dims[i]);
      continue;
    }
    const auto known = ctx.arith.Known(x.dims[i]);
    if (known.has_value() && *known != 1) {
      return ShapeError("axis " + std::to_string(i) + " has " +
                        std::to_string(*known) + " elements, expected 1");
    }
  }
  SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
  return {};
}

template <class A>
Status InferUnsqueeze(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireIntList(ctx, 1));
  const auto& x = ctx.inputs[0];
  SetUnranked<A>(ctx.outputs[0], x.dtype);
  const auto length = ListLength(ctx, 1);
  if (!x.ranked || !length.has_value()) return {};
  const auto count = static_cast<std::size_t>(*length);
  RETURN_IF_ERROR(RequireOutputRank(count));
  const std::size_t rank = x.dims.size() + count;
  RETURN_IF_ERROR(RequireOutputRank(rank));
  const auto axes = KnownInts(ctx, 1);
  if (!axes.has_value()) {
    SetOutput<A>(ctx.outputs[0], x.dtype, UnknownDims(ctx.arith, rank));
    return {};
  }
  TRY(const uint32_t mask, AxesMask(*axes, static_cast<int>(rank)));
  std::vector<typename A::Dim> dims;
  auto next = x.dims.begin();
  for (std::size_t i = 0; i < rank; ++i) {
    dims.push_back(((mask >> i) & 1U) != 0 ? ctx.arith.Constant(1) : *next++);
  }
  SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
  return {};
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_RESHAPE_H_
