// Single elements of tensors as numbers: for value inputs of operators, and
// for instructions between integers and tensors. Elements are addressed by
// their row-major index, whatever the strides; the tensor is not packed.
#ifndef EBB_VM_TENSOR_CONTENTS_H_
#define EBB_VM_TENSOR_CONTENTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "bytecode/error.h"
#include "vm/value.h"

namespace ebb::vm {

// No operator reads more than this out of a value input.
inline constexpr int64_t kMaxContentCount = 65'536;

// An element of an integer or bool tensor. u64 beyond int64 is kOutOfRange.
Expected<int64_t> LoadInt(const Tensor& tensor, int64_t index);

// Writes all elements of a dense integer or bool tensor. A number that the
// dtype cannot hold is kOutOfRange.
Status StoreInts(std::span<const int64_t> values, Tensor& tensor);

// Appends all elements to `ints` (integers, bool) or `floats` (floats).
Status AppendContents(const Tensor& tensor, std::vector<int64_t>& ints,
                      std::vector<double>& floats);

}  // namespace ebb::vm

#endif  // EBB_VM_TENSOR_CONTENTS_H_
