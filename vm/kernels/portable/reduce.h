// What the reduction kernel needs from a dtype: functions on dense tiles. Two
// directions: `rows` reduces each row of a tile to one number, `columns` adds
// the rows of a tile to one row of numbers. Totals may be wider than the
// elements: sums of f32 are gathered in f32 over a few dozen elements at most
// and in f64 above that, so a long reduction is as exact as a short one.
// Integers wrap. Minimum and maximum hand a NaN on, as numpy does.
#ifndef EBB_VM_KERNELS_PORTABLE_REDUCE_H_
#define EBB_VM_KERNELS_PORTABLE_REDUCE_H_

#include <cstdint>
#include <optional>

#include "bytecode/dtype.h"
#include "bytecode/operators.h"

namespace ebb::kernels {

// Elements of `partial` are of the computed dtype, those of `total` of at
// most 8 bytes.
struct ReduceFunctions {
  // Fill with what a reduction of nothing gives.
  void (*clear_total)(void* total, int64_t n) = nullptr;
  void (*clear_partial)(void* partial, int64_t n) = nullptr;
  // total[r] takes in row r of the tile.
  void (*rows)(const void* tile, int64_t rows, int64_t n,
               void* total) = nullptr;
  // partial[c] takes in column c of the tile.
  void (*columns)(const void* tile, int64_t rows, int64_t n,
                  void* partial) = nullptr;
  // total[i] takes in partial[i].
  void (*flush)(const void* partial, void* total, int64_t n) = nullptr;
  // To elements of the computed dtype; a divisor other than 1 for the mean.
  void (*finish)(const void* total, void* out, int64_t n,
                 int64_t divisor) = nullptr;
};

// `dtype` is what is computed in: no f16, bf16 or bool. nullopt: no kernel.
std::optional<ReduceFunctions> FindReduction(OperatorCode code, DType dtype);
std::optional<ReduceFunctions> FindFloatReduction(OperatorCode code,
                                                  DType dtype);
std::optional<ReduceFunctions> FindIntegerReduction(OperatorCode code,
                                                    DType dtype);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_REDUCE_H_
