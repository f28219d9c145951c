// Conversion of dense runs between any two of the numeric dtypes (f16, bf16,
// f32, f64, the integers of 8 to 64 bits, bool). Narrowing floats rounds to
// nearest even; floats to integers truncate, and what does not fit goes
// through i32 or i64 as on x86 (scalar.h); integers wrap; anything but zero
// is true, NaN included. Input and output may not overlap.
//
//   ConvertFunction f = FindConversion(DType::kF16, DType::kF32);
//   f(halves, floats, count);
#ifndef EBB_VM_KERNELS_PORTABLE_CONVERT_H_
#define EBB_VM_KERNELS_PORTABLE_CONVERT_H_

#include <cstdint>

#include "bytecode/dtype.h"

namespace ebb::kernels {

using ConvertFunction = void (*)(const void* from, void* to, int64_t n);

// nullptr when one of the two is not a numeric dtype of whole bytes.
ConvertFunction FindConversion(DType from, DType to);

// Parts of the table, one per kind of source (split to keep files small to
// compile).
ConvertFunction FindConversionFromFloat(DType from, DType to);
ConvertFunction FindConversionFromSigned(DType from, DType to);
ConvertFunction FindConversionFromUnsigned(DType from, DType to);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_CONVERT_H_
