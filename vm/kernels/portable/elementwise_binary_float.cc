// Elementwise operators with two and more float inputs, on f32 and f64.
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
EBB_TARGET_CLONES void BatchNormalizationTile(const void* const* inputs,
                                              void* output, int64_t n,
                                              const TileParams& params) {
  const T* x = static_cast<const T*>(inputs[0]);
  const T* scale = static_cast<const T*>(inputs[1]);
  const T* bias = static_cast<const T*>(inputs[2]);
  const T* mean = static_cast<const T*>(inputs[3]);
  const T* variance = static_cast<const T*>(inputs[4]);
  T* out = static_cast<T*>(output);
  const T epsilon = static_cast<T>(params.alpha);
  EBB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const T factor = scale[i] / Sqrt(variance[i] + epsilon);
    out[i] = (x[i] - mean[i]) * factor + bias[i];
  }
}

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

TileFunction FindBatchNormalizationTile(DType dtype) {
  if (dtype == DType::kF32) return &BatchNormalizationTile<float>;
  if (dtype == DType::kF64) return &BatchNormalizationTile<double>;
  return nullptr;
}

}  // namespace ebb::kernels
