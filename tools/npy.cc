#include "tools/npy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "bytecode/atomic_file.h"
#include "bytecode/half.h"
#include "bytecode/mapped_file.h"
#include "tools/element.h"
#include "tools/npy_header.h"

namespace ebb::tools {
namespace {

struct NumpyDType {
  DType dtype;
  char kind;
  int64_t bytes;
};

// The first of equal items is what is written.
constexpr NumpyDType kDTypes[] = {
    {DType::kBool, 'b', 1}, {DType::kI8, 'i', 1},    {DType::kI16, 'i', 2},
    {DType::kI32, 'i', 4},  {DType::kI64, 'i', 8},   {DType::kU8, 'u', 1},
    {DType::kU16, 'u', 2},  {DType::kU32, 'u', 4},   {DType::kU64, 'u', 8},
    {DType::kF16, 'f', 2},  {DType::kF32, 'f', 4},   {DType::kF64, 'f', 8},
    {DType::kC64, 'c', 8},  {DType::kC128, 'c', 16}, {DType::kU8, 'V', 1},
    {DType::kU16, 'V', 2},
};

DType DTypeOf(const NpyHeader& header) {
  if (header.kind == 'U' || header.kind == 'S') return DType::kString;
  for (const NumpyDType& known : kDTypes) {
    if (known.kind == header.kind && known.bytes == header.size) {
      return known.dtype;
    }
  }
  return DType::kInvalid;
}

// Calls `visit(from, to)` for each element: its place in the file, its place
// in row-major order. The first dim varies fastest in Fortran order.
template <class Visit>
void ForEachPlace(const NpyHeader& header, int64_t count, Visit visit) {
  if (!header.fortran_order || header.shape.size() < 2) {
    for (int64_t i = 0; i < count; ++i) visit(i, i);
    return;
  }
  std::vector<int64_t> strides(header.shape.size());
  int64_t stride = 1;
  for (std::size_t d = header.shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(header.shape[d], 1);
  }
  std::vector<int64_t> index(header.shape.size());
  int64_t to = 0;
  for (int64_t from = 0; from < count; ++from) {
    visit(from, to);
    for (std::size_t d = 0; d < index.size(); ++d) {
      to += strides[d];
      if (++index[d] < header.shape[d]) break;
      to -= strides[d] * index[d];
      index[d] = 0;
    }
  }
}

void AppendUtf8(uint32_t point, std::string& text) {
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xc0U | point >> 6U);
    text += static_cast<char>(0x80U | (point & 63U));
  } else if (point < 0x10000) {
    text += static_cast<char>(0xe0U | point >> 12U);
    text += static_cast<char>(0x80U | (point >> 6U & 63U));
    text += static_cast<char>(0x80U | (point & 63U));
  } else {
    text += static_cast<char>(0xf0U | (point >> 18U & 7U));
    text += static_cast<char>(0x80U | (point >> 12U & 63U));
    text += static_cast<char>(0x80U | (point >> 6U & 63U));
    text += static_cast<char>(0x80U | (point & 63U));
  }
}

// Malformed bytes stand for themselves, so that nothing is lost.
std::vector<uint32_t> FromUtf8(std::string_view text) {
  std::vector<uint32_t> points;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0xc0   ? 1
                               : first < 0xe0 ? 2
                               : first < 0xf0 ? 3
                                              : 4;
    uint32_t point = first & (length == 1 ? 0xffU : 0x7fU >> length);
    bool sound = i + length <= text.size();
    for (std::size_t k = 1; sound && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      sound = (next & 0xc0U) == 0x80;
      point = point << 6U | (next & 63U);
    }
    points.push_back(sound ? point : first);
    i += sound ? length : 1;
  }
  return points;
}

// One item of a U or S array; NumPy pads with zeros.
std::string ItemText(const NpyHeader& header, const std::byte* item) {
  std::string text;
  if (header.kind == 'S') {
    text.assign(reinterpret_cast<const char*>(item),
                static_cast<std::size_t>(header.size));
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
  }
  std::vector<uint32_t> points;
  for (int64_t i = 0; i < header.size; ++i) {
    uint32_t point = 0;
    std::memcpy(&point, item + 4 * i, sizeof point);
    points.push_back(header.big_endian ? __builtin_bswap32(point) : point);
  }
  while (!points.empty() && points.back() == 0) points.pop_back();
  for (const uint32_t point : points) AppendUtf8(point, text);
  return text;
}

Expected<HostTensor> ParseStrings(const NpyHeader& header,
                                  const std::byte* data, int64_t count) {
  std::vector<std::string> strings(static_cast<std::size_t>(count));
  ForEachPlace(header, count, [&](int64_t from, int64_t to) {
    strings[static_cast<std::size_t>(to)] =
        ItemText(header, data + from * header.item_bytes());
  });
  return HostTensor::MakeStrings(strings, header.shape);
}

}  // namespace

