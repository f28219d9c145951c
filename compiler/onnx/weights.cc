#include "compiler/onnx/weights.h"

#include <charconv>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "bytecode/shape_rules/geometry.h"
#include "bytecode/shape_rules/rule.h"

namespace ebb::onnx {
namespace {

using Bytes = std::vector<std::byte>;

std::unexpected<Error> FailTensor(const Tensor& tensor, std::string message) {
  return Fail(ErrorCode::kInvalidModel, std::move(message),
              "tensor \"" + std::string(tensor.name) + "\"");
}

template <class T>
void Append(Bytes& bytes, T value) {
  const auto* at = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), at, at + sizeof value);
}

// The field of TensorProto in which elements of a dtype are listed.
constexpr protozero::pbf_tag_type kFloatData = 4;
constexpr protozero::pbf_tag_type kInt32Data = 5;  // All narrower types too.
constexpr protozero::pbf_tag_type kStringData = 6;
constexpr protozero::pbf_tag_type kInt64Data = 7;
constexpr protozero::pbf_tag_type kDoubleData = 10;
constexpr protozero::pbf_tag_type kUint64Data = 11;

protozero::pbf_tag_type FieldOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
    case DType::kC64:
      return kFloatData;
    case DType::kF64:
    case DType::kC128:
      return kDoubleData;
    case DType::kI64:
      return kInt64Data;
    case DType::kU32:
    case DType::kU64:
      return kUint64Data;
    default:
      return kInt32Data;
  }
}

void AppendInt32(Bytes& bytes, DType dtype, int32_t value) {
  if (DTypeBits(dtype) <= 8) {
    Append(bytes, static_cast<uint8_t>(value));
  } else if (DTypeBits(dtype) == 16) {
    Append(bytes, static_cast<uint16_t>(value));
  } else {
    Append(bytes, value);
  }
}

// Elements come packed or one by one; `wire` is the encoding of a single one.
template <class Get, class GetPacked, class Take>
void Decode(protozero::pbf_reader& in, protozero::pbf_wire_type wire, Get get,
            GetPacked get_packed, Take take) {
  if (in.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const auto element : get_packed()) take(element);
  } else if (in.wire_type() == wire) {
    take(get());
  } else {
    throw std::invalid_argument("a wire type that elements do not have");
  }
}

// Other fields than that of the dtype are passed over: the count is short then.
Bytes DecodeTyped(const Tensor& tensor, DType dtype) {
  using protozero::pbf_wire_type;
  Bytes bytes;
  const protozero::pbf_tag_type field = FieldOf(dtype);
  protozero::pbf_reader in(tensor.message.data(), tensor.message.size());
  while (in.next(field)) {
    switch (field) {
      case kFloatData:
        Decode(
            in, pbf_wire_type::fixed32, [&] { return in.get_float(); },
            [&] { return in.get_packed_float(); },
            [&](float v) { Append(bytes, v); });
        break;
      case kInt64Data:
        Decode(
            in, pbf_wire_type::varint, [&] { return in.get_int64(); },
            [&] { return in.get_packed_int64(); },
            [&](int64_t v) { Append(bytes, v); });
        break;
      case kDoubleData:
        Decode(
            in, pbf_wire_type::fixed64, [&] { return in.get_double(); },
            [&] { return in.get_packed_double(); },
            [&](double v) { Append(bytes, v); });
        break;
      case kUint64Data:
        Decode(
            in, pbf_wire_type::varint, [&] { return in.get_uint64(); },
            [&] { return in.get_packed_uint64(); },
            [&](uint64_t v) {
              if (dtype == DType::kU32) {
                Append(bytes, static_cast<uint32_t>(v));
              } else {
                Append(bytes, v);
              }
            });
        break;
      default:
        Decode(
            in, pbf_wire_type::varint, [&] { return in.get_int32(); },
            [&] { return in.get_packed_int32(); },
            [&](int32_t v) { AppendInt32(bytes, dtype, v); });
    }
  }
  return bytes;
}

// string_data (6) as an offsets-and-bytes block.
Bytes DecodeStrings(const Tensor& tensor) {
  std::vector<std::string_view> strings;
  protozero::pbf_reader in(tensor.message.data(), tensor.message.size());
  while (in.next(kStringData, protozero::pbf_wire_type::length_delimited)) {
    const protozero::data_view view = in.get_view();
    strings.emplace_back(view.data(), view.size());
  }
  Bytes bytes;
  uint64_t offset = (strings.size() + 1) * sizeof(uint64_t);
  for (const std::string_view text : strings) {
    Append(bytes, offset);
    offset += text.size();
  }
  Append(bytes, offset);
  for (const std::string_view text : strings) {
    const auto* at = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), at, at + text.size());
  }
  return bytes;
}

Expected<Bytes> DecodeGuarded(const Tensor& tensor, DType dtype) {
  try {
    return dtype == DType::kString ? DecodeStrings(tensor)
                                   : DecodeTyped(tensor, dtype);
  } catch (const std::exception& error) {
    return FailTensor(tensor, std::string("damaged elements: ") + error.what());
  }
}

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

