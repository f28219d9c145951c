// Rows of elements in and out of the types that products and windows are
// computed in: 16-bit floats are widened to float and narrowed back with
// rounding to nearest even, every other type is computed in itself (signed
// integers as unsigned ones, which wrap). Strides are in elements.
//
//   LoadRow<float>(DType::kF16, x, offset, stride, count, row);
//   StoreRow<float>(DType::kF16, row, count, y, offset, stride);
#ifndef EBB_VM_KERNELS_PORTABLE_GEMM_ELEMENTS_H_
#define EBB_VM_KERNELS_PORTABLE_GEMM_ELEMENTS_H_

#include <cstdint>

#include "bytecode/dtype.h"

namespace ebb::kernels {

// `out` is dense. T is the compute type of `dtype`.
template <class T>
void LoadRow(DType dtype, const void* data, int64_t offset, int64_t stride,
             int64_t count, T* out);
template <class T>
void StoreRow(DType dtype, const T* row, int64_t count, void* data,
              int64_t offset, int64_t stride);

inline bool IsHalf(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16;
}

// Calls f with a value of the compute type of `dtype`; false when there is
// none. `integers`: whether 32- and 64-bit integers are taken.
template <class F>
bool WithComputeType(DType dtype, bool integers, F f) {
  switch (dtype) {
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
      f(float{});
      return true;
    case DType::kF64:
      f(double{});
      return true;
    case DType::kI32:
    case DType::kU32:
      if (integers) f(uint32_t{});
      return integers;
    case DType::kI64:
    case DType::kU64:
      if (integers) f(uint64_t{});
      return integers;
    default:
      return false;
  }
}

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_GEMM_ELEMENTS_H_
