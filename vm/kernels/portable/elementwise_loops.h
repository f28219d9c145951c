// The loops that tile functions are made of, for the files that instantiate
// them with a functor.
#ifndef EBB_VM_KERNELS_PORTABLE_ELEMENTWISE_LOOPS_H_
#define EBB_VM_KERNELS_PORTABLE_ELEMENTWISE_LOOPS_H_

#include <cstdint>
#include <type_traits>

#include "vm/kernels/portable/elementwise.h"
#include "vm/kernels/portable/target.h"

namespace ebb::kernels {

template <class F, class T>
EBB_TARGET_CLONES void UnaryTile(const void* const* inputs, void* output,
                                 int64_t n, const TileParams& params) {
  const T* x = static_cast<const T*>(inputs[0]);
  T* out = static_cast<T*>(output);
  const T alpha = static_cast<T>(params.alpha);
  const T beta = static_cast<T>(params.beta);
  EBB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = F::Do(x[i], alpha, beta);
}

template <class F, class T, class Out = T>
EBB_TARGET_CLONES void BinaryTile(const void* const* inputs, void* output,
                                  int64_t n, const TileParams&) {
  const T* a = static_cast<const T*>(inputs[0]);
  const T* b = static_cast<const T*>(inputs[1]);
  Out* out = static_cast<Out*>(output);
  EBB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = F::Do(a[i], b[i]);
}

// As numpy: a NaN on either side is the result.
struct MinOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      const T smaller = a < b ? a : b;  // b when either is NaN
      return a != a ? a : smaller;
    } else {
      return a < b ? a : b;
    }
  }
};
struct MaxOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      const T larger = a > b ? a : b;  // b when either is NaN
      return a != a ? a : larger;
    } else {
      return a > b ? a : b;
    }
  }
};

struct PReluOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T slope) {
    const T scaled = static_cast<T>(x * slope);
    return x < T{0} ? scaled : x;
  }
};

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_ELEMENTWISE_LOOPS_H_
