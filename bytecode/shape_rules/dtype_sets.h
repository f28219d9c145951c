// Which element types an operator's data may have: sets of dtypes, and the
// set for input 0 of every operator (other inputs follow in the rules). What
// is not here has no kernel: a shape rule says so instead of the kernel.
#ifndef EBB_BYTECODE_SHAPE_RULES_DTYPE_SETS_H_
#define EBB_BYTECODE_SHAPE_RULES_DTYPE_SETS_H_

#include <cstdint>
#include <initializer_list>
#include <string>

#include "bytecode/dtype.h"
#include "bytecode/operators.h"

namespace ebb {

using DTypeSet = uint32_t;  // Bit n: the dtype with code n.

constexpr DTypeSet SetOf(std::initializer_list<DType> dtypes) {
  DTypeSet set = 0;
  for (const DType dtype : dtypes) set |= 1U << static_cast<unsigned>(dtype);
  return set;
}
constexpr bool Contains(DTypeSet set, DType dtype) {
  return ((set >> static_cast<unsigned>(dtype)) & 1U) != 0;
}

inline constexpr DTypeSet kFloatTypes =
    SetOf({DType::kF16, DType::kBF16, DType::kF32, DType::kF64});
inline constexpr DTypeSet kSignedTypes =
    SetOf({DType::kI8, DType::kI16, DType::kI32, DType::kI64});
inline constexpr DTypeSet kUnsignedTypes =
    SetOf({DType::kU8, DType::kU16, DType::kU32, DType::kU64});
inline constexpr DTypeSet kNumericTypes =
    kFloatTypes | kSignedTypes | kUnsignedTypes;
inline constexpr DTypeSet kBoolType = SetOf({DType::kBool});
// Whole bytes, known to every kernel that only moves elements.
inline constexpr DTypeSet kPlainTypes = kNumericTypes | kBoolType;
inline constexpr DTypeSet kIndexTypes = SetOf({DType::kI32, DType::kI64});
// Integers that ONNX multiplies and sums.
inline constexpr DTypeSet kWideTypes =
    kIndexTypes | SetOf({DType::kU32, DType::kU64});
inline constexpr DTypeSet kAnyType = ~DTypeSet{1};

// "f32 f64", in the order of the codes.
std::string DTypeSetText(DTypeSet set);

// Dtypes of input 0 (for Full: of the value, input 1).
DTypeSet DataTypes(OperatorCode code);

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_DTYPE_SETS_H_
