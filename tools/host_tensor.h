// A dense tensor that owns its bytes: what the tools read from files, make up
// and compare with. 64-byte aligned, so that a session uses it in place.
// Move-only; `View` is valid while it lives and is not changed.
//
// A string tensor's bytes are the block that vm/tensor_view.h describes.
#ifndef EBB_TOOLS_HOST_TENSOR_H_
#define EBB_TOOLS_HOST_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/dtype.h"
#include "bytecode/error.h"
#include "vm/tensor_view.h"

namespace ebb::tools {

class HostTensor {
 public:
  HostTensor() = default;

  // All elements zero; not for strings. kLimit when dims overflow,
  // kOutOfMemory when there is none.
  static Expected<HostTensor> Make(DType dtype, std::vector<int64_t> dims);
  // `bytes` as they are; for strings, a block.
  static Expected<HostTensor> MakeOfBytes(DType dtype,
                                          std::vector<int64_t> dims,
                                          std::size_t bytes);
  static Expected<HostTensor> MakeStrings(std::span<const std::string> strings,
                                          std::vector<int64_t> dims);
  static Expected<HostTensor> Copy(const vm::TensorView& view);

  DType dtype() const { return dtype_; }
  std::span<const int64_t> dims() const { return dims_; }
  int64_t count() const { return count_; }
  std::span<std::byte> bytes() { return {data_.get(), size_}; }
  std::span<const std::byte> bytes() const { return {data_.get(), size_}; }
  vm::TensorView View() const;

  // The same elements under other dims of the same count.
  void Reshape(std::vector<int64_t> dims) { dims_ = std::move(dims); }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };

  DType dtype_ = DType::kInvalid;
  std::vector<int64_t> dims_;
  int64_t count_ = 0;
  std::size_t size_ = 0;
  std::unique_ptr<std::byte[], Free> data_;
};

// Elements of the dims; -1 when that does not fit or a dim is negative.
int64_t CountElements(std::span<const int64_t> dims);

// "f32[1,3,8,8]".
std::string ShapeTextOf(const vm::TensorView& view);

// String `index` of a string tensor's block, which must be sound.
std::string_view StringAt(const std::byte* block, int64_t index);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_HOST_TENSOR_H_
