#include "tools/host_tensor.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace ebb::tools {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

void HostTensor::Free::operator()(std::byte* data) const {
  ::operator delete(data, kAlignment);
}

int64_t CountElements(std::span<const int64_t> dims) {
  int64_t count = 1;
  bool empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return -1;
    empty = empty || dim == 0;
    // A zero later on does not excuse an overflow before it, nor after it.
    if (__builtin_mul_overflow(count, std::max<int64_t>(dim, 1), &count)) {
      return -1;
    }
  }
  return empty ? 0 : count;
}

Expected<HostTensor> HostTensor::MakeOfBytes(DType dtype,
                                             std::vector<int64_t> dims,
                                             std::size_t bytes) {
  HostTensor tensor;
  tensor.dtype_ = dtype;
  tensor.count_ = CountElements(dims);
  if (tensor.count_ < 0) {
    return Fail(ErrorCode::kLimit,
                vm::ShapeText(dtype, dims) + " has too many elements");
  }
  tensor.data_.reset(static_cast<std::byte*>(::operator new(
      std::max<std::size_t>(bytes, 1), kAlignment, std::nothrow)));
  if (tensor.data_ == nullptr) {
    return Fail(ErrorCode::kOutOfMemory, "no memory for " +
                                             vm::ShapeText(dtype, dims) + ", " +
                                             std::to_string(bytes) + " bytes");
  }
  tensor.size_ = bytes;
  tensor.dims_ = std::move(dims);
  return tensor;
}

Expected<HostTensor> HostTensor::Make(DType dtype, std::vector<int64_t> dims) {
  const auto bytes = DTypeBytes(dtype, CountElements(dims));
  if (!bytes.has_value()) {
    return Fail(ErrorCode::kLimit,
                vm::ShapeText(dtype, dims) + " has no size in bytes");
  }
  TRY(HostTensor tensor,
      MakeOfBytes(dtype, std::move(dims), static_cast<std::size_t>(*bytes)));
  std::memset(tensor.data_.get(), 0, tensor.size_);
  return tensor;
}

Expected<HostTensor> HostTensor::MakeStrings(
    std::span<const std::string> strings, std::vector<int64_t> dims) {
  std::size_t bytes = (strings.size() + 1) * sizeof(uint64_t);
  for (const std::string& text : strings) bytes += text.size();
  TRY(HostTensor tensor, MakeOfBytes(DType::kString, std::move(dims), bytes));
  uint64_t offset = (strings.size() + 1) * sizeof(uint64_t);
  std::byte* at = tensor.data_.get();
  for (const std::string& text : strings) {
    std::memcpy(at, &offset, sizeof offset);
    std::memcpy(tensor.data_.get() + offset, text.data(), text.size());
    offset += text.size();
    at += sizeof offset;
  }
  std::memcpy(at, &offset, sizeof offset);
  return tensor;
}

Expected<HostTensor> HostTensor::Copy(const vm::TensorView& view) {
  std::vector<int64_t> dims(view.dims.begin(), view.dims.end());
  const auto* from = static_cast<const std::byte*>(view.data);
  if (view.dtype == DType::kString) {
    TRY(const int64_t bytes,
        vm::CheckStringBlock(from, view.byte_size, CountElements(dims)));
    TRY(HostTensor strings, MakeOfBytes(view.dtype, std::move(dims),
                                        static_cast<std::size_t>(bytes)));
    std::memcpy(strings.data_.get(), from, strings.size_);
    return strings;
  }
  TRY(HostTensor tensor, Make(view.dtype, std::move(dims)));
  if (view.strides.empty()) {
    if (tensor.size_ != 0) {
      std::memcpy(tensor.data_.get(), from, tensor.size_);
    }
  } else {
    vm::CopyToDense(view.dtype, view.dims, view.strides, from,
                    tensor.data_.get());
  }
  return tensor;
}

vm::TensorView HostTensor::View() const {
  return {.dtype = dtype_,
          .dims = dims_,
          .strides = {},
          .data = data_.get(),
          .byte_size = static_cast<int64_t>(size_)};
}

std::string ShapeTextOf(const vm::TensorView& view) {
  return vm::ShapeText(view.dtype, view.dims);
}

std::string_view StringAt(const std::byte* block, int64_t index) {
  uint64_t begin = 0;
  uint64_t end = 0;
  const std::byte* at =
      block + static_cast<std::size_t>(index) * sizeof(uint64_t);
  std::memcpy(&begin, at, sizeof begin);
  std::memcpy(&end, at + sizeof begin, sizeof end);
  return {reinterpret_cast<const char*>(block) + begin,
          static_cast<std::size_t>(end - begin)};
}

}  // namespace ebb::tools
