#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/reference/operand.h"

namespace ebb::reference {
namespace {

double Float(const Call& call, const char* name, float fallback) {
  return static_cast<double>(call.attributes.Float(name, fallback));
}

// A NaN comes through, as numpy's minimum and maximum have it.
double Min(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double Max(double a, double b) { return std::isnan(a) || a > b ? a : b; }

double Gelu(const Call& call, double x) {
  if (call.attributes.String("approximate", "none") == "tanh") {
    const double inner =
        std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + std::tanh(inner));
  }
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

// Truncates as the x86 instructions do: what does not fit i64 (for the small
// types i32) is its lowest value; then the bits are cut.
Wide Truncate(double value, DType to) {
  const bool wide = to == DType::kI64 || to == DType::kU64 || to == DType::kU32;
  const double limit = wide ? 0x1p63 : 0x1p31;
  if (to == DType::kU64 && value >= 0x1p63 && value < 0x1p64) {
    return static_cast<Wide>(static_cast<uint64_t>(value));
  }
  if (to == DType::kU64 && value >= 0x1p64) return 0;
  if (!(value >= -limit && value < limit)) {
    return static_cast<Wide>(-limit);
  }
  return static_cast<Wide>(value);
}

Wide Power(Wide base, Wide exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 != 0 ? -1 : 1;
    return 0;
  }
  // Modulo 2^64, which is all that any integer dtype keeps.
  uint64_t result = 1;
  auto square = static_cast<uint64_t>(base);
  for (; exponent != 0; exponent /= 2) {
    if (exponent % 2 != 0) result *= square;
    square *= square;
  }
  return static_cast<Wide>(result);
}

// Modulo 2^64 as well: the product of two u64 does not fit 127 bits.
Wide Product(Wide a, Wide b) {
  return static_cast<Wide>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

double FloatResult(const Call& call, double a, double b) {
  switch (call.code) {
    case OperatorCode::kNeg:
      return -a;
    case OperatorCode::kAbs:
      return std::abs(a);
    case OperatorCode::kSqrt:
      return std::sqrt(a);
    case OperatorCode::kExp:
      return std::exp(a);
    case OperatorCode::kLog:
      return std::log(a);
    case OperatorCode::kErf:
      return std::erf(a);
    case OperatorCode::kReciprocal:
      return 1 / a;
    case OperatorCode::kRelu:
      return Max(a, 0);
    case OperatorCode::kLeakyRelu:
      return a < 0 ? Float(call, "alpha", 0.01F) * a : a;
    case OperatorCode::kSigmoid:
      return 1 / (1 + std::exp(-a));
    case OperatorCode::kHardSigmoid:
      return Max(
          Min(Float(call, "alpha", 0.2F) * a + Float(call, "beta", 0.5F), 1),
          0);
    case OperatorCode::kHardSwish:
      return a * Max(Min(a / 6 + 0.5, 1), 0);
    case OperatorCode::kTanh:
      return std::tanh(a);
    case OperatorCode::kGelu:
      return Gelu(call, a);
    case OperatorCode::kAdd:
      return a + b;
    case OperatorCode::kSub:
      return a - b;
    case OperatorCode::kMul:
      return a * b;
    case OperatorCode::kDiv:
      return a / b;
    case OperatorCode::kPow:
      return std::pow(a, b);
    case OperatorCode::kMin:
      return std::isnan(b) ? b : Min(a, b);
    case OperatorCode::kMax:
      return std::isnan(b) ? b : Max(a, b);
    case OperatorCode::kPRelu:
      return a < 0 ? a * b : a;
    default:
      return 0;
  }
}

Wide IntResult(OperatorCode code, Wide a, Wide b) {
  switch (code) {
    case OperatorCode::kNeg:
      return -a;
    case OperatorCode::kAbs:
      return a < 0 ? -a : a;
    case OperatorCode::kRelu:
      return std::max<Wide>(a, 0);
    case OperatorCode::kNot:
      return a == 0;
    case OperatorCode::kAnd:
      return a & b;
    case OperatorCode::kOr:
      return a | b;
    case OperatorCode::kAdd:
      return a + b;
    case OperatorCode::kSub:
      return a - b;
    case OperatorCode::kMul:
      return Product(a, b);
    case OperatorCode::kDiv:  // ONNX leaves x / 0 open.
      return b == 0 ? 0 : a / b;
    case OperatorCode::kPow:
      return Power(a, b);
    case OperatorCode::kMin:
      return std::min(a, b);
    case OperatorCode::kMax:
      return std::max(a, b);
    case OperatorCode::kPRelu:
      return a < 0 ? Product(a, b) : a;
    default:
      return 0;
  }
}

template <class T>
bool Compares(OperatorCode code, T a, T b) {
  switch (code) {
    case OperatorCode::kEqual:
      return a == b;
    case OperatorCode::kGreater:
      return a > b;
    case OperatorCode::kLess:
      return a < b;
    case OperatorCode::kGreaterOrEqual:
      return a >= b;
    default:
      return a <= b;
  }
}

bool IsCompare(OperatorCode code) {
  return code == OperatorCode::kEqual || code == OperatorCode::kGreater ||
         code == OperatorCode::kLess || code == OperatorCode::kGreaterOrEqual ||
         code == OperatorCode::kLessOrEqual;
}

// The upper bound wins where it is below the lower one.
void ClipElement(const Call& call, int64_t i) {
  const ReferenceTensor& x = call.in(0);
  if (IsFloat(x.dtype)) {
    double value = GetFloat(x, i);
    if (call.Has(1)) value = Max(value, GetFloat(call.in(1), 0));
    if (call.Has(2)) value = Min(value, GetFloat(call.in(2), 0));
    return SetFloat(call.out(), i, value);
  }
  Wide value = GetInt(x, i);
  if (call.Has(1)) value = std::max(value, GetInt(call.in(1), 0));
  if (call.Has(2)) value = std::min(value, GetInt(call.in(2), 0));
  SetInt(call.out(), i, value);
}

void CastElement(const Call& call, int64_t i) {
  const ReferenceTensor& x = call.in(0);
  ReferenceTensor& y = call.out();
  if (IsFloat(y.dtype)) {
    // Integers go through double, which f32 and below do not notice but for
    // 64-bit ones: those are rounded once by the language.
    if (!IsFloat(x.dtype) && y.dtype == DType::kF32) {
      return SetFloat(y, i,
                      static_cast<double>(static_cast<float>(GetInt(x, i))));
    }
    return SetFloat(y, i, GetFloat(x, i));
  }
  if (!IsFloat(x.dtype)) return SetInt(y, i, GetInt(x, i));
  const double value = GetFloat(x, i);
  SetInt(y, i,
         y.dtype == DType::kBool ? Wide{value != 0} : Truncate(value, y.dtype));
}

}  // namespace

Status RunElementwise(const Call& call) {
  ReferenceTensor& y = call.out();
  int64_t i = 0;
  ForEach(y.dims, [&](const Index& index) {
    const int64_t at = i++;
    if (call.code == OperatorCode::kClip) return ClipElement(call, at);
    if (call.code == OperatorCode::kCast) return CastElement(call, at);
    const ReferenceTensor& first = call.in(0);
    const int64_t a = BroadcastFlat(first.dims, index);
    if (call.code == OperatorCode::kWhere) {
      const ReferenceTensor& chosen = call.in(GetInt(first, a) != 0 ? 1 : 2);
      return CopyElement(chosen, BroadcastFlat(chosen.dims, index), y, at);
    }
    const bool two = call.inputs.size() > 1;
    const ReferenceTensor& second = call.in(two ? 1 : 0);
    const int64_t b = BroadcastFlat(second.dims, index);
    const bool floats = IsFloat(first.dtype) || IsFloat(second.dtype);
    if (IsCompare(call.code)) {
      const bool holds =
          floats ? Compares(call.code, GetFloat(first, a), GetFloat(second, b))
                 : Compares(call.code, GetInt(first, a), GetInt(second, b));
      return SetInt(y, at, holds ? 1 : 0);
    }
    if (!floats) {
      return SetInt(y, at,
                    IntResult(call.code, GetInt(first, a), GetInt(second, b)));
    }
    const double value =
        FloatResult(call, GetFloat(first, a), GetFloat(second, b));
    if (IsFloat(y.dtype)) return SetFloat(y, at, value);
    SetInt(y, at, Truncate(value, y.dtype));
  });
  return {};
}

}  // namespace ebb::reference
