// Conv and ConvTranspose: geometry, and the choice of kernel.
#include <utility>

#include "bytecode/shape_rules/window.h"
#include "vm/kernels/portable/conv_problem.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/rows.h"

namespace ebb::kernels {
namespace {

Expected<PreparedPtr> PrepareConv(const Request& request) {
  TRY(const WindowGeometry geometry,
      ConvGeometry(request.attributes, InputOf(request, 0).dims,
                   InputOf(request, 1).dims));
  TRY(ConvProblem problem, MakeConvProblem(request, geometry));
  TRY(PreparedPtr pointwise, PrepareConvPointwise(request, problem));
  if (pointwise != nullptr) return pointwise;
  TRY(PreparedPtr depthwise, PrepareConvDepthwise(request, problem));
  if (depthwise != nullptr) return depthwise;
  return PrepareConvWindow(request, std::move(problem));
}

Expected<PreparedPtr> PrepareConvTranspose(const Request& request) {
  TRY(const WindowGeometry geometry,
      ConvTransposeGeometry(request.attributes, InputOf(request, 0).dims,
                            InputOf(request, 1).dims));
  TRY(ConvProblem problem, MakeConvTransposeProblem(request, geometry));
  return PrepareConvWindow(request, std::move(problem));
}

}  // namespace

const KernelRow kConvKernel = {.prepare = PrepareConv,
                               .data_form = Form::kDenseOrder,
                               .other_form = Form::kDense,
                               .output_form = Form::kDenseOrder};

const KernelRow kConvTransposeKernel = {.prepare = PrepareConvTranspose,
                                        .data_form = Form::kDenseOrder,
                                        .other_form = Form::kDense,
                                        .output_form = Form::kDenseOrder};

}  // namespace ebb::kernels
