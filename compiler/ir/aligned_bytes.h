// Memory for the elements of a constant that the compiler makes: aligned for
// any kernel, so that a program built from it runs without another copy.
// `data` is null when there is no memory.
//
//   auto bytes = std::make_shared<ir::AlignedBytes>(size);
//   constant.data = bytes->span();
//   module.owned.push_back(std::move(bytes));
#ifndef EBB_COMPILER_IR_ALIGNED_BYTES_H_
#define EBB_COMPILER_IR_ALIGNED_BYTES_H_

#include <cstddef>
#include <new>
#include <span>

namespace ebb::ir {

class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t size)
      : size_(size),
        data_(static_cast<std::byte*>(
            ::operator new(size, kAlignment, std::nothrow))) {}
  ~AlignedBytes() { ::operator delete(data_, kAlignment); }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;

  std::byte* data() { return data_; }
  std::span<const std::byte> span() const { return {data_, size_}; }

 private:
  static constexpr std::align_val_t kAlignment{64};

  std::size_t size_;
  std::byte* data_;
};

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_ALIGNED_BYTES_H_
