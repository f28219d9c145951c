// Shape rules of Conv and ConvTranspose. `ConvDims` is the rule on bare dims;
// kernels get the same through ConvGeometry (window.h).
#ifndef EBB_BYTECODE_SHAPE_RULES_CONV_H_
#define EBB_BYTECODE_SHAPE_RULES_CONV_H_

#include <span>
#include <string>
#include <vector>

#include "bytecode/shape_rules/check.h"
#include "bytecode/shape_rules/window.h"

namespace ebb {

template <class A>
struct ConvDims {
  typename A::Dim out_channels;
  std::vector<typename A::Dim> kernel;   // Per spatial axis.
  std::vector<typename A::Dim> spatial;  // Of the output.
};

// `x` and `w` have the same rank, 3 or more. `transposed`: ConvTranspose.
template <class A>
Expected<ConvDims<A>> InferConvDims(A& arith, const WindowAttributes& window,
                                    const std::vector<typename A::Dim>& x,
                                    const std::vector<typename A::Dim>& w,
                                    bool transposed) {
  const auto group = arith.Constant(window.group);
  if (transposed) {
    // Every group maps C / group channels to w[1].
    RETURN_IF_ERROR(RequireEqualDims(arith, x[1], w[0],
                                     "channels of the input and the weights"));
  } else {
    RETURN_IF_ERROR(RequireEqualDims(
        arith, x[1], arith.Mul(w[1], group),
        "channels of the input and of the weights times group"));
  }
  if (const auto filters = arith.Known(w[0]);
      filters.has_value() && *filters % window.group != 0) {
    return ShapeError("group " + std::to_string(window.group) +
                      " does not divide the " + std::to_string(*filters) +
                      " channels of the weights");
  }
  ConvDims<A> result{.out_channels = transposed ? arith.Mul(w[1], group) : w[0],
                     .kernel = {},
                     .spatial = {}};
  for (int axis = 0; axis < window.rank(); ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    auto kernel = w[at + 2];
    if (!window.kernel.empty()) {
      const auto given = arith.Constant(window.kernel[at]);
      RETURN_IF_ERROR(RequireEqualDims(arith, given, kernel,
                                       "kernel_shape and dim " +
                                           std::to_string(at + 2) +
                                           " of the weights"));
      kernel = Better(arith, kernel, given);
    }
    if (IsKnown(arith, kernel, 0)) {
      return ShapeError("dim " + std::to_string(at + 2) +
                        " of the weights is 0");
    }
    const auto out =
        transposed ? TransposedOutput(arith, window, axis, x[at + 2], kernel)
                   : WindowOutput(arith, window, axis, x[at + 2], kernel);
    RETURN_IF_ERROR(
        RequireWindowFits(arith, window, axis, x[at + 2], kernel, out));
    result.kernel.push_back(kernel);
    result.spatial.push_back(out);
  }
  return result;
}

template <class A>
Status InferConvolution(RuleContext<A>& ctx, bool transposed) {
  RETURN_IF_ERROR(RequireDataType(ctx));
  RETURN_IF_ERROR(RequireSameDType(ctx, 0, 1));
  RETURN_IF_ERROR(RequireRank(ctx, 0, 3));
  RETURN_IF_ERROR(RequireRank(ctx, 1, 3));
  const auto& x = ctx.inputs[0];
  const auto& w = ctx.inputs[1];
  if (ctx.Has(2)) {
    RETURN_IF_ERROR(RequireSameDType(ctx, 0, 2));
    RETURN_IF_ERROR(RequireRank(ctx, 2, 1, 1));
  }
  if (!x.ranked || !w.ranked) {
    SetUnranked<A>(ctx.outputs[0], x.dtype);
    return {};
  }
  if (x.rank() != w.rank()) {
    return ShapeError("input has rank " + std::to_string(x.rank()) +
                      ", weights have rank " + std::to_string(w.rank()));
  }
  TRY(const WindowAttributes window,
      ReadWindowAttributes(ctx.attributes, x.rank() - 2));
  TRY(const ConvDims<A> conv,
      InferConvDims(ctx.arith, window, x.dims, w.dims, transposed));
  if (ctx.Has(2) && ctx.inputs[2].ranked) {
    RETURN_IF_ERROR(RequireEqualDims(ctx.arith, ctx.inputs[2].dims[0],
                                     conv.out_channels,
                                     "bias and output channels"));
  }
  std::vector<typename A::Dim> dims = {x.dims[0], conv.out_channels};
  dims.insert(dims.end(), conv.spatial.begin(), conv.spatial.end());
  SetOutput<A>(ctx.outputs[0], x.dtype, std::move(dims));
  return {};
}

template <class A>
Status InferConv(RuleContext<A>& ctx) {
  return InferConvolution(ctx, false);
}

template <class A>
Status InferConvTranspose(RuleContext<A>& ctx) {
  return InferConvolution(ctx, true);
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_CONV_H_
