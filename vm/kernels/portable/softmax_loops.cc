#include "vm/kernels/portable/softmax_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "vm/kernels/portable/lanes.h"
#include "vm/kernels/portable/math_f32.h"

namespace ebb::kernels {
namespace {

template <class T>
EBB_TARGET_CLONES double RowMax(const void* x, int64_t n, double highest) {
  return static_cast<double>(ReduceLanes<RunningMaxOp>(
      static_cast<const T*>(x), n, static_cast<T>(highest)));
}

template <class T>
EBB_TARGET_CLONES double RowExp(const void* x, int64_t n, double highest,
                                void* e) {
  const T* in = static_cast<const T*>(x);
  const T shift = static_cast<T>(highest);
  if (e == nullptr) {
    return static_cast<double>(TransformReduceLanes<SumOp>(
        in, n, T{0}, [shift](T v) __attribute__((always_inline)) {
          return Exp(v - shift);
        }));
  }
  T* out = static_cast<T*>(e);
  EBB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = Exp(in[i] - shift);
  return static_cast<double>(ReduceLanes<SumOp>(out, n, T{0}));
}

template <class T>
EBB_TARGET_CLONES void RowScale(const void* x, int64_t n, double factor,
                                void* out) {
  const T* in = static_cast<const T*>(x);
  T* to = static_cast<T*>(out);
  const T f = static_cast<T>(factor);
  EBB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = in[i] * f;
}

template <class T>
EBB_TARGET_CLONES void RowExpScale(const void* x, int64_t n, double highest,
                                   double factor, void* out) {
  const T* in = static_cast<const T*>(x);
  T* to = static_cast<T*>(out);
  const T shift = static_cast<T>(highest);
  const T f = static_cast<T>(factor);
  EBB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = Exp(in[i] - shift) * f;
}

template <class T>
EBB_TARGET_CLONES void RowLog(const void* x, int64_t n, double highest,
                              double log_sum, void* out) {
  const T* in = static_cast<const T*>(x);
  T* to = static_cast<T*>(out);
  const T shift = static_cast<T>(highest);
  const T log = static_cast<T>(log_sum);
  EBB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = (in[i] - shift) - log;
}

template <class T>
void ColumnClear(void* highest, double* sum, int64_t n) {
  std::fill_n(static_cast<T*>(highest), n, -std::numeric_limits<T>::infinity());
  std::fill_n(sum, n, 0.0);
}

template <class T>
EBB_TARGET_CLONES void ColumnMax(const void* x, int64_t n, void* highest) {
  const T* in = static_cast<const T*>(x);
  T* max = static_cast<T*>(highest);
  EBB_INDEPENDENT
  for (int64_t c = 0; c < n; ++c) max[c] = RunningMaxOp::Do(max[c], in[c]);
}

template <class T>
EBB_TARGET_CLONES void ColumnExp(const void* x, int64_t n, const void* highest,
                                 double* sum, void* e) {
  const T* in = static_cast<const T*>(x);
  const T* max = static_cast<const T*>(highest);
  T* out = static_cast<T*>(e);
  if (out == nullptr) {
    EBB_INDEPENDENT
    for (int64_t c = 0; c < n; ++c) {
      sum[c] += static_cast<double>(Exp(in[c] - max[c]));
    }
    return;
  }
  EBB_INDEPENDENT
  for (int64_t c = 0; c < n; ++c) out[c] = Exp(in[c] - max[c]);
  EBB_INDEPENDENT
  for (int64_t c = 0; c < n; ++c) sum[c] += static_cast<double>(out[c]);
}

template <class T>
EBB_TARGET_CLONES void ColumnScale(const void* x, int64_t n, const void* factor,
                                   void* out) {
  const T* in = static_cast<const T*>(x);
  const T* factors = static_cast<const T*>(factor);
  T* to = static_cast<T*>(out);
  EBB_INDEPENDENT
  for (int64_t c = 0; c < n; ++c) to[c] = in[c] * factors[c];
}

template <class T>
void ColumnFactor(const double* sum, int64_t n, bool log, void* factor) {
  T* factors = static_cast<T*>(factor);
  for (int64_t c = 0; c < n; ++c) {
    factors[c] = static_cast<T>(log ? std::log(sum[c]) : 1 / sum[c]);
  }
}

template <class T>
EBB_TARGET_CLONES void ColumnOut(const void* x, int64_t n, const void* highest,
                                 const void* factor, bool log, void* out) {
  const T* in = static_cast<const T*>(x);
  const T* max = static_cast<const T*>(highest);
  const T* factors = static_cast<const T*>(factor);
  T* to = static_cast<T*>(out);
  if (log) {
    EBB_INDEPENDENT
    for (int64_t c = 0; c < n; ++c) to[c] = (in[c] - max[c]) - factors[c];
  } else {
    EBB_INDEPENDENT
    for (int64_t c = 0; c < n; ++c) to[c] = Exp(in[c] - max[c]) * factors[c];
  }
}

template <class T>
SoftmaxFunctions FunctionsOf() {
  return {.row_max = &RowMax<T>,
          .row_exp = &RowExp<T>,
          .row_scale = &RowScale<T>,
          .row_exp_scale = &RowExpScale<T>,
          .row_log = &RowLog<T>,
          .column_clear = &ColumnClear<T>,
          .column_max = &ColumnMax<T>,
          .column_exp = &ColumnExp<T>,
          .column_factor = &ColumnFactor<T>,
          .column_scale = &ColumnScale<T>,
          .column_out = &ColumnOut<T>};
}

}  // namespace

SoftmaxFunctions FindSoftmaxFunctions(DType computed) {
  return computed == DType::kF64 ? FunctionsOf<double>() : FunctionsOf<float>();
}

}  // namespace ebb::kernels
