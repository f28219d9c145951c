#include "vm/tensor_contents.h"

#include <cstring>
#include <limits>
#include <string>

#include "bytecode/half.h"
#include "bytecode/shape_rules/geometry.h"
#include "vm/tensor_view.h"

namespace ebb::vm {
namespace {

template <class T>
T Read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// Where the element lies. Byte-sized dtypes only.
const std::byte* AddressOf(const Tensor& tensor, int64_t index) {
  int64_t offset = 0;
  for (std::size_t i = tensor.rank; i-- > 0;) {
    offset += index % tensor.dims[i] * tensor.strides[i];
    index /= tensor.dims[i];
  }
  return tensor.data + offset * (DTypeBits(tensor.dtype) / 8);
}

Error NotInts(const Tensor& tensor) {
  return Error{ErrorCode::kShapeMismatch,
               ShapeText(tensor.dtype, tensor.Dims()) +
                   " holds no integers of whole bytes",
               {}};
}

Expected<int64_t> ReadInt(DType dtype, const std::byte* at) {
  if (dtype == DType::kBool) return Read<uint8_t>(at) != 0 ? 1 : 0;
  if (dtype == DType::kU8) return Read<uint8_t>(at);
  if (dtype == DType::kI8) return Read<int8_t>(at);
  if (dtype == DType::kU16) return Read<uint16_t>(at);
  if (dtype == DType::kI16) return Read<int16_t>(at);
  if (dtype == DType::kU32) return Read<uint32_t>(at);
  if (dtype == DType::kI32) return Read<int32_t>(at);
  if (dtype == DType::kI64) return Read<int64_t>(at);
  const auto value = Read<uint64_t>(at);  // kU64
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return Fail(ErrorCode::kOutOfRange,
                "element " + std::to_string(value) + " is beyond int64");
  }
  return static_cast<int64_t>(value);
}

double ReadFloat(DType dtype, const std::byte* at) {
  if (dtype == DType::kF16) return F16ToF32(Read<uint16_t>(at));
  if (dtype == DType::kBF16) return BF16ToF32(Read<uint16_t>(at));
  if (dtype == DType::kF32) return Read<float>(at);
  return Read<double>(at);
}

bool IsWholeInt(DType dtype) {
  return (IsInteger(dtype) || dtype == DType::kBool) && DTypeBits(dtype) >= 8;
}

bool IsPlainFloat(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 ||
         dtype == DType::kF32 || dtype == DType::kF64;
}

template <class T>
bool Write(int64_t value, std::byte* at) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    if (value < 0) return false;
  } else if (value < static_cast<int64_t>(std::numeric_limits<T>::min()) ||
             value > static_cast<int64_t>(std::numeric_limits<T>::max())) {
    return false;
  }
  const T narrow = static_cast<T>(value);
  std::memcpy(at, &narrow, sizeof(narrow));
  return true;
}

bool WriteInt(DType dtype, int64_t value, std::byte* at) {
  if (dtype == DType::kBool) return Write<uint8_t>(value != 0 ? 1 : 0, at);
  if (dtype == DType::kU8) return Write<uint8_t>(value, at);
  if (dtype == DType::kI8) return Write<int8_t>(value, at);
  if (dtype == DType::kU16) return Write<uint16_t>(value, at);
  if (dtype == DType::kI16) return Write<int16_t>(value, at);
  if (dtype == DType::kU32) return Write<uint32_t>(value, at);
  if (dtype == DType::kI32) return Write<int32_t>(value, at);
  if (dtype == DType::kI64) return Write<int64_t>(value, at);
  return Write<uint64_t>(value, at);
}

}  // namespace

Expected<int64_t> LoadInt(const Tensor& tensor, int64_t index) {
  if (!IsWholeInt(tensor.dtype)) return std::unexpected(NotInts(tensor));
  const int64_t count = *ElementCount(tensor.Dims());
  if (index < 0 || index >= count) {
    return Fail(ErrorCode::kOutOfRange, "element " + std::to_string(index) +
                                            " is outside [0, " +
                                            std::to_string(count) + ")");
  }
  return ReadInt(tensor.dtype, AddressOf(tensor, index));
}

Status StoreInts(std::span<const int64_t> values, Tensor& tensor) {
  if (!IsWholeInt(tensor.dtype) || !IsDense(tensor.Dims(), tensor.Strides())) {
    return std::unexpected(NotInts(tensor));
  }
  const int64_t count = *ElementCount(tensor.Dims());
  if (count != static_cast<int64_t>(values.size())) {
    return Fail(ErrorCode::kShapeMismatch,
                std::to_string(values.size()) + " integers do not fill " +
                    ShapeText(tensor.dtype, tensor.Dims()));
  }
  const int element_bytes = DTypeBits(tensor.dtype) / 8;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!WriteInt(tensor.dtype, values[i],
                  tensor.data + i * static_cast<std::size_t>(element_bytes))) {
      return Fail(ErrorCode::kOutOfRange,
                  std::to_string(values[i]) + " does not fit " +
                      std::string(DTypeName(tensor.dtype)));
    }
  }
  return {};
}

Status AppendContents(const Tensor& tensor, std::vector<int64_t>& ints,
                      std::vector<double>& floats) {
  const bool is_int = IsWholeInt(tensor.dtype);
  if (!is_int && !IsPlainFloat(tensor.dtype)) {
    return Fail(
        ErrorCode::kUnsupported,
        ShapeText(tensor.dtype, tensor.Dims()) + " cannot be read as numbers");
  }
  const int64_t count = *ElementCount(tensor.Dims());
  if (count > kMaxContentCount) {
    return Fail(ErrorCode::kLimit,
                ShapeText(tensor.dtype, tensor.Dims()) + " has " +
                    std::to_string(count) + " elements, at most " +
                    std::to_string(kMaxContentCount) + " are read as a list");
  }
  for (int64_t i = 0; i < count; ++i) {
    const std::byte* at = AddressOf(tensor, i);
    if (is_int) {
      TRY(const int64_t value, ReadInt(tensor.dtype, at));
      ints.push_back(value);
    } else {
      floats.push_back(ReadFloat(tensor.dtype, at));
    }
  }
  return {};
}

}  // namespace ebb::vm
