#include "tools/element.h"

#include <array>
#include <cstddef>
#include <cstring>

#include "bytecode/half.h"
#include "tools/exit_code.h"
#include "tools/host_tensor.h"
#include "tools/quantities.h"

namespace ebb::tools {
namespace {

template <class T>
T Get(const void* data, int64_t index) {
  T value;
  std::memcpy(&value,
              static_cast<const std::byte*>(data) +
                  static_cast<std::size_t>(index) * sizeof value,
              sizeof value);
  return value;
}

template <class T>
void Put(void* data, int64_t index, T value) {
  std::memcpy(static_cast<std::byte*>(data) +
                  static_cast<std::size_t>(index) * sizeof value,
              &value, sizeof value);
}

// Two elements a byte, the first in the low half.
unsigned Nibble(const void* data, int64_t index) {
  const auto byte = Get<uint8_t>(data, index / 2);
  return index % 2 == 0 ? byte & 15U : byte >> 4U;
}

void PutNibble(void* data, int64_t index, unsigned value) {
  const unsigned old = Get<uint8_t>(data, index / 2);
  const unsigned merged = index % 2 == 0 ? (old & 0xf0U) | (value & 15U)
                                         : (old & 15U) | ((value & 15U) << 4U);
  Put(data, index / 2, static_cast<uint8_t>(merged));
}

int SignedNibble(unsigned nibble) {
  return static_cast<int>(nibble) - (nibble >= 8 ? 16 : 0);
}

std::string HexText(const void* data, int64_t index, int bytes) {
  constexpr std::array<char, 17> kDigits = {"0123456789abcdef"};
  std::string text = "0x";
  for (int i = bytes - 1; i >= 0; --i) {
    const auto byte = Get<uint8_t>(data, index * bytes + i);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace

bool HasNumericValue(DType dtype) {
  switch (dtype) {
    case DType::kF16:
    case DType::kBF16:
    case DType::kF32:
    case DType::kF64:
    case DType::kBool:
      return true;
    default:
      return IsInteger(dtype);
  }
}

double ElementValue(DType dtype, const void* data, int64_t index) {
  switch (dtype) {
    case DType::kF32:
      return static_cast<double>(Get<float>(data, index));
    case DType::kF64:
      return Get<double>(data, index);
    case DType::kF16:
      return static_cast<double>(F16ToF32(Get<uint16_t>(data, index)));
    case DType::kBF16:
      return static_cast<double>(BF16ToF32(Get<uint16_t>(data, index)));
    case DType::kBool:
      return Get<uint8_t>(data, index) != 0 ? 1 : 0;
    case DType::kU8:
      return Get<uint8_t>(data, index);
    case DType::kI8:
      return Get<int8_t>(data, index);
    case DType::kU16:
      return Get<uint16_t>(data, index);
    case DType::kI16:
      return Get<int16_t>(data, index);
    case DType::kU32:
      return Get<uint32_t>(data, index);
    case DType::kI32:
      return Get<int32_t>(data, index);
    case DType::kU64:
      return static_cast<double>(Get<uint64_t>(data, index));
    case DType::kI64:
      return static_cast<double>(Get<int64_t>(data, index));
    case DType::kU4:
      return Nibble(data, index);
    case DType::kI4:
      return SignedNibble(Nibble(data, index));
    default:
      return 0;
  }
}

void SetElement(DType dtype, void* data, int64_t index, double value) {
  switch (dtype) {
    case DType::kF32:
      return Put(data, index, static_cast<float>(value));
    case DType::kF64:
      return Put(data, index, value);
    case DType::kF16:
      return Put(data, index, F64ToF16(value));
    case DType::kBF16:
      return Put(data, index, F64ToBF16(value));
    case DType::kBool:
      return Put(data, index, static_cast<uint8_t>(value != 0 ? 1 : 0));
    case DType::kU8:
      return Put(data, index, static_cast<uint8_t>(value));
    case DType::kI8:
      return Put(data, index, static_cast<int8_t>(value));
    case DType::kU16:
      return Put(data, index, static_cast<uint16_t>(value));
    case DType::kI16:
      return Put(data, index, static_cast<int16_t>(value));
    case DType::kU32:
      return Put(data, index, static_cast<uint32_t>(value));
    case DType::kI32:
      return Put(data, index, static_cast<int32_t>(value));
    case DType::kU64:
      return Put(data, index, static_cast<uint64_t>(value));
    case DType::kI64:
      return Put(data, index, static_cast<int64_t>(value));
    case DType::kU4:
    case DType::kI4:
      return PutNibble(data, index,
                       static_cast<unsigned>(static_cast<int>(value)));
    default:
      return;
  }
}

std::string ElementText(DType dtype, const void* data, int64_t index) {
  switch (dtype) {
    case DType::kString:
      return "\"" +
             Printable(StringAt(static_cast<const std::byte*>(data), index)) +
             "\"";
    case DType::kBool:
      return Get<uint8_t>(data, index) != 0 ? "true" : "false";
    case DType::kI64:
      return std::to_string(Get<int64_t>(data, index));
    case DType::kU64:
      return std::to_string(Get<uint64_t>(data, index));
    case DType::kF32:
      return NumberText(static_cast<double>(Get<float>(data, index)));
    case DType::kC64:
      return NumberText(static_cast<double>(Get<float>(data, 2 * index))) +
             (Get<float>(data, 2 * index + 1) < 0 ? "" : "+") +
             NumberText(static_cast<double>(Get<float>(data, 2 * index + 1))) +
             "i";
    case DType::kC128:
      return NumberText(Get<double>(data, 2 * index)) +
             (Get<double>(data, 2 * index + 1) < 0 ? "" : "+") +
             NumberText(Get<double>(data, 2 * index + 1)) + "i";
    default:
      break;
  }
  if (HasNumericValue(dtype)) {
    return NumberText(ElementValue(dtype, data, index));
  }
  const int bits = DTypeBits(dtype);
  return bits >= 8 ? HexText(data, index, bits / 8)
                   : std::to_string(Nibble(data, index));
}

}  // namespace ebb::tools
