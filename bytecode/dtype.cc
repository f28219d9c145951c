#include "bytecode/dtype.h"

#include <array>
#include <cstddef>
#include <limits>

namespace ebb {
namespace {

enum class Class : uint8_t { kNone, kFloat, kSigned, kUnsigned, kOther };

struct Row {
  std::string_view name;
  std::string_view long_name;
  uint8_t bits;
  Class cls;
};

constexpr std::array<Row, 24> kRows = {{
    {"invalid", "invalid", 0, Class::kNone},
    {"f32", "float32", 32, Class::kFloat},
    {"u8", "uint8", 8, Class::kUnsigned},
    {"i8", "int8", 8, Class::kSigned},
    {"u16", "uint16", 16, Class::kUnsigned},
    {"i16", "int16", 16, Class::kSigned},
    {"i32", "int32", 32, Class::kSigned},
    {"i64", "int64", 64, Class::kSigned},
    {"string", "string", 0, Class::kOther},
    {"bool", "bool", 8, Class::kOther},
    {"f16", "float16", 16, Class::kFloat},
    {"f64", "float64", 64, Class::kFloat},
    {"u32", "uint32", 32, Class::kUnsigned},
    {"u64", "uint64", 64, Class::kUnsigned},
    {"c64", "complex64", 64, Class::kOther},
    {"c128", "complex128", 128, Class::kOther},
    {"bf16", "bfloat16", 16, Class::kFloat},
    {"f8e4m3fn", "float8e4m3fn", 8, Class::kFloat},
    {"f8e4m3fnuz", "float8e4m3fnuz", 8, Class::kFloat},
    {"f8e5m2", "float8e5m2", 8, Class::kFloat},
    {"f8e5m2fnuz", "float8e5m2fnuz", 8, Class::kFloat},
    {"u4", "uint4", 4, Class::kUnsigned},
    {"i4", "int4", 4, Class::kSigned},
    {"f4e2m1", "float4e2m1", 4, Class::kFloat},
}};

const Row& RowOf(DType dtype) {
  const auto code = static_cast<std::size_t>(dtype);
  return kRows[code < kRows.size() ? code : 0];
}

}  // namespace

std::string_view DTypeName(DType dtype) { return RowOf(dtype).name; }

std::string_view DTypeLongName(DType dtype) { return RowOf(dtype).long_name; }

std::optional<DType> DTypeFromName(std::string_view name) {
  for (std::size_t code = 1; code < kRows.size(); ++code) {
    if (kRows[code].name == name) return static_cast<DType>(code);
  }
  return std::nullopt;
}

bool IsValidDType(uint8_t code) { return code > 0 && code < kRows.size(); }

int DTypeBits(DType dtype) { return RowOf(dtype).bits; }

std::optional<int64_t> DTypeBytes(DType dtype, int64_t count) {
  const int bits = DTypeBits(dtype);
  if (bits == 0 || count < 0) return std::nullopt;
  if (count > std::numeric_limits<int64_t>::max() / bits) {
    // Whole bytes first: the product of bits alone may overflow.
    if (bits < 8) return count / (8 / bits) + (count % (8 / bits) != 0);
    if (count > std::numeric_limits<int64_t>::max() / (bits / 8)) {
      return std::nullopt;
    }
    return count * (bits / 8);
  }
  return (count * bits + 7) / 8;
}

bool IsFloat(DType dtype) { return RowOf(dtype).cls == Class::kFloat; }

bool IsSignedInteger(DType dtype) { return RowOf(dtype).cls == Class::kSigned; }

bool IsUnsignedInteger(DType dtype) {
  return RowOf(dtype).cls == Class::kUnsigned;
}

bool IsInteger(DType dtype) {
  return IsSignedInteger(dtype) || IsUnsignedInteger(dtype);
}

}  // namespace ebb