Expected<std::span<const std::byte>> ExternalBytes(
    const Tensor& tensor, uint64_t needed, ExternalFiles& files,
    std::vector<std::shared_ptr<const void>>& owned) {
  std::string location;
  uint64_t offset = 0;
  uint64_t length = needed;
  for (const auto& [key, value] : tensor.external_data) {
    if (key == "location") {
      location = value;
      continue;
    }
    if (key != "offset" && key != "length") continue;
    const auto number = ParseNumber(value);
    if (!number.has_value()) {
      return FailTensor(tensor, "external data: " + std::string(key) +
                                    " is no number: \"" + std::string(value) +
                                    "\"");
    }
    (key == "offset" ? offset : length) = *number;
  }
  if (location.empty()) {
    return FailTensor(tensor, "external data without a location");
  }
  auto file = files.Open(location);
  if (!file.has_value()) {
    return FailTensor(tensor, "external data: " + file.error().ToString());
  }
  const auto bytes = (*file)->bytes();
  if (length != needed) {
    return FailTensor(tensor, "external data holds " + std::to_string(length) +
                                  " bytes, the dims need " +
                                  std::to_string(needed));
  }
  if (offset > bytes.size() || bytes.size() - offset < length) {
    return FailTensor(tensor, "external data: bytes " + std::to_string(offset) +
                                  " to " + std::to_string(offset + length) +
                                  " are not in \"" + location + "\" of " +
                                  std::to_string(bytes.size()));
  }
  owned.push_back(*file);
  return bytes.subspan(offset, length);
}

}  // namespace

Expected<std::shared_ptr<const MappedFile>> ExternalFiles::Open(
    const std::string& location) {
  namespace fs = std::filesystem;
  if (const auto at = files_.find(location); at != files_.end()) {
    return at->second;
  }
  if (folder_.empty()) {
    return Fail(ErrorCode::kInvalidModel,
                "\"" + location + "\": a model given as bytes has no folder");
  }
  const fs::path relative(location);
  bool leaves = relative.is_absolute();
  for (const fs::path& part : relative) leaves = leaves || part == "..";
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(folder_, error);
  const fs::path path = fs::weakly_canonical(folder / relative, error);
  const fs::path inside = path.lexically_relative(folder);
  leaves = leaves || error || inside.empty() || *inside.begin() == "..";
  if (leaves) {
    return Fail(ErrorCode::kInvalidModel,
                "\"" + location + "\" leaves the model's folder");
  }
  TRY(MappedFile file, MappedFile::Open(path.string()));
  auto shared = std::make_shared<const MappedFile>(std::move(file));
  files_.emplace(location, shared);
  return std::shared_ptr<const MappedFile>(shared);
}

Expected<ir::Constant> ToConstant(
    const Tensor& tensor, ExternalFiles& files,
    std::vector<std::shared_ptr<const void>>& owned) {
  if (tensor.data_type < 0 || tensor.data_type > 255 ||
      !IsValidDType(static_cast<uint8_t>(tensor.data_type))) {
    return Fail(
        ErrorCode::kUnsupported,
        "element type " + std::to_string(tensor.data_type) + " is not known",
        "tensor \"" + std::string(tensor.name) + "\"");
  }
  if (tensor.has_segment) {
    return FailTensor(tensor, "stored in segments, which is not supported");
  }
  ir::Constant constant;
  constant.name = tensor.name;
  constant.dtype = static_cast<DType>(tensor.data_type);
  constant.dims = tensor.dims;
  if (tensor.dims.size() > static_cast<std::size_t>(kMaxRank)) {
    return FailTensor(tensor, "has " + std::to_string(tensor.dims.size()) +
                                  " dims, more than " +
                                  std::to_string(kMaxRank));
  }
  const auto count = ElementCount(constant.dims);
  if (!count.has_value()) {
    return FailTensor(tensor, "dims " + DimsText(constant.dims) +
                                  " are negative or do not fit 64 bits");
  }
  if (constant.dtype == DType::kString) {
    TRY(Bytes bytes, DecodeGuarded(tensor, constant.dtype));
    auto kept = std::make_shared<const Bytes>(std::move(bytes));
    uint64_t first = 0;
    std::memcpy(&first, kept->data(), sizeof first);
    if (first != (static_cast<uint64_t>(*count) + 1) * sizeof first) {
      return FailTensor(
          tensor, "holds " + std::to_string(first / sizeof first - 1) +
                      " strings, dims " + DimsText(constant.dims) + " need " +
                      std::to_string(*count));
    }
    constant.data = *kept;
    owned.push_back(std::move(kept));
    return constant;
  }
  const auto needed = DTypeBytes(constant.dtype, *count);
  if (!needed.has_value()) {
    return FailTensor(tensor, "dims " + DimsText(constant.dims) +
                                  " need more than 64 bits of bytes");
  }
  if (tensor.external) {
    TRY(constant.data,
        ExternalBytes(tensor, static_cast<uint64_t>(*needed), files, owned));
    return constant;
  }
  if (tensor.has_raw_data) {
    constant.data = {reinterpret_cast<const std::byte*>(tensor.raw_data.data()),
                     tensor.raw_data.size()};
  } else {
    TRY(Bytes bytes, DecodeGuarded(tensor, constant.dtype));
    // A typed field holds one int32 for every byte of a sub-byte tensor.
    auto kept = std::make_shared<const Bytes>(std::move(bytes));
    constant.data = *kept;
    owned.push_back(std::move(kept));
  }
  if (constant.data.size() != static_cast<std::size_t>(*needed)) {
    return FailTensor(tensor, "holds " + std::to_string(constant.data.size()) +
                                  " bytes, " +
                                  std::string(DTypeName(constant.dtype)) +
                                  DimsText(constant.dims) + " needs " +
                                  std::to_string(*needed));
  }
  return constant;
}

}  // namespace ebb::onnx
