// Shape rule of MaxPool and AveragePool.
#ifndef EBB_BYTECODE_SHAPE_RULES_POOL_H_
#define EBB_BYTECODE_SHAPE_RULES_POOL_H_

#include <string>
#include <vector>

#include "bytecode/shape_rules/check.h"
#include "bytecode/shape_rules/window.h"

namespace ebb {

// Output dims of a pool over `x`, whose rank is 3 or more.
template <class A>
Expected<std::vector<typename A::Dim>> InferPoolDims(
    A& arith, const WindowAttributes& window,
    const std::vector<typename A::Dim>& x) {
  if (window.kernel.empty()) return ArgumentError("kernel_shape is missing");
  std::vector<typename A::Dim> dims = {x[0], x[1]};
  for (int axis = 0; axis < window.rank(); ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    const auto kernel = arith.Constant(window.kernel[at]);
    const auto out = WindowOutput(arith, window, axis, x[at + 2], kernel);
    RETURN_IF_ERROR(
        RequireWindowFits(arith, window, axis, x[at + 2], kernel, out));
    dims.push_back(out);
  }
  return dims;
}

template <class A>
Status InferPool(RuleContext<A>& ctx) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireRank(ctx, 0, 3));
  const auto& x = ctx.inputs[0];
  // Without a rank all lists are still checked against kernel_shape.
  const int rank =
      x.ranked ? x.rank() - 2
               : static_cast<int>(ctx.attributes.Ints("kernel_shape").size());
  TRY(const WindowAttributes window,
      ReadWindowAttributes(ctx.attributes, rank));
  const int64_t order = ctx.attributes.Int("storage_order", 0);
  if (order != 0 && order != 1) {
    return ArgumentError("storage_order " + std::to_string(order) +
                         " is neither 0 nor 1");
  }
  // MaxPool's second output holds flat indices into the input.
  for (std::size_t i = 0; i < ctx.outputs.size(); ++i) {
    SetUnranked<A>(ctx.outputs[i], i == 0 ? x.dtype : DType::kI64);
  }
  if (!x.ranked) return {};
  TRY(const auto dims, InferPoolDims(ctx.arith, window, x.dims));
  for (auto& output : ctx.outputs) SetOutput<A>(output, output.dtype, dims);
  return {};
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_POOL_H_
