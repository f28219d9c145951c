#include "vm/kernels/portable/normalize_loops.h"

#include "vm/kernels/portable/lanes.h"

namespace ebb::kernels {
namespace {

template <class T>
EBB_TARGET_CLONES double Sum(const void* x, int64_t n) {
  return static_cast<double>(
      ReduceLanes<SumOp>(static_cast<const T*>(x), n, T{0}));
}

template <class T>
EBB_TARGET_CLONES double SquareSum(const void* x, int64_t n, double mean) {
  const T m = static_cast<T>(mean);
  return static_cast<double>(TransformReduceLanes<SumOp>(
      static_cast<const T*>(x), n, T{0},
      [m](T v) __attribute__((always_inline)) { return (v - m) * (v - m); }));
}

template <class T>
EBB_TARGET_CLONES void Out(const void* x, int64_t n, double mean, double factor,
                           const void* scale, const void* bias, void* out) {
  const T* in = static_cast<const T*>(x);
  const T* scales = static_cast<const T*>(scale);
  const T* biases = static_cast<const T*>(bias);
  T* to = static_cast<T*>(out);
  const T m = static_cast<T>(mean);
  const T f = static_cast<T>(factor);
  if (biases == nullptr) {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) to[i] = (in[i] - m) * f * scales[i];
  } else {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      to[i] = (in[i] - m) * f * scales[i] + biases[i];
    }
  }
}

template <class T>
NormalizeFunctions FunctionsOf() {
  return {.sum = &Sum<T>, .square_sum = &SquareSum<T>, .out = &Out<T>};
}

}  // namespace

NormalizeFunctions FindNormalizeFunctions(DType computed) {
  return computed == DType::kF64 ? FunctionsOf<double>() : FunctionsOf<float>();
}

}  // namespace ebb::kernels
