// Elementwise arithmetic on integers. Results wrap: the arithmetic is done on
// unsigned numbers, where that is what C++ says.
#include <limits>
#include <type_traits>

#include "vm/kernels/portable/elementwise_loops.h"

namespace ebb::kernels {
namespace {

// Unsigned and at least 32 bits wide, so that no product of promoted small
// types overflows an int.
template <class T>
using Wide =
    std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

struct AddOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
  }
};
struct SubOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
  }
};
struct MulOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
  }
};
// Truncates toward zero; x / 0 is 0 (the processor would trap), and the
// lowest number divided by -1 wraps.
struct DivOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T a, T b) {
    if (b == T{0}) return T{0};
    if constexpr (std::is_signed_v<T>) {
      if (b == T{-1}) return SubOp::Do(T{0}, a);
    }
    return static_cast<T>(a / b);
  }
};
struct IntegerPReluOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T slope) {
    return x < T{0} ? MulOp::Do(x, slope) : x;
  }
};

struct NegOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return SubOp::Do(T{0}, x);
  }
};
struct AbsOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return x < T{0} ? SubOp::Do(T{0}, x) : x;
  }
};
struct ReluOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return x < T{0} ? T{0} : x;
  }
};

template <class T>
TileFunction IntegerUnary(OperatorCode code) {
  switch (code) {
    case OperatorCode::kNeg:
      return &UnaryTile<NegOp, T>;
    case OperatorCode::kAbs:
      return &UnaryTile<AbsOp, T>;
    case OperatorCode::kRelu:
      return &UnaryTile<ReluOp, T>;
    default:
      return nullptr;
  }
}

template <class T>
TileFunction IntegerBinary(OperatorCode code) {
  // Sums and products have the same bits whatever the sign.
  using U = std::make_unsigned_t<T>;
  switch (code) {
    case OperatorCode::kAdd:
      return &BinaryTile<AddOp, U>;
    case OperatorCode::kSub:
      return &BinaryTile<SubOp, U>;
    case OperatorCode::kMul:
      return &BinaryTile<MulOp, U>;
    case OperatorCode::kDiv:
      return &BinaryTile<DivOp, T>;
    case OperatorCode::kMin:
      return &BinaryTile<MinOp, T>;
    case OperatorCode::kMax:
      return &BinaryTile<MaxOp, T>;
    case OperatorCode::kPRelu:
      return &BinaryTile<IntegerPReluOp, T>;
    default:
      return nullptr;
  }
}

}  // namespace

TileFunction FindIntegerUnaryTile(OperatorCode code, DType dtype) {
  switch (dtype) {
    case DType::kI8:
      return IntegerUnary<int8_t>(code);
    case DType::kI16:
      return IntegerUnary<int16_t>(code);
    case DType::kI32:
      return IntegerUnary<int32_t>(code);
    case DType::kI64:
      return IntegerUnary<int64_t>(code);
    case DType::kU8:
      return IntegerUnary<uint8_t>(code);
    case DType::kU16:
      return IntegerUnary<uint16_t>(code);
    case DType::kU32:
      return IntegerUnary<uint32_t>(code);
    case DType::kU64:
      return IntegerUnary<uint64_t>(code);
    default:
      return nullptr;
  }
}

TileFunction FindIntegerBinaryTile(OperatorCode code, DType dtype) {
  switch (dtype) {
    case DType::kI8:
      return IntegerBinary<int8_t>(code);
    case DType::kI16:
      return IntegerBinary<int16_t>(code);
    case DType::kI32:
      return IntegerBinary<int32_t>(code);
    case DType::kI64:
      return IntegerBinary<int64_t>(code);
    case DType::kU8:
      return IntegerBinary<uint8_t>(code);
    case DType::kU16:
      return IntegerBinary<uint16_t>(code);
    case DType::kU32:
      return IntegerBinary<uint32_t>(code);
    case DType::kU64:
      return IntegerBinary<uint64_t>(code);
    default:
      return nullptr;
  }
}

}  // namespace ebb::kernels
