// Elementwise operators with one float input, on f32 and f64.
#include "vm/kernels/portable/elementwise_loops.h"
#include "vm/kernels/portable/math_f32.h"

namespace ebb::kernels {
namespace {

// Each gets the operator's attributes alpha and beta too.
struct NegOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return -x;
  }
};
struct AbsOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return Abs(x);
  }
};
struct SqrtOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return Sqrt(x);
  }
};
struct ExpOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return Exp(x);
  }
};
struct LogOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return Log(x);
  }
};
struct ErfOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return Erf(x);
  }
};
struct ReciprocalOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return T{1} / x;
  }
};
struct ReluOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return x < T{0} ? T{0} : x;
  }
};
struct LeakyReluOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T alpha, T) {
    const T scaled = alpha * x;
    return x < T{0} ? scaled : x;
  }
};
struct SigmoidOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return Sigmoid(x);
  }
};
struct HardSigmoidOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T alpha, T beta) {
    const T line = alpha * x + beta;
    const T upper = line > T{1} ? T{1} : line;
    return upper < T{0} ? T{0} : upper;
  }
};
struct HardSwishOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return x * HardSigmoidOp::Do(x, T{1} / T{6}, T{0.5});
  }
};
struct TanhOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return Tanh(x);
  }
};
struct GeluErfOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return GeluErf(x);
  }
};
struct GeluTanhOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return GeluTanh(x);
  }
};

template <class T>
TileFunction FloatUnary(OperatorCode code) {
  switch (code) {
    case OperatorCode::kNeg:
      return &UnaryTile<NegOp, T>;
    case OperatorCode::kAbs:
      return &UnaryTile<AbsOp, T>;
    case OperatorCode::kSqrt:
      return &UnaryTile<SqrtOp, T>;
    case OperatorCode::kExp:
      return &UnaryTile<ExpOp, T>;
    case OperatorCode::kLog:
      return &UnaryTile<LogOp, T>;
    case OperatorCode::kErf:
      return &UnaryTile<ErfOp, T>;
    case OperatorCode::kReciprocal:
      return &UnaryTile<ReciprocalOp, T>;
    case OperatorCode::kRelu:
      return &UnaryTile<ReluOp, T>;
    case OperatorCode::kLeakyRelu:
      return &UnaryTile<LeakyReluOp, T>;
    case OperatorCode::kSigmoid:
      return &UnaryTile<SigmoidOp, T>;
    case OperatorCode::kHardSigmoid:
      return &UnaryTile<HardSigmoidOp, T>;
    case OperatorCode::kHardSwish:
      return &UnaryTile<HardSwishOp, T>;
    case OperatorCode::kTanh:
      return &UnaryTile<TanhOp, T>;
    case OperatorCode::kGelu:
      return &UnaryTile<GeluErfOp, T>;
    default:
      return nullptr;
  }
}

}  // namespace

TileFunction FindFloatUnaryTile(OperatorCode code, DType dtype) {
  if (dtype == DType::kF32) return FloatUnary<float>(code);
  if (dtype == DType::kF64) return FloatUnary<double>(code);
  return nullptr;
}

TileFunction FindGeluTanhTile(DType dtype) {
  if (dtype == DType::kF32) return &UnaryTile<GeluTanhOp, float>;
  if (dtype == DType::kF64) return &UnaryTile<GeluTanhOp, double>;
  return nullptr;
}

}  // namespace ebb::kernels
