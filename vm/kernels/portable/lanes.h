// Reduces a dense run in many lanes at once. Compilers may not reorder sums
// and NaN-aware maxima by themselves, and a single chain of them is up to 16
// times slower; here the order is stated: lane j takes elements j, j + L, …,
// then the lanes are combined pairwise. The order does not depend on the
// processor.
//
//   float sum = ReduceLanes<SumOp>(p, n, 0.0F);
#ifndef EBB_VM_KERNELS_PORTABLE_LANES_H_
#define EBB_VM_KERNELS_PORTABLE_LANES_H_

#include <cstdint>
#include <type_traits>

#include "vm/kernels/portable/target.h"

namespace ebb::kernels {

struct SumOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T a, T b) {
    return static_cast<T>(a + b);
  }
};
// `a` is the running value: once NaN, it stays.
struct RunningMaxOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T a, T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return ((x > a) | (x != x)) ? x : a;
    } else {
      return x > a ? x : a;
    }
  }
};
struct RunningMinOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T a, T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return ((x < a) | (x != x)) ? x : a;
    } else {
      return x < a ? x : a;
    }
  }
};

template <class T>
inline constexpr int kLanes = sizeof(T) == 8 ? 16 : 32;

// op(…op(op(neutral, f(p[0])), f(p[1]))…) in lanes, `f` applied to each
// element on the way.
template <class Op, class T, class F>
EBB_ALWAYS_INLINE T TransformReduceLanes(const T* p, int64_t n, T neutral,
                                         F f) {
  constexpr int kL = kLanes<T>;
  if (n < kL) {
    T result = neutral;
    for (int64_t i = 0; i < n; ++i) {
      result = Op::template Do<T>(result, f(p[i]));
    }
    return result;
  }
  T lanes[kL];
  for (int j = 0; j < kL; ++j) lanes[j] = neutral;
  int64_t i = 0;
  for (; i + kL <= n; i += kL) {
    for (int j = 0; j < kL; ++j) {
      lanes[j] = Op::template Do<T>(lanes[j], f(p[i + j]));
    }
  }
  for (int j = 0; i < n; ++i, ++j) {
    lanes[j] = Op::template Do<T>(lanes[j], f(p[i]));
  }
  for (int width = kL / 2; width > 0; width /= 2) {
    for (int j = 0; j < width; ++j) {
      lanes[j] = Op::template Do<T>(lanes[j], lanes[j + width]);
    }
  }
  return lanes[0];
}

template <class Op, class T>
EBB_ALWAYS_INLINE T ReduceLanes(const T* p, int64_t n, T neutral) {
  return TransformReduceLanes<Op>(
      p, n, neutral, [](T x) __attribute__((always_inline)) { return x; });
}

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_LANES_H_
