// The loops of LayerNormalization and InstanceNormalization on dense tiles of
// f32 or f64. Sums go through many lanes; the caller adds tiles up in f64.
#ifndef EBB_VM_KERNELS_PORTABLE_NORMALIZE_LOOPS_H_
#define EBB_VM_KERNELS_PORTABLE_NORMALIZE_LOOPS_H_

#include <cstdint>

#include "bytecode/dtype.h"

namespace ebb::kernels {

struct NormalizeFunctions {
  double (*sum)(const void* x, int64_t n) = nullptr;
  // Of (x - mean)^2.
  double (*square_sum)(const void* x, int64_t n, double mean) = nullptr;
  // out = (x - mean) * factor * scale + bias; `bias` may be nullptr.
  void (*out)(const void* x, int64_t n, double mean, double factor,
              const void* scale, const void* bias, void* out) = nullptr;
};

// f32 or f64.
NormalizeFunctions FindNormalizeFunctions(DType computed);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_NORMALIZE_LOOPS_H_
