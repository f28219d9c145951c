// Checks and text that the shape rules share. A check that cannot be decided
// on symbolic dims passes; the run-time instance of the rule decides it.
// Messages do not name the operator: dispatch.h puts it in front.
#ifndef EBB_BYTECODE_SHAPE_RULES_CHECK_H_
#define EBB_BYTECODE_SHAPE_RULES_CHECK_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/shape_rules/dtype_sets.h"
#include "bytecode/shape_rules/geometry.h"
#include "bytecode/shape_rules/rule.h"

namespace ebb {

inline std::unexpected<Error> ShapeError(std::string message) {
  return Fail(ErrorCode::kShapeMismatch, std::move(message));
}
inline std::unexpected<Error> ArgumentError(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

// The number, or "?" for a dim that is not known.
template <class A>
std::string DimText(const A& arith, const typename A::Dim& dim) {
  const std::optional<int64_t> known = arith.Known(dim);
  return known.has_value() ? std::to_string(*known) : "?";
}

// "[8,?]".
template <class A>
std::string DimsText(const A& arith, const std::vector<typename A::Dim>& dims) {
  std::string text = "[";
  for (const auto& dim : dims) {
    if (text.size() > 1) text += ',';
    text += DimText(arith, dim);
  }
  return text + "]";
}

template <class A>
bool IsKnown(const A& arith, const typename A::Dim& dim, int64_t value) {
  return arith.Known(dim) == std::optional<int64_t>(value);
}

// Provably >= `low`: the maximum with it changes nothing.
template <class A>
bool AtLeast(A& arith, const typename A::Dim& dim, int64_t low) {
  if (const auto known = arith.Known(dim)) return *known >= low;
  return arith.Same(arith.Max(dim, arith.Constant(low)), dim);
}

template <class A>
Status RequireDType(const RuleContext<A>& ctx, std::size_t input,
                    DTypeSet allowed) {
  const DType dtype = ctx.inputs[input].dtype;
  if (Contains(allowed, dtype)) return {};
  return Fail(Contains(kPlainTypes, dtype) ? ErrorCode::kShapeMismatch
                                           : ErrorCode::kUnsupported,
              "input " + std::to_string(input) + " is " +
                  std::string(DTypeName(dtype)) + ", expected one of " +
                  DTypeSetText(allowed));
}

template <class A>
Status RequireSameDType(const RuleContext<A>& ctx, std::size_t a,
                        std::size_t b) {
  if (ctx.inputs[a].dtype == ctx.inputs[b].dtype) return {};
  return ShapeError("input " + std::to_string(a) + " is " +
                    std::string(DTypeName(ctx.inputs[a].dtype)) + ", input " +
                    std::to_string(b) + " is " +
                    std::string(DTypeName(ctx.inputs[b].dtype)));
}

// Input 0 may have the operator's dtypes (dtype_sets.h).
template <class A>
Status RequireDataType(const RuleContext<A>& ctx) {
  return RequireDType(ctx, 0, DataTypes(ctx.info.code));
}

template <class A>
Status RequireRank(const RuleContext<A>& ctx, std::size_t input, int low,
                   int high = kMaxRank) {
  const auto& shaped = ctx.inputs[input];
  if (!shaped.ranked || (shaped.rank() >= low && shaped.rank() <= high)) {
    return {};
  }
  std::string expected = std::to_string(low);
  if (high >= kMaxRank) {
    expected += " or more";
  } else if (high != low) {
    expected += " to " + std::to_string(high);
  }
  return ShapeError("input " + std::to_string(input) + " has rank " +
                    std::to_string(shaped.rank()) + ", expected " + expected);
}

inline Status RequireOutputRank(std::size_t rank) {
  if (rank <= static_cast<std::size_t>(kMaxRank)) return {};
  return Fail(ErrorCode::kLimit, "output rank " + std::to_string(rank) +
                                     " is above the limit of " +
                                     std::to_string(kMaxRank));
}

// Fails when both are known and differ. `what` says which dim is meant.
template <class A>
Status RequireEqualDims(const A& arith, const typename A::Dim& a,
                        const typename A::Dim& b, const std::string& what) {
  const auto known_a = arith.Known(a);
  const auto known_b = arith.Known(b);
  if (!known_a.has_value() || !known_b.has_value() || *known_a == *known_b) {
    return {};
  }
  return ShapeError(what + ": " + std::to_string(*known_a) + " against " +
                    std::to_string(*known_b));
}

// Of two dims that must be equal, the one more is known about.
template <class A>
typename A::Dim Better(const A& arith, const typename A::Dim& a,
                       const typename A::Dim& b) {
  return !arith.Known(a).has_value() && arith.Known(b).has_value() ? b : a;
}

// A value input: integers, a list or a scalar.
template <class A>
Status RequireIntList(const RuleContext<A>& ctx, std::size_t input) {
  RETURN_IF_ERROR(RequireDType(ctx, input, kIndexTypes));
  return RequireRank(ctx, input, 0, 1);
}

// The contents of a value input when every element is known.
template <class A>
std::optional<Dims> KnownInts(const RuleContext<A>& ctx, std::size_t input) {
  if (!ctx.Has(input)) return std::nullopt;
  const auto* list = ctx.Ints(input);
  if (list == nullptr) return std::nullopt;
  Dims result;
  for (const auto& element : *list) {
    const auto known = ctx.arith.Known(element);
    if (!known.has_value()) return std::nullopt;
    result.push_back(*known);
  }
  return result;
}

// Number of elements of a value input, where known.
template <class A>
std::optional<int64_t> ListLength(const RuleContext<A>& ctx,
                                  std::size_t input) {
  if (const auto* ints = ctx.Ints(input)) {
    return static_cast<int64_t>(ints->size());
  }
  if (const auto* floats = ctx.Floats(input)) {
    return static_cast<int64_t>(floats->size());
  }
  const auto& shaped = ctx.inputs[input];
  if (!shaped.ranked) return std::nullopt;
  return shaped.dims.empty() ? 1 : ctx.arith.Known(shaped.dims[0]);
}

inline OptionalList AsList(const std::optional<Dims>& list) {
  return list.has_value() ? OptionalList(DimSpan(*list)) : std::nullopt;
}

template <class A>
void SetUnranked(Shaped<typename A::Dim>& output, DType dtype) {
  output.dtype = dtype;
  output.ranked = false;
  output.dims.clear();
}

template <class A>
void SetOutput(Shaped<typename A::Dim>& output, DType dtype,
               std::vector<typename A::Dim> dims) {
  output.dtype = dtype;
  output.ranked = true;
  output.dims = std::move(dims);
}

// `rank` dims that are found out at run time.
template <class A>
std::vector<typename A::Dim> UnknownDims(A& arith, std::size_t rank) {
  std::vector<typename A::Dim> dims;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(arith.Unknown());
  return dims;
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_CHECK_H_
