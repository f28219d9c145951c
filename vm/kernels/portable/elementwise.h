// The elementwise family: one kernel for all operators whose output element
// depends on the same place of up to five broadcast inputs. What differs is
// a tile function, which sees dense runs only; strides, broadcasting, 16-bit
// floats and slices are the kernel's part. A new operator is a functor and a
// line in the table of its dtypes.
//
// Tile functions may be given an output that is one of the inputs (results in
// place): element i is read before it is written, nothing else is.
#ifndef EBB_VM_KERNELS_PORTABLE_ELEMENTWISE_H_
#define EBB_VM_KERNELS_PORTABLE_ELEMENTWISE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "bytecode/dtype.h"
#include "bytecode/operators.h"
#include "vm/kernels/portable/convert.h"

namespace ebb::kernels {

// BatchNormalization has the most.
inline constexpr std::size_t kMaxTileInputs = 5;

struct TileParams {
  float alpha = 0;
  float beta = 0;
  ConvertFunction convert = nullptr;
};

// inputs: nullptr where an optional one is absent.
using TileFunction = void (*)(const void* const* inputs, void* output,
                              int64_t n, const TileParams& params);

// The tables, by kind of operator and dtype of computing (f16 and bf16 are
// computed in f32 and never get here). nullptr: no such kernel.
TileFunction FindFloatUnaryTile(OperatorCode code, DType dtype);
TileFunction FindGeluTanhTile(DType dtype);
TileFunction FindIntegerUnaryTile(OperatorCode code, DType dtype);
TileFunction FindFloatBinaryTile(OperatorCode code, DType dtype);
TileFunction FindIntegerBinaryTile(OperatorCode code, DType dtype);
// Equal, Less and LessOrEqual; the output is bool.
TileFunction FindCompareTile(OperatorCode code, DType dtype);
TileFunction FindLogicalTile(OperatorCode code);
// Inputs: x, lowest, highest.
TileFunction FindClipTile(DType dtype);
// Inputs: condition, x, y; elements of `bytes` bytes.
TileFunction FindWhereTile(int bytes);
// Base f32, f64, i32 or i64; exponent f32 or f64 with a float base of the
// same dtype, i64 or f64 with an integer base.
TileFunction FindPowTile(DType base, DType exponent);
// Inputs: x, scale, bias, mean, variance; f32 or f64. alpha: epsilon.
TileFunction FindBatchNormalizationTile(DType dtype);

// What Prepare needs to know of an operator: the function, the dtypes that
// it computes in, and the price of an element in bytes moved.
struct TileOperation {
  TileFunction function = nullptr;
  std::array<DType, kMaxTileInputs> inputs{};
  DType output = DType::kInvalid;
  TileParams params;
  bool swapped = false;  // The first two inputs change places.
  int weight = 1;
};

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_ELEMENTWISE_H_
