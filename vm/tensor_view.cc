#include "vm/tensor_view.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "bytecode/shape_rules/geometry.h"
#include "bytecode/shape_rules/rule.h"

namespace ebb::vm {

void DenseStrides(std::span<const int64_t> dims, int64_t* strides) {
  int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    // Of an empty tensor no stride is ever used; it must only not overflow.
    if (dims[i] > 1 && __builtin_mul_overflow(stride, dims[i], &stride)) {
      stride = 0;
    }
  }
}

bool IsDense(std::span<const int64_t> dims, std::span<const int64_t> strides) {
  if (std::ranges::find(dims, 0) != dims.end()) return true;
  int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1) continue;
    if (strides[i] != stride) return false;
    if (__builtin_mul_overflow(stride, dims[i], &stride)) return false;
  }
  return true;
}

std::optional<Extent> ExtentOf(DType dtype, std::span<const int64_t> dims,
                               std::span<const int64_t> strides) {
  const int bits = DTypeBits(dtype);
  if (bits == 0) return std::nullopt;
  const std::optional<int64_t> count = ElementCount(dims);
  if (!count.has_value()) return std::nullopt;
  if (*count == 0) return Extent{};
  if (bits < 8) {
    if (!IsDense(dims, strides)) return std::nullopt;
    const std::optional<int64_t> bytes = DTypeBytes(dtype, *count);
    if (!bytes.has_value()) return std::nullopt;
    return Extent{0, *bytes};
  }
  int64_t low = 0;
  int64_t high = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(dims[i] - 1, strides[i], &reach)) {
      return std::nullopt;
    }
    int64_t& end = reach < 0 ? low : high;
    if (__builtin_add_overflow(end, reach, &end)) return std::nullopt;
  }
  const int64_t element_bytes = bits / 8;
  if (__builtin_mul_overflow(low, element_bytes, &low) ||
      __builtin_mul_overflow(high, element_bytes, &high) ||
      __builtin_add_overflow(high, element_bytes, &high)) {
    return std::nullopt;
  }
  return Extent{low, high};
}

void CopyToDense(DType dtype, std::span<const int64_t> dims,
                 std::span<const int64_t> strides, const std::byte* from,
                 std::byte* to) {
  const int64_t count = *ElementCount(dims);
  if (count == 0) return;
  if (IsDense(dims, strides)) {
    std::memcpy(to, from, static_cast<std::size_t>(*DTypeBytes(dtype, count)));
    return;
  }
  // The innermost dims that are dense together are copied as one run.
  const int64_t element_bytes = DTypeBits(dtype) / 8;
  std::size_t outer = dims.size();
  int64_t run = 1;
  while (outer > 0 && (dims[outer - 1] == 1 || strides[outer - 1] == run)) {
    run *= dims[--outer];
  }
  const auto run_bytes = static_cast<std::size_t>(run * element_bytes);
  std::array<int64_t, kMaxRank> index{};
  for (int64_t done = 0; done < count; done += run) {
    std::memcpy(to, from, run_bytes);
    to += run_bytes;
    for (std::size_t i = outer; i-- > 0;) {
      from += strides[i] * element_bytes;
      if (++index[i] < dims[i]) break;
      index[i] = 0;
      from -= dims[i] * strides[i] * element_bytes;
    }
  }
}

Expected<int64_t> CheckStringBlock(const std::byte* block, int64_t bytes,
                                   int64_t count) {
  int64_t table_bytes = 0;
  if (__builtin_add_overflow(count, 1, &table_bytes) ||
      __builtin_mul_overflow(table_bytes, 8, &table_bytes) ||
      table_bytes > bytes) {
    return Fail(ErrorCode::kInvalidArgument,
                "string block holds " + std::to_string(bytes) +
                    " bytes, the offsets of " + std::to_string(count) +
                    " strings need more");
  }
  uint64_t before = static_cast<uint64_t>(table_bytes);
  for (int64_t i = 0; i <= count; ++i) {
    uint64_t offset = 0;
    std::memcpy(&offset, block + i * 8, sizeof(offset));
    if (offset < before || offset > static_cast<uint64_t>(bytes)) {
      return Fail(ErrorCode::kInvalidArgument,
                  "string block: offset " + std::to_string(i) + " is " +
                      std::to_string(offset) + ", must lie in [" +
                      std::to_string(before) + ", " + std::to_string(bytes) +
                      "]");
    }
    before = offset;
  }
  return static_cast<int64_t>(before);
}

std::string ShapeText(DType dtype, std::span<const int64_t> dims) {
  std::string text(DTypeName(dtype));
  text += '[';
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i != 0) text += ',';
    text += std::to_string(dims[i]);
  }
  return text += ']';
}

}  // namespace ebb::vm
