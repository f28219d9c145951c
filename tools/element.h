// Single elements of dense tensors as numbers and text: for summaries,
// comparisons and made-up inputs. Correct for every dtype, not fast.
#ifndef EBB_TOOLS_ELEMENT_H_
#define EBB_TOOLS_ELEMENT_H_

#include <cstdint>
#include <string>

#include "bytecode/dtype.h"

namespace ebb::tools {

// f16, bf16, f32, f64, the integers from 4 bits on, bool.
bool HasNumericValue(DType dtype);

// Element `index` of dense data. HasNumericValue(dtype) must hold; 64-bit
// integers are rounded.
double ElementValue(DType dtype, const void* data, int64_t index);

// Stores `value` as the dtype, rounded to nearest even for floats and cut off
// for integers, where it must fit. HasNumericValue(dtype) must hold.
void SetElement(DType dtype, void* data, int64_t index, double value);

// Exact for integers; strings quoted; bits in hex where there is no numeric
// value. `data` is a string block for strings.
std::string ElementText(DType dtype, const void* data, int64_t index);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_ELEMENT_H_
