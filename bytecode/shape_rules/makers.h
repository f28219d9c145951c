// Shape rules of the operators that make a tensor from dims or numbers:
// Shape, Size, Full, Range.
#ifndef EBB_BYTECODE_SHAPE_RULES_MAKERS_H_
#define EBB_BYTECODE_SHAPE_RULES_MAKERS_H_

#include <string>
#include <utility>
#include <vector>

#include "bytecode/shape_rules/check.h"
#include "bytecode/shape_rules/movement.h"
#include "bytecode/shape_rules/window.h"

namespace ebb {

template <class A>
Status InferShape(RuleContext<A>& ctx) {
  const auto& x = ctx.inputs[0];
  auto count = ctx.arith.Unknown();
  if (x.ranked) {
    const AxisRange range = ResolveShapeRange(ctx.attributes, x.rank());
    count = ctx.arith.Constant(range.end - range.begin);
  }
  SetOutput<A>(ctx.outputs[0], DType::kI64, {count});
  return {};
}

template <class A>
Status InferSize(RuleContext<A>& ctx) {
  SetOutput<A>(ctx.outputs[0], DType::kI64, {});
  return {};
}

template <class A>
Status InferFull(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDType(ctx, 0, kIndexTypes));
  RETURN_IF_ERROR(RequireRank(ctx, 0, 1, 1));
  RETURN_IF_ERROR(RequireDType(ctx, 1, DataTypes(ctx.info.code)));
  const auto& value = ctx.inputs[1];
  for (std::size_t i = 0; value.ranked && i < value.dims.size(); ++i) {
    RETURN_IF_ERROR(RequireEqualDims(
        ctx.arith, value.dims[i], ctx.arith.Constant(1),
        "elements of the value along dim " + std::to_string(i)));
  }
  SetUnranked<A>(ctx.outputs[0], value.dtype);
  const auto length = ListLength(ctx, 0);
  if (!length.has_value()) return {};
  const auto rank = static_cast<std::size_t>(*length);
  RETURN_IF_ERROR(RequireOutputRank(rank));
  const auto* shape = ctx.Ints(0);
  if (shape != nullptr) RETURN_IF_ERROR(RequireNotNegative(ctx, 0, *shape));
  SetOutput<A>(ctx.outputs[0], value.dtype,
               shape != nullptr ? *shape : UnknownDims(ctx.arith, rank));
  return {};
}

// max(ceil((limit - start) / delta), 0) elements of an integer range.
template <class A>
Expected<typename A::Dim> RangeDim(A& arith, const typename A::Dim& start,
                                   const typename A::Dim& limit,
                                   const typename A::Dim& delta) {
  const auto known_start = arith.Known(start);
  const auto known_limit = arith.Known(limit);
  const auto step = arith.Known(delta);
  if (!step.has_value()) return arith.Unknown();
  if (known_start.has_value() && known_limit.has_value()) {
    TRY(const int64_t count, RangeCount(*known_start, *known_limit, *step));
    return arith.Constant(count);
  }
  if (*step == 0) return ArgumentError("delta is 0");
  if (*step == std::numeric_limits<int64_t>::min()) return arith.Unknown();
  const auto distance =
      *step > 0 ? arith.Sub(limit, start) : arith.Sub(start, limit);
  return CeilDivBy(arith, arith.Max(distance, arith.Constant(0)),
                   *step > 0 ? *step : -*step);
}

template <class A>
Status InferRange(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  for (std::size_t i = 0; i < 3; ++i) {
    RETURN_IF_ERROR(RequireSameDType(ctx, 0, i));
    RETURN_IF_ERROR(RequireRank(ctx, i, 0, 1));
    if (ctx.inputs[i].ranked && ctx.inputs[i].rank() == 1) {
      RETURN_IF_ERROR(RequireEqualDims(
          ctx.arith, ctx.inputs[i].dims[0], ctx.arith.Constant(1),
          "elements of input " + std::to_string(i) + ", a scalar"));
    }
  }
  const DType dtype = ctx.inputs[0].dtype;
  const auto one = [](const auto* list) {
    return list != nullptr && list->size() == 1;
  };
  auto count = ctx.arith.Unknown();
  if (one(ctx.Ints(0)) && one(ctx.Ints(1)) && one(ctx.Ints(2))) {
    TRY(count, RangeDim(ctx.arith, ctx.Ints(0)->front(), ctx.Ints(1)->front(),
                        ctx.Ints(2)->front()));
  } else if (one(ctx.Floats(0)) && one(ctx.Floats(1)) && one(ctx.Floats(2))) {
    TRY(const int64_t known,
        RangeCount(ctx.Floats(0)->front(), ctx.Floats(1)->front(),
                   ctx.Floats(2)->front(), dtype != DType::kF64));
    count = ctx.arith.Constant(known);
  }
  SetOutput<A>(ctx.outputs[0], dtype, {count});
  return {};
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_MAKERS_H_