Expected<HostTensor> ParseNpy(std::span<const std::byte> bytes) {
  TRY(NpyHeader header, ParseNpyHeader(bytes));
  const DType dtype = DTypeOf(header);
  if (dtype == DType::kInvalid) {
    return Fail(ErrorCode::kUnsupported,
                std::string("npy dtype ") + header.kind +
                    std::to_string(header.size) + " is not supported");
  }
  const int64_t count = CountElements(header.shape);
  const int64_t size = header.item_bytes();
  int64_t needed = 0;
  const std::span<const std::byte> data = bytes.subspan(header.data_offset);
  if (count < 0 || __builtin_mul_overflow(count, size, &needed)) {
    return Fail(ErrorCode::kInvalidFile, "shape does not fit 64 bits");
  }
  if (static_cast<uint64_t>(needed) != data.size()) {
    return Fail(ErrorCode::kInvalidFile,
                "holds " + std::to_string(data.size()) + " bytes of data, " +
                    vm::ShapeText(dtype, header.shape) + " needs " +
                    std::to_string(needed));
  }
  if (dtype == DType::kString) {
    // Empty strings take no bytes of the file; their offsets would.
    if (size == 0 && count > (int64_t{1} << 20)) {
      return Fail(ErrorCode::kLimit, "holds more than a million empty strings");
    }
    return ParseStrings(header, data.data(), count);
  }
  TRY(HostTensor tensor, HostTensor::Make(dtype, header.shape));
  std::byte* const to_data = tensor.bytes().data();
  if (!header.fortran_order) {
    std::ranges::copy(data, to_data);
  } else {
    ForEachPlace(header, count, [&](int64_t from, int64_t to) {
      std::memcpy(to_data + to * size, data.data() + from * size,
                  static_cast<std::size_t>(size));
    });
  }
  if (header.big_endian) {
    const int64_t part = header.kind == 'c' ? size / 2 : size;
    for (int64_t at = 0; at < needed; at += part) {
      std::reverse(to_data + at, to_data + at + part);
    }
  }
  return tensor;
}

Expected<HostTensor> ReadNpy(const std::string& path) {
  TRY(const MappedFile file, MappedFile::Open(path));
  return ParseNpy(file.bytes());
}

namespace {

Status WriteStrings(const bytecode::Sink& sink, const vm::TensorView& view,
                    int64_t count) {
  const auto* block = static_cast<const std::byte*>(view.data);
  std::size_t width = 1;
  for (int64_t i = 0; i < count; ++i) {
    width = std::max(width, FromUtf8(StringAt(block, i)).size());
  }
  const std::string header =
      NpyHeaderText("<U" + std::to_string(width), view.dims);
  RETURN_IF_ERROR(sink(std::as_bytes(std::span(header))));
  for (int64_t i = 0; i < count; ++i) {
    std::vector<uint32_t> points = FromUtf8(StringAt(block, i));
    points.resize(width);
    RETURN_IF_ERROR(sink(std::as_bytes(std::span(points))));
  }
  return {};
}

// The dtype that takes the place of one that NumPy lacks.
DType Substitute(DType dtype) {
  switch (dtype) {
    case DType::kBF16:
      return DType::kF32;
    case DType::kU4:
      return DType::kU8;
    case DType::kI4:
      return DType::kI8;
    default:
      return dtype;
  }
}

}  // namespace

Status WriteNpy(const std::string& path, const vm::TensorView& view) {
  const int64_t count = CountElements(view.dims);
  const DType dtype = Substitute(view.dtype);
  if (dtype != view.dtype) {
    TRY(HostTensor wide,
        HostTensor::Make(dtype, {view.dims.begin(), view.dims.end()}));
    for (int64_t i = 0; i < count; ++i) {
      SetElement(dtype, wide.bytes().data(), i,
                 ElementValue(view.dtype, view.data, i));
    }
    return WriteNpy(path, wide.View());
  }
  if (dtype == DType::kString) {
    return bytecode::WriteFileAtomically(path, [&](const bytecode::Sink& sink) {
      return WriteStrings(sink, view, count);
    });
  }
  const auto bytes = DTypeBytes(dtype, count);
  std::string descr;
  for (const NumpyDType& known : kDTypes) {
    if (known.dtype != dtype) continue;
    descr = (known.bytes == 1 ? "|" : "<") + std::string(1, known.kind) +
            std::to_string(known.bytes);
    break;
  }
  if (descr.empty() && DTypeBits(dtype) == 8) descr = "|V1";
  if (descr.empty() || !bytes.has_value()) {
    return Fail(ErrorCode::kUnsupported,
                "npy cannot hold " + std::string(DTypeName(dtype)), path);
  }
  return bytecode::WriteFileAtomically(
      path, [&](const bytecode::Sink& sink) -> Status {
        const std::string header = NpyHeaderText(descr, view.dims);
        RETURN_IF_ERROR(sink(std::as_bytes(std::span(header))));
        return sink({static_cast<const std::byte*>(view.data),
                     static_cast<std::size_t>(*bytes)});
      });
}

Expected<HostTensor> ConvertFromNpy(HostTensor tensor, DType wanted) {
  const DType have = tensor.dtype();
  const std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  const bool same_bits = (wanted == DType::kBF16 && have == DType::kU16) ||
                         (have == DType::kU8 && !HasNumericValue(wanted) &&
                          DTypeBits(wanted) == 8);
  if (same_bits) {
    TRY(HostTensor bits, HostTensor::Make(wanted, dims));
    std::ranges::copy(tensor.bytes(), bits.bytes().begin());
    return bits;
  }
  if (Substitute(wanted) != have || wanted == have) return tensor;
  TRY(HostTensor narrow, HostTensor::Make(wanted, dims));
  for (int64_t i = 0; i < tensor.count(); ++i) {
    SetElement(wanted, narrow.bytes().data(), i,
               ElementValue(have, tensor.bytes().data(), i));
  }
  return narrow;
}

}  // namespace ebb::tools
