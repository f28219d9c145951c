// A tensor as it crosses the session's border: a pointer with a description,
// owning nothing. Arithmetic of dims and strides stands here as well.
//
// Strides count elements, may be 0 or negative, and are as many as the dims;
// none means dense row-major. Elements smaller than a byte are always dense.
// A string tensor's bytes are an offsets-and-bytes block: count + 1
// little-endian u64 offsets from its start, then the bytes.
#ifndef EBB_VM_TENSOR_VIEW_H_
#define EBB_VM_TENSOR_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "bytecode/dtype.h"
#include "bytecode/error.h"

namespace ebb::vm {

struct TensorView {
  DType dtype = DType::kInvalid;
  std::span<const int64_t> dims;
  std::span<const int64_t> strides;  // Empty: dense row-major.
  void* data = nullptr;
  // Size of the buffer behind `data`. Strings need it; else 0 means exactly
  // what dims and strides reach.
  int64_t byte_size = 0;
};

// Fills in dense row-major strides.
void DenseStrides(std::span<const int64_t> dims, int64_t* strides);
// Dims of 1 or less may have any stride; so may all of an empty tensor.
bool IsDense(std::span<const int64_t> dims, std::span<const int64_t> strides);

// Bytes that a view reaches, relative to its first element: [low, high).
struct Extent {
  int64_t low = 0;
  int64_t high = 0;
};
// nullopt on overflow, on a negative dim, and for what has no elements of a
// fixed size (kString, kInvalid). Sub-byte elements must be dense.
std::optional<Extent> ExtentOf(DType dtype, std::span<const int64_t> dims,
                               std::span<const int64_t> strides);

// Copies the elements of a strided view into a dense buffer, which does not
// overlap it. Not for strings.
void CopyToDense(DType dtype, std::span<const int64_t> dims,
                 std::span<const int64_t> strides, const std::byte* from,
                 std::byte* to);

// Holds a string tensor's block against its count of elements: offsets ascend
// and stay inside. Returns the bytes that are used.
Expected<int64_t> CheckStringBlock(const std::byte* block, int64_t bytes,
                                   int64_t count);

// "f32[1,3,224,224]".
std::string ShapeText(DType dtype, std::span<const int64_t> dims);

}  // namespace ebb::vm

#endif  // EBB_VM_TENSOR_VIEW_H_
