// The loops behind reduce.h, for the files that instantiate them.
#ifndef EBB_VM_KERNELS_PORTABLE_REDUCE_LOOPS_H_
#define EBB_VM_KERNELS_PORTABLE_REDUCE_LOOPS_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "vm/kernels/portable/lanes.h"
#include "vm/kernels/portable/reduce.h"

namespace ebb::kernels {

// What a reduction of nothing gives.
template <class Op, class T>
constexpr T NeutralOf() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<Op, RunningMaxOp>) {
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  } else if constexpr (std::is_same_v<Op, RunningMinOp>) {
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  } else {
    return T{0};
  }
}

// `T` is the element, `Total` what totals are kept in, `Out` the element as
// the mean divides it (sums of signed integers are made on unsigned ones).
template <class Op, class T, class Total, class Out>
struct Reduction {
  static void ClearTotal(void* total, int64_t n) {
    std::fill_n(static_cast<Total*>(total), n, NeutralOf<Op, Total>());
  }
  static void ClearPartial(void* partial, int64_t n) {
    std::fill_n(static_cast<T*>(partial), n, NeutralOf<Op, T>());
  }
  EBB_TARGET_CLONES static void Rows(const void* tile, int64_t rows, int64_t n,
                                     void* total) {
    const T* p = static_cast<const T*>(tile);
    Total* totals = static_cast<Total*>(total);
    for (int64_t r = 0; r < rows; ++r, p += n) {
      const T row = ReduceLanes<Op>(p, n, NeutralOf<Op, T>());
      totals[r] = Op::template Do<Total>(totals[r], static_cast<Total>(row));
    }
  }
  EBB_TARGET_CLONES static void Columns(const void* tile, int64_t rows,
                                        int64_t n, void* partial) {
    const T* p = static_cast<const T*>(tile);
    T* sums = static_cast<T*>(partial);
    for (; rows >= 4; rows -= 4, p += 4 * n) {
      EBB_INDEPENDENT
      for (int64_t c = 0; c < n; ++c) {
        const T first = Op::template Do<T>(p[c], p[n + c]);
        const T second = Op::template Do<T>(p[2 * n + c], p[3 * n + c]);
        sums[c] =
            Op::template Do<T>(sums[c], Op::template Do<T>(first, second));
      }
    }
    for (; rows > 0; --rows, p += n) {
      EBB_INDEPENDENT
      for (int64_t c = 0; c < n; ++c) {
        sums[c] = Op::template Do<T>(sums[c], p[c]);
      }
    }
  }
  static void Flush(const void* partial, void* total, int64_t n) {
    const T* from = static_cast<const T*>(partial);
    Total* totals = static_cast<Total*>(total);
    for (int64_t i = 0; i < n; ++i) {
      totals[i] =
          Op::template Do<Total>(totals[i], static_cast<Total>(from[i]));
    }
  }
  static void Finish(const void* total, void* out, int64_t n, int64_t divisor) {
    const Total* totals = static_cast<const Total*>(total);
    Out* to = static_cast<Out*>(out);
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_floating_point_v<Out>) {
        const Total mean = totals[i] / static_cast<Total>(divisor);
        to[i] = static_cast<Out>(divisor == 1 ? totals[i] : mean);
      } else if (divisor == 1) {
        to[i] = static_cast<Out>(totals[i]);
      } else {
        // The quotient of wide integers truncates and cannot overflow. The
        // mean of nothing is 0, where a float has NaN.
        using Wide =
            std::conditional_t<std::is_signed_v<Out>, int64_t, uint64_t>;
        const Wide sum = static_cast<Wide>(static_cast<Out>(totals[i]));
        to[i] = static_cast<Out>(
            divisor == 0 ? Wide{0} : sum / static_cast<Wide>(divisor));
      }
    }
  }
};

template <class Op, class T, class Total = T, class Out = T>
ReduceFunctions ReductionOf() {
  using R = Reduction<Op, T, Total, Out>;
  return {.clear_total = &R::ClearTotal,
          .clear_partial = &R::ClearPartial,
          .rows = &R::Rows,
          .columns = &R::Columns,
          .flush = &R::Flush,
          .finish = &R::Finish};
}

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_REDUCE_LOOPS_H_
