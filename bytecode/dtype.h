// Element types. Code numbers are those of ONNX's TensorProto.DataType, so
// that a file and a model agree without a table between them; they are part
// of the file format and never change.
#ifndef EBB_BYTECODE_DTYPE_H_
#define EBB_BYTECODE_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace ebb {

enum class DType : uint8_t {
  kInvalid = 0,
  kF32 = 1,
  kU8 = 2,
  kI8 = 3,
  kU16 = 4,
  kI16 = 5,
  kI32 = 6,
  kI64 = 7,
  kString = 8,
  kBool = 9,
  kF16 = 10,
  kF64 = 11,
  kU32 = 12,
  kU64 = 13,
  kC64 = 14,
  kC128 = 15,
  kBF16 = 16,
  kF8E4M3FN = 17,
  kF8E4M3FNUZ = 18,
  kF8E5M2 = 19,
  kF8E5M2FNUZ = 20,
  kU4 = 21,
  kI4 = 22,
  kF4E2M1 = 23,
};

// Name in the text forms: "f32", "bf16", "bool", "string", "f8e4m3fn", …
std::string_view DTypeName(DType dtype);
std::optional<DType> DTypeFromName(std::string_view name);
// The name numpy and ONNX use in messages: "float32", "int64", …
std::string_view DTypeLongName(DType dtype);
// True for the codes listed above except kInvalid.
bool IsValidDType(uint8_t code);

// Bits of one element; 0 for kInvalid and kString.
int DTypeBits(DType dtype);

// Bytes of `count` dense elements, sub-byte types packed and rounded up.
// nullopt on overflow, on a negative count, and for kString.
std::optional<int64_t> DTypeBytes(DType dtype, int64_t count);

bool IsFloat(DType dtype);    // f16, bf16, f32, f64, float8, float4
bool IsInteger(DType dtype);  // signed and unsigned; not bool
bool IsSignedInteger(DType dtype);
bool IsUnsignedInteger(DType dtype);

}  // namespace ebb

#endif  // EBB_BYTECODE_DTYPE_H_
