// The loops of Softmax and LogSoftmax on dense tiles of f32 or f64, rows (the
// axis lies along the tile) and columns (a tile is one step along the axis of
// many softmaxes).
#ifndef EBB_VM_KERNELS_PORTABLE_SOFTMAX_LOOPS_H_
#define EBB_VM_KERNELS_PORTABLE_SOFTMAX_LOOPS_H_

#include <cstdint>

#include "bytecode/dtype.h"

namespace ebb::kernels {

// Maxima and factors of columns are of the computed dtype, sums are f64; x, e
// and out may be the same memory.
struct SoftmaxFunctions {
  // The larger of `highest` and the elements of the row; NaN is handed on.
  double (*row_max)(const void* x, int64_t n, double highest) = nullptr;
  // e = exp(x - highest); returns the sum. `e` may be nullptr.
  double (*row_exp)(const void* x, int64_t n, double highest,
                    void* e) = nullptr;
  // out = x * factor, and out = exp(x - highest) * factor.
  void (*row_scale)(const void* x, int64_t n, double factor,
                    void* out) = nullptr;
  void (*row_exp_scale)(const void* x, int64_t n, double highest, double factor,
                        void* out) = nullptr;
  // out = (x - highest) - log_sum.
  void (*row_log)(const void* x, int64_t n, double highest, double log_sum,
                  void* out) = nullptr;

  void (*column_clear)(void* highest, double* sum, int64_t n) = nullptr;
  void (*column_max)(const void* x, int64_t n, void* highest) = nullptr;
  // Adds exp(x - highest), which goes to `e` unless that is nullptr.
  void (*column_exp)(const void* x, int64_t n, const void* highest, double* sum,
                     void* e) = nullptr;
  // What column_out multiplies with or takes away: 1 / sum or log(sum).
  void (*column_factor)(const double* sum, int64_t n, bool log,
                        void* factor) = nullptr;
  // out = x * factor.
  void (*column_scale)(const void* x, int64_t n, const void* factor,
                       void* out) = nullptr;
  void (*column_out)(const void* x, int64_t n, const void* highest,
                     const void* factor, bool log, void* out) = nullptr;
};

// f32 or f64.
SoftmaxFunctions FindSoftmaxFunctions(DType computed);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_SOFTMAX_LOOPS_H_
