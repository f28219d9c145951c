// Shape rules of the elementwise operators: one input, and two or three with
// ONNX (numpy) broadcasting.
#ifndef EBB_BYTECODE_SHAPE_RULES_ELEMENTWISE_H_
#define EBB_BYTECODE_SHAPE_RULES_ELEMENTWISE_H_

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/shape_rules/check.h"

namespace ebb {

// One dim of a broadcast. A dim that may turn out to be 1 leaves the result
// open, unless the other is a constant: then it is 1 or equal to that.
template <class A>
Expected<typename A::Dim> BroadcastDim(A& arith, const typename A::Dim& a,
                                       const typename A::Dim& b) {
  const auto known_a = arith.Known(a);
  const auto known_b = arith.Known(b);
  if (known_a == std::optional<int64_t>(1)) return b;
  if (known_b == std::optional<int64_t>(1)) return a;
  if (known_a.has_value() && known_b.has_value() && *known_a != *known_b) {
    return ShapeError(std::to_string(*known_a) + " against " +
                      std::to_string(*known_b));
  }
  if (known_a.has_value()) return a;
  if (known_b.has_value()) return b;
  if (arith.Same(a, b)) return a;
  return arith.Unknown();
}

// Broadcast of two shapes, aligned at the last dim.
template <class A>
Expected<std::vector<typename A::Dim>> BroadcastDims(
    A& arith, const std::vector<typename A::Dim>& a,
    const std::vector<typename A::Dim>& b) {
  const auto& longer = a.size() < b.size() ? b : a;
  const auto& shorter = a.size() < b.size() ? a : b;
  std::vector<typename A::Dim> dims = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    auto dim = BroadcastDim(arith, longer[i + offset], shorter[i]);
    if (!dim.has_value()) {
      return ShapeError(DimsText(arith, a) + " and " + DimsText(arith, b) +
                        " do not broadcast: " + dim.error().message);
    }
    dims[i + offset] = *dim;
  }
  return dims;
}

// `from` must broadcast to `to` without changing it. `what` names `from`.
template <class A>
Status RequireBroadcastTo(const A& arith,
                          const std::vector<typename A::Dim>& from,
                          const std::vector<typename A::Dim>& to,
                          const std::string& what) {
  bool fits = from.size() <= to.size();
  for (std::size_t i = 0; fits && i < from.size(); ++i) {
    const auto known = arith.Known(from[i]);
    const auto target = arith.Known(to[to.size() - from.size() + i]);
    fits = !known.has_value() || *known == 1 || !target.has_value() ||
           *known == *target;
  }
  if (fits) return {};
  return ShapeError(what + " " + DimsText(arith, from) +
                    " does not broadcast to " + DimsText(arith, to));
}

// Output 0 from the broadcast of the listed inputs.
template <class A>
Status SetBroadcast(RuleContext<A>& ctx, DType dtype,
                    std::initializer_list<std::size_t> inputs) {
  std::vector<typename A::Dim> dims;
  for (const std::size_t input : inputs) {
    if (!ctx.inputs[input].ranked) {
      SetUnranked<A>(ctx.outputs[0], dtype);
      return {};
    }
    TRY(dims, BroadcastDims(ctx.arith, dims, ctx.inputs[input].dims));
  }
  SetOutput<A>(ctx.outputs[0], dtype, std::move(dims));
  return {};
}

template <class A>
Status InferSame(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  if (ctx.info.code == OperatorCode::kGelu) {
    const auto approximate = ctx.attributes.String("approximate", "none");
    if (approximate != "none" && approximate != "tanh") {
      return ArgumentError("approximate '" + std::string(approximate) +
                           "' is neither none nor tanh");
    }
  }
  if (ctx.info.code == OperatorCode::kLrn) {
    RETURN_IF_ERROR(RequireRank(ctx, 0, 2));
    const int64_t size = ctx.attributes.Int("size", 0);
    if (size <= 0) {
      return ArgumentError("size " + std::to_string(size) + " is not positive");
    }
  }
  ctx.outputs[0] = ctx.inputs[0];
  return {};
}

template <class A>
Status InferClip(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  for (std::size_t i = 1; i < ctx.inputs.size(); ++i) {
    if (!ctx.Has(i)) continue;
    RETURN_IF_ERROR(RequireSameDType(ctx, 0, i));
    RETURN_IF_ERROR(RequireRank(ctx, i, 0, 1));
    if (ctx.inputs[i].ranked && ctx.inputs[i].rank() == 1) {
      RETURN_IF_ERROR(RequireEqualDims(
          ctx.arith, ctx.inputs[i].dims[0], ctx.arith.Constant(1),
          "elements of input " + std::to_string(i) + ", a scalar"));
    }
  }
  ctx.outputs[0] = ctx.inputs[0];
  return {};
}

template <class A>
Status InferCast(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  const int64_t to = ctx.attributes.Int("to", 0);
  if (to < 0 || to > 255 || !IsValidDType(static_cast<uint8_t>(to))) {
    return ArgumentError("to " + std::to_string(to) + " is no dtype");
  }
  const auto dtype = static_cast<DType>(to);
  if (!Contains(kPlainTypes, dtype)) {
    return Fail(ErrorCode::kUnsupported,
                "to is " + std::string(DTypeName(dtype)) +
                    ", expected one of " + DTypeSetText(kPlainTypes));
  }
  ctx.outputs[0] = ctx.inputs[0];
  ctx.outputs[0].dtype = dtype;
  return {};
}

template <class A>
Status InferBroadcast(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireSameDType(ctx, 0, 1));
  return SetBroadcast(ctx, ctx.inputs[0].dtype, {0, 1});
}

template <class A>
Status InferCompare(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireSameDType(ctx, 0, 1));
  return SetBroadcast(ctx, DType::kBool, {0, 1});
}

// The exponent may have a dtype of its own.
template <class A>
Status InferPow(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireDType(ctx, 1, kNumericTypes));
  return SetBroadcast(ctx, ctx.inputs[0].dtype, {0, 1});
}

// The slope broadcasts to the data, not the other way.
template <class A>
Status InferPRelu(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireSameDType(ctx, 0, 1));
  if (ctx.inputs[0].ranked && ctx.inputs[1].ranked) {
    RETURN_IF_ERROR(RequireBroadcastTo(ctx.arith, ctx.inputs[1].dims,
                                       ctx.inputs[0].dims, "slope"));
  }
  ctx.outputs[0] = ctx.inputs[0];
  return {};
}

template <class A>
Status InferWhere(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireDType(ctx, 1, kPlainTypes));
  RETURN_IF_ERROR(RequireSameDType(ctx, 1, 2));
  return SetBroadcast(ctx, ctx.inputs[1].dtype, {0, 1, 2});
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_ELEMENTWISE_H_
