// Gemm: transposition is a matter of strides, C is broadcast by them too.
#include <utility>

#include "bytecode/shape_rules/geometry.h"
#include "vm/kernels/portable/gemm_product.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/rows.h"

namespace ebb::kernels {
namespace {

ProductOperand Matrix(std::size_t input, std::span<const int64_t> strides,
                      bool transposed) {
  return {.input = input,
          .batch_strides = {},
          .row_stride = strides[transposed ? 1 : 0],
          .column_stride = strides[transposed ? 0 : 1]};
}

Expected<PreparedPtr> PrepareGemm(const Request& request) {
  TRY(Product product, GemmProduct(request));
  return PrepareProduct(request, std::move(product));
}

}  // namespace

Expected<Product> GemmProduct(const Request& request) {
  const Operand& a = InputOf(request, 0);
  const Operand& b = InputOf(request, 1);
  const Operand& c = InputOf(request, 2);
  TRY(const GemmGeometry g, ResolveGemm(request.attributes, a.dims, b.dims));
  const std::vector<int64_t> a_strides = PlainStrides(a);
  const std::vector<int64_t> b_strides = PlainStrides(b);
  Product product{.dtype = a.dtype,
                  .batch = {},
                  .m = g.m,
                  .n = g.n,
                  .k = g.k,
                  .a = Matrix(0, a_strides, g.trans_a),
                  .b = Matrix(1, b_strides, g.trans_b),
                  .alpha = request.attributes.Float("alpha", 1),
                  .beta = 0,
                  .threads = request.threads};
  const double beta = request.attributes.Float("beta", 1);
  if (c.present() && beta != 0) {
    product.beta = beta;
    ProductOperand added{.input = 2, .batch_strides = {}};
    const std::size_t rank = c.dims.size();
    if (rank >= 1 && c.dims[rank - 1] != 1) {
      added.column_stride = c.strides[rank - 1];
    }
    if (rank >= 2 && c.dims[rank - 2] != 1) {
      added.row_stride = c.strides[rank - 2];
    }
    product.c = added;
  }
  return product;
}

const KernelRow kGemmKernel = {.prepare = PrepareGemm,
                               .data_form = Form::kAny,
                               .other_form = Form::kAny,
                               .output_form = Form::kDense};

}  // namespace ebb::kernels
