// MatMul: numpy's rules for batches and vectors, on the shared product.
#include <utility>

#include "bytecode/shape_rules/geometry.h"
#include "vm/kernels/portable/gemm_product.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/rows.h"

namespace ebb::kernels {
namespace {

// Strides of the operand's batch dims under the broadcast batch.
std::vector<int64_t> BatchStrides(DimSpan dims,
                                  std::span<const int64_t> strides,
                                  std::size_t matrix_rank, DimSpan batch) {
  std::vector<int64_t> result(batch.size(), 0);
  const std::size_t own = dims.size() - matrix_rank;
  for (std::size_t d = 0; d < own; ++d) {
    if (dims[d] != 1) result[batch.size() - own + d] = strides[d];
  }
  return result;
}

Expected<PreparedPtr> PrepareMatMul(const Request& request) {
  TRY(Product product, MatMulProduct(request));
  return PrepareProduct(request, std::move(product));
}

}  // namespace

Expected<Product> MatMulProduct(const Request& request) {
  const Operand& a = InputOf(request, 0);
  const Operand& b = InputOf(request, 1);
  TRY(const MatMulGeometry g, ResolveMatMul(a.dims, b.dims));
  const std::vector<int64_t> a_strides = PlainStrides(a);
  const std::vector<int64_t> b_strides = PlainStrides(b);
  const bool a_vector = a.dims.size() == 1;
  const bool b_vector = b.dims.size() == 1;

  Product product{.dtype = a.dtype,
                  .batch = g.batch,
                  .m = g.m,
                  .n = g.n,
                  .k = g.k,
                  .threads = request.threads};
  product.a = {.input = 0,
               .batch_strides =
                   BatchStrides(a.dims, a_strides, a_vector ? 1 : 2, g.batch),
               .row_stride = a_vector ? 0 : a_strides[a_strides.size() - 2],
               .column_stride = a_strides.back()};
  product.b = {
      .input = 1,
      .batch_strides =
          BatchStrides(b.dims, b_strides, b_vector ? 1 : 2, g.batch),
      .row_stride = b_vector ? b_strides[0] : b_strides[b_strides.size() - 2],
      .column_stride = b_vector ? 1 : b_strides.back()};
  return product;
}

const KernelRow kMatMulKernel = {.prepare = PrepareMatMul,
                                 .data_form = Form::kAny,
                                 .other_form = Form::kAny,
                                 .output_form = Form::kDense};

}  // namespace ebb::kernels
