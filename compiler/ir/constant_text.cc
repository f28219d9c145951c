#include "compiler/ir/constant_text.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

#include "bytecode/half.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/text.h"

namespace ebb::ir {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::size_t kAlignment = 64;

template <class T>
T Load(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

template <class T>
bool Store(T value, std::vector<std::byte>& bytes) {
  // Not by insert: g++ 12 at -O3 warns there of an overflow that is none.
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return true;
}

template <class T>
std::optional<T> ParseWhole(std::string_view text, int base = 10) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, base);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

template <class Float, class Bits>
std::optional<Float> ParseFloat(std::string_view text) {
  if (text.starts_with("nan(0x") && text.ends_with(')')) {
    const auto bits = ParseWhole<Bits>(text.substr(6, text.size() - 7), 16);
    if (!bits.has_value()) return std::nullopt;
    return std::bit_cast<Float>(*bits);
  }
  if (text == "nan") return std::numeric_limits<Float>::quiet_NaN();
  Float value{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

template <class T>
bool ParseInteger(std::string_view text, std::vector<std::byte>& bytes) {
  const auto value = ParseWhole<T>(text);
  return value.has_value() && Store(*value, bytes);
}

// Numbers wider than a byte; those of one byte would print as characters.
template <class T>
std::string IntegerText(std::span<const std::byte> element) {
  return std::to_string(Load<T>(element));
}

std::string Hex(std::span<const std::byte> bytes) {
  std::string text = "hex\"";
  for (const std::byte byte : bytes) {
    const auto code = std::to_integer<unsigned>(byte);
    text += kHexDigits[code >> 4U];
    text += kHexDigits[code & 15U];
  }
  return text + "\"";
}

std::optional<std::string> StringsText(const Constant& constant,
                                       int64_t count) {
  const auto strings = UnpackStrings(constant.data, count);
  if (!strings.has_value()) return std::nullopt;
  const auto packed = PackStrings(*strings);
  if (packed.size() != constant.data.size() ||
      !std::equal(packed.begin(), packed.end(), constant.data.begin())) {
    return std::nullopt;
  }
  std::string text = "[";
  for (const std::string& string : *strings) {
    if (text.size() > 1) text += ", ";
    text += Quote(string);
  }
  return text + "]";
}

std::optional<std::string> ElementsText(const Constant& constant) {
  const auto count = ElementCount(constant.dims);
  if (!count.has_value() || constant.packing.has_value()) return std::nullopt;
  if (constant.dtype == DType::kString) {
    return constant.repeat ? std::nullopt : StringsText(constant, *count);
  }
  const auto bits = static_cast<std::size_t>(DTypeBits(constant.dtype));
  if (bits < 8) return std::nullopt;
  const std::size_t wanted =
      constant.repeat ? 1 : static_cast<std::size_t>(*count);
  const std::size_t size = bits / 8;
  if (constant.data.size() / size != wanted ||
      constant.data.size() % size != 0) {
    return std::nullopt;
  }
  std::string text;
  for (std::size_t i = 0; i < wanted; ++i) {
    const auto element =
        ElementText(constant.dtype, constant.data.subspan(i * size, size));
    if (!element.has_value()) return std::nullopt;
    if (i > 0) text += ", ";
    text += *element;
  }
  return constant.repeat ? text : "[" + text + "]";
}

}  // namespace

std::optional<std::string> ElementText(DType dtype,
                                       std::span<const std::byte> element) {
  std::string text;
  switch (dtype) {
    case DType::kF32:
      text = FloatText(Load<float>(element));
      break;
    case DType::kF64:
      text = FloatText(Load<double>(element));
      break;
    case DType::kF16:
      text = FloatText(F16ToF32(Load<uint16_t>(element)));
      break;
    case DType::kBF16:
      text = FloatText(BF16ToF32(Load<uint16_t>(element)));
      break;
    case DType::kI8:
      text = IntegerText<int8_t>(element);
      break;
    case DType::kU8:
      text = IntegerText<uint8_t>(element);
      break;
    case DType::kI16:
      text = IntegerText<int16_t>(element);
      break;
    case DType::kU16:
      text = IntegerText<uint16_t>(element);
      break;
    case DType::kI32:
      text = IntegerText<int32_t>(element);
      break;
    case DType::kU32:
      text = IntegerText<uint32_t>(element);
      break;
    case DType::kI64:
      text = IntegerText<int64_t>(element);
      break;
    case DType::kU64:
      text = IntegerText<uint64_t>(element);
      break;
    case DType::kBool:
      text = Load<uint8_t>(element) == 0 ? "false" : "true";
      break;
    default:
      return std::nullopt;
  }
  std::vector<std::byte> back;
  if (!ParseElement(dtype, text, back) ||
      !std::equal(back.begin(), back.end(), element.begin(), element.end())) {
    return std::nullopt;
  }
  return text;
}

bool ParseElement(DType dtype, std::string_view text,
                  std::vector<std::byte>& bytes) {
  switch (dtype) {
    case DType::kF64: {
      const auto value = ParseFloat<double, uint64_t>(text);
      return value.has_value() && Store(*value, bytes);
    }
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16: {
      const auto value = ParseFloat<float, uint32_t>(text);
      if (!value.has_value()) return false;
      if (dtype == DType::kF16) return Store(F32ToF16(*value), bytes);
      if (dtype == DType::kBF16) return Store(F32ToBF16(*value), bytes);
      return Store(*value, bytes);
    }
    case DType::kI8:
      return ParseInteger<int8_t>(text, bytes);
    case DType::kU8:
      return ParseInteger<uint8_t>(text, bytes);
    case DType::kI16:
      return ParseInteger<int16_t>(text, bytes);
    case DType::kU16:
      return ParseInteger<uint16_t>(text, bytes);
    case DType::kI32:
      return ParseInteger<int32_t>(text, bytes);
    case DType::kU32:
      return ParseInteger<uint32_t>(text, bytes);
    case DType::kI64:
      return ParseInteger<int64_t>(text, bytes);
    case DType::kU64:
      return ParseInteger<uint64_t>(text, bytes);
    case DType::kBool:
      if (text != "true" && text != "false") return false;
      return Store<uint8_t>(text == "true" ? 1 : 0, bytes);
    default:
      return false;
  }
}

std::vector<std::byte> PackStrings(std::span<const std::string> strings) {
  std::vector<std::byte> block;
  uint64_t offset = (strings.size() + 1) * sizeof(uint64_t);
  Store(offset, block);
  for (const std::string& string : strings) {
    offset += string.size();
    Store(offset, block);
  }
  for (const std::string& string : strings) {
    const auto bytes = std::as_bytes(std::span(string));
    block.insert(block.end(), bytes.begin(), bytes.end());
  }
  return block;
}

std::optional<std::vector<std::string>> UnpackStrings(
    std::span<const std::byte> block, int64_t count) {
  const auto size = static_cast<uint64_t>(count);
  if (block.size() / sizeof(uint64_t) < size + 1) return std::nullopt;
  std::vector<std::string> strings;
  for (uint64_t i = 0; i < size; ++i) {
    const auto begin = Load<uint64_t>(block.subspan(i * sizeof(uint64_t)));
    const auto end = Load<uint64_t>(block.subspan((i + 1) * sizeof(uint64_t)));
    if (begin > end || end > block.size()) return std::nullopt;
    const auto bytes = block.subspan(begin, end - begin);
    std::string string(bytes.size(), '\0');
    if (!bytes.empty()) std::memcpy(string.data(), bytes.data(), bytes.size());
    strings.push_back(std::move(string));
  }
  return strings;
}

std::span<const std::byte> KeepBytes(Module& module,
                                     std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  const std::shared_ptr<std::byte> kept(
      static_cast<std::byte*>(
          ::operator new(bytes.size(), std::align_val_t(kAlignment))),
      [](std::byte* memory) {
        ::operator delete(memory, std::align_val_t(kAlignment));
      });
  std::memcpy(kept.get(), bytes.data(), bytes.size());
  module.owned.push_back(kept);
  return {kept.get(), bytes.size()};
}

std::optional<int64_t> ElementCount(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) {
      return std::nullopt;
    }
  }
  return count;
}

std::string ConstantDataText(const Constant& constant) {
  const auto elements = ElementsText(constant);
  const std::string text =
      elements.has_value() ? *elements : Hex(constant.data);
  return constant.repeat ? "repeat " + text : text;
}

bool IsPredefined(const Constant& constant) {
  if (constant.name != "true" && constant.name != "false") return false;
  const std::byte value{constant.name == "true" ? uint8_t{1} : uint8_t{0}};
  return constant.dtype == DType::kBool && constant.dims.empty() &&
         !constant.repeat && !constant.declared_only &&
         !constant.packing.has_value() && constant.data.size() == 1 &&
         constant.data[0] == value;
}

}  // namespace ebb::ir
