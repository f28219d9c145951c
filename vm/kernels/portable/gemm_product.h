// A batch of matrix products with Gemm's epilogue, over operands of any
// strides: what MatMul and Gemm both become. Cut into slices by batch, and
// by rows or columns of the output when several workers share it.
//
//   out[b] = alpha * A[b] * B[b] + beta * C
//
// Integers wrap; with a fractional alpha or beta they are computed in double
// and truncated, as numpy does.
#ifndef EBB_VM_KERNELS_PORTABLE_GEMM_PRODUCT_H_
#define EBB_VM_KERNELS_PORTABLE_GEMM_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "vm/kernels/kernel.h"
#include "vm/kernels/portable/gemm_constant.h"

namespace ebb::kernels {

// One matrix operand: its batch strides, aligned with Product::batch (0 where
// it is broadcast), and strides of the matrix.
struct ProductOperand {
  std::size_t input = 0;
  std::vector<int64_t> batch_strides;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

struct Product {
  DType dtype = DType::kInvalid;
  std::vector<int64_t> batch;
  int64_t m = 0, n = 0, k = 0;
  ProductOperand a, b;
  double alpha = 1;
  double beta = 0;
  std::optional<ProductOperand> c;  // Has no batch.
  int threads = 1;
};

// The product that an operator asks for, before anything is merged.
Expected<Product> MatMulProduct(const Request& request);
Expected<Product> GemmProduct(const Request& request);

// Batch dims of A that continue its rows without a gap, under one B for all,
// make one taller product.
void MergeBatchIntoRows(Product& product);

// Offset of batch element `batch` in elements.
int64_t BatchOffset(const Product& product, const ProductOperand& operand,
                    int64_t batch);

// `request` for the constants of inputs A and B and for messages.
Expected<PreparedPtr> PrepareProduct(const Request& request, Product product);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_GEMM_PRODUCT_H_
