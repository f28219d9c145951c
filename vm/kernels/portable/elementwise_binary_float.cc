// Elementwise operators with two float inputs, and Clip, on f32 and f64.
#include <cmath>
#include <limits>

#include "vm/kernels/portable/elementwise_loops.h"
#include "vm/kernels/portable/math_f32.h"

namespace ebb::kernels {
namespace {

struct AddOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T a, T b) {
    return a + b;
  }
};
struct SubOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T a, T b) {
    return a - b;
  }
};
struct MulOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T a, T b) {
    return a * b;
  }
};
struct DivOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T a, T b) {
    return a / b;
  }
};

template <class T>
TileFunction FloatBinary(OperatorCode code) {
  switch (code) {
    case OperatorCode::kAdd:
      return &BinaryTile<AddOp, T>;
    case OperatorCode::kSub:
      return &BinaryTile<SubOp, T>;
    case OperatorCode::kMul:
      return &BinaryTile<MulOp, T>;
    case OperatorCode::kDiv:
      return &BinaryTile<DivOp, T>;
    case OperatorCode::kMin:
      return &BinaryTile<MinOp, T>;
    case OperatorCode::kMax:
      return &BinaryTile<MaxOp, T>;
    case OperatorCode::kPRelu:
      return &BinaryTile<PReluOp, T>;
    default:
      return nullptr;
  }
}

}  // namespace

TileFunction FindFloatBinaryTile(OperatorCode code, DType dtype) {
  if (dtype == DType::kF32) return FloatBinary<float>(code);
  if (dtype == DType::kF64) return FloatBinary<double>(code);
  return nullptr;
}

}  // namespace ebb::kernels
