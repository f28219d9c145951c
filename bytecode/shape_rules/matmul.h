// Shape rules of MatMul (numpy's matmul, vector forms included) and Gemm.
#ifndef EBB_BYTECODE_SHAPE_RULES_MATMUL_H_
#define EBB_BYTECODE_SHAPE_RULES_MATMUL_H_

#include <algorithm>
#include <utility>
#include <vector>

#include "bytecode/shape_rules/check.h"
#include "bytecode/shape_rules/elementwise.h"

namespace ebb {

template <class A>
Status InferMatMul(RuleContext<A>& ctx) {
  using DimList = std::vector<typename A::Dim>;
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireSameDType(ctx, 0, 1));
  RETURN_IF_ERROR(RequireRank(ctx, 0, 1));
  RETURN_IF_ERROR(RequireRank(ctx, 1, 1));
  const DType dtype = ctx.inputs[0].dtype;
  if (!ctx.inputs[0].ranked || !ctx.inputs[1].ranked) {
    SetUnranked<A>(ctx.outputs[0], dtype);
    return {};
  }
  const DimList& a = ctx.inputs[0].dims;
  const DimList& b = ctx.inputs[1].dims;
  const std::size_t a_matrix = std::min<std::size_t>(a.size(), 2);
  const std::size_t b_matrix = std::min<std::size_t>(b.size(), 2);
  RETURN_IF_ERROR(RequireEqualDims(ctx.arith, a.back(), b[b.size() - b_matrix],
                                   DimsText(ctx.arith, a) + " times " +
                                       DimsText(ctx.arith, b) +
                                       ", columns and rows"));
  const auto batch = [](const DimList& dims, std::size_t matrix) {
    return DimList(dims.begin(), dims.end() - static_cast<int64_t>(matrix));
  };
  TRY(DimList dims,
      BroadcastDims(ctx.arith, batch(a, a_matrix), batch(b, b_matrix)));
  if (a_matrix == 2) dims.push_back(a[a.size() - 2]);
  if (b_matrix == 2) dims.push_back(b.back());
  SetOutput<A>(ctx.outputs[0], dtype, std::move(dims));
  return {};
}

template <class A>
Status InferGemm(RuleContext<A>& ctx) {
  using DimList = std::vector<typename A::Dim>;
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireSameDType(ctx, 0, 1));
  RETURN_IF_ERROR(RequireRank(ctx, 0, 2, 2));
  RETURN_IF_ERROR(RequireRank(ctx, 1, 2, 2));
  const auto& a = ctx.inputs[0];
  const auto& b = ctx.inputs[1];
  const bool trans_a = ctx.attributes.Int("transA", 0) != 0;
  const bool trans_b = ctx.attributes.Int("transB", 0) != 0;
  // The rank is 2 whatever is known about the inputs.
  DimList dims = {a.ranked ? a.dims[trans_a ? 1 : 0] : ctx.arith.Unknown(),
                  b.ranked ? b.dims[trans_b ? 0 : 1] : ctx.arith.Unknown()};
  if (a.ranked && b.ranked) {
    RETURN_IF_ERROR(RequireEqualDims(
        ctx.arith, a.dims[trans_a ? 0 : 1], b.dims[trans_b ? 1 : 0],
        DimsText(ctx.arith, a.dims) + " times " + DimsText(ctx.arith, b.dims) +
            ", columns and rows"));
  }
  if (ctx.Has(2)) {
    RETURN_IF_ERROR(RequireSameDType(ctx, 0, 2));
    RETURN_IF_ERROR(RequireRank(ctx, 2, 0, 2));
    if (ctx.inputs[2].ranked && a.ranked && b.ranked) {
      RETURN_IF_ERROR(
          RequireBroadcastTo(ctx.arith, ctx.inputs[2].dims, dims, "input 2"));
    }
  }
  SetOutput<A>(ctx.outputs[0], a.dtype, std::move(dims));
  return {};
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_MATMUL_H_
