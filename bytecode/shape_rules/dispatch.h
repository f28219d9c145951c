// `InferShapesWith`: the shape rule of any operator over any arithmetic, one
// switch made from operators.def. A rule named there that does not exist does
// not compile. Include it where the arithmetic is instantiated; everybody
// else calls `InferShapes` (rule.h).
//
// What holds afterwards: all outputs are filled in, have at most kMaxRank
// dims, no known dim is negative, and the bytes of the known dims fit int64.
// Messages start with the operator's name.
#ifndef EBB_BYTECODE_SHAPE_RULES_DISPATCH_H_
#define EBB_BYTECODE_SHAPE_RULES_DISPATCH_H_

#include <string>

#include "bytecode/shape_rules/check.h"
#include "bytecode/shape_rules/conv.h"
#include "bytecode/shape_rules/elementwise.h"
#include "bytecode/shape_rules/join.h"
#include "bytecode/shape_rules/makers.h"
#include "bytecode/shape_rules/matmul.h"
#include "bytecode/shape_rules/movement.h"
#include "bytecode/shape_rules/normalization.h"
#include "bytecode/shape_rules/pool.h"
#include "bytecode/shape_rules/reduce.h"
#include "bytecode/shape_rules/reshape.h"
#include "bytecode/shape_rules/resize.h"
#include "bytecode/shape_rules/rule.h"
#include "bytecode/shape_rules/slice.h"

namespace ebb {

// Number, presence, ranks and signs: what every rule takes for granted.
template <class A>
Status CheckInputs(const RuleContext<A>& ctx) {
  const auto count = static_cast<int>(ctx.inputs.size());
  if (count < ctx.info.min_inputs || count > ctx.info.max_inputs) {
    return ArgumentError(std::to_string(count) + " inputs, expected " +
                         std::to_string(ctx.info.min_inputs) + " to " +
                         std::to_string(ctx.info.max_inputs));
  }
  const auto outputs = static_cast<int>(ctx.outputs.size());
  if (outputs < 1 || outputs > ctx.info.max_outputs) {
    return ArgumentError(std::to_string(outputs) + " outputs, expected 1 to " +
                         std::to_string(ctx.info.max_outputs));
  }
  for (std::size_t i = 0; i < ctx.inputs.size(); ++i) {
    const auto& input = ctx.inputs[i];
    if (input.absent()) {
      if (static_cast<int>(i) >= ctx.info.min_inputs) continue;
      return ArgumentError("input " + std::to_string(i) + " is absent");
    }
    if (!input.ranked) continue;
    if (input.rank() > kMaxRank) {
      return Fail(ErrorCode::kLimit,
                  "input " + std::to_string(i) + " has rank " +
                      std::to_string(input.rank()) + ", the limit is " +
                      std::to_string(kMaxRank));
    }
    for (const auto& dim : input.dims) {
      const auto known = ctx.arith.Known(dim);
      if (known.has_value() && *known < 0) {
        return ShapeError("input " + std::to_string(i) +
                          " has a negative dim, " + std::to_string(*known));
      }
    }
  }
  return {};
}

// Whether a dim is known: with IntArith -1 stands for one that is not.
template <class A>
std::optional<int64_t> DecidedDim(const A& arith, const typename A::Dim& dim) {
  const auto known = arith.Known(dim);
  if constexpr (requires { A::kUnknown; }) {
    if (known == std::optional<int64_t>(A::kUnknown)) return std::nullopt;
  }
  return known;
}

template <class A>
Status CheckOutputs(const RuleContext<A>& ctx) {
  if (ctx.arith.failed()) {
    return Fail(ErrorCode::kLimit, "dims overflow int64");
  }
  for (std::size_t i = 0; i < ctx.outputs.size(); ++i) {
    const auto& output = ctx.outputs[i];
    if (!output.ranked) continue;
    RETURN_IF_ERROR(RequireOutputRank(output.dims.size()));
    Dims known_dims;
    for (const auto& dim : output.dims) {
      const auto known = DecidedDim(ctx.arith, dim);
      if (!known.has_value()) continue;
      if (*known < 0) {
        return ShapeError("output " + std::to_string(i) +
                          " has a negative dim, " + std::to_string(*known));
      }
      known_dims.push_back(*known);
    }
    const auto count = ElementCount(known_dims);
    if (!count.has_value() || (DTypeBits(output.dtype) > 0 &&
                               !DTypeBytes(output.dtype, *count).has_value())) {
      return Fail(ErrorCode::kLimit,
                  "bytes of output " + std::to_string(i) + ", " +
                      std::string(DTypeName(output.dtype)) +
                      DimsText(ctx.arith, output.dims) + ", overflow int64");
    }
  }
  return {};
}

template <class A>
Status RunRule(RuleContext<A>& ctx) {
  switch (ctx.info.code) {
#define OPERATOR(code, Name, mnemonic, min_inputs, max_inputs, max_outputs, \
                 values, reuse, traits, Rule, attributes)                   \
  case OperatorCode::k##Name:                                               \
    return Infer##Rule(ctx);
#include "bytecode/operators.def"
#undef OPERATOR
  }
  return ArgumentError("no such operator");
}

template <class A>
Status InferShapesWith(RuleContext<A>& ctx) {
  Status status = CheckInputs(ctx);
  if (status.has_value()) status = RunRule(ctx);
  if (status.has_value()) status = CheckOutputs(ctx);
  if (status.has_value()) return {};
  Error error = std::move(status).error();
  error.message = std::string(ctx.info.name) + ": " + error.message;
  return std::unexpected(std::move(error));
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_DISPATCH_H_
