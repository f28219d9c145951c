#include "compiler/onnx/weights.h"

#include <charconv>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <protozero/pbf_reader.hpp>

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

// Elements in the typed fields: float_data (4), int32_data (5: all narrower
// types too), int64_data (7), double_data (10), uint64_data (11).
template <class Value, class Get, class GetPacked>
void Decode(protozero::pbf_reader& in, Get get, GetPacked get_packed,
            Value value) {
  if (in.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const auto element : get_packed(in)) value(element);
  } else {
    value(get(in));
  }
}

void AppendInt32(Bytes& bytes, DType dtype, int32_t value) {
  switch (DTypeBits(dtype)) {
    case 8:
    case 4:
      Append(bytes, static_cast<uint8_t>(value));
      break;
    case 16:
      Append(bytes, static_cast<uint16_t>(value));
      break;
    default:
      Append(bytes, value);
  }
}

Bytes DecodeTyped(const Tensor& tensor, DType dtype) {
  using protozero::pbf_reader;
  Bytes bytes;
  pbf_reader in(tensor.message.data(), tensor.message.size());
  while (in.next()) {
    switch (in.tag()) {
      case 4:
        Decode(
            in, [](pbf_reader& r) { return r.get_float(); },
            [](pbf_reader& r) { return r.get_packed_float(); },
            [&](float v) { Append(bytes, v); });
        break;
      case 5:
        Decode(
            in, [](pbf_reader& r) { return r.get_int32(); },
            [](pbf_reader& r) { return r.get_packed_int32(); },
            [&](int32_t v) { AppendInt32(bytes, dtype, v); });
        break;
      case 7:
        Decode(
            in, [](pbf_reader& r) { return r.get_int64(); },
            [](pbf_reader& r) { return r.get_packed_int64(); },
            [&](int64_t v) { Append(bytes, v); });
        break;
      case 10:
        Decode(
            in, [](pbf_reader& r) { return r.get_double(); },
            [](pbf_reader& r) { return r.get_packed_double(); },
            [&](double v) { Append(bytes, v); });
        break;
      case 11:
        Decode(
            in, [](pbf_reader& r) { return r.get_uint64(); },
            [](pbf_reader& r) { return r.get_packed_uint64(); },
            [&](uint64_t v) {
              if (dtype == DType::kU32) {
                Append(bytes, static_cast<uint32_t>(v));
              } else {
                Append(bytes, v);
              }
            });
        break;
      default:
        in.skip();
    }
  }
  return bytes;
}

// string_data (6) as an offsets-and-bytes block.
Bytes DecodeStrings(const Tensor& tensor) {
  std::vector<std::string_view> strings;
  protozero::pbf_reader in(tensor.message.data(), tensor.message.size());
  while (in.next(6)) {
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
    return FailTensor(
        tensor, "external data: bytes " + std::to_string(offset) + " to " +
                    std::to_string(offset + length) + " are not in \"" +
                    location + "\" of " + std::to_string(bytes.size()));
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
    return Fail(ErrorCode::kUnsupported,
                "element type " + std::to_string(tensor.data_type) +
                    " is not known",
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
      return FailTensor(tensor,
                        "holds " + std::to_string(first / sizeof first - 1) +
                            " strings, dims " + DimsText(constant.dims) +
                            " need " + std::to_string(*count));
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
    TRY(constant.data, ExternalBytes(tensor, static_cast<uint64_t>(*needed),
                                     files, owned));
    return constant;
  }
  if (tensor.has_raw_data) {
    constant.data = {
        reinterpret_cast<const std::byte*>(tensor.raw_data.data()),
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
