// Pow. Float bases go through libm, but for the exponents that models use
// (one value for the whole tile); an integer base with an integer exponent is
// multiplied out and wraps, with any other exponent it goes through f64.
#include <cmath>
#include <limits>

#include "vm/kernels/portable/elementwise_loops.h"
#include "vm/kernels/portable/math_f32.h"
#include "vm/kernels/portable/scalar.h"

namespace ebb::kernels {
namespace {

struct SquareOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return x * x;
  }
};
struct CubeOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    return x * x * x;
  }
};
// pow(-0, 1/2) is +0 and pow(-inf, 1/2) is +inf, unlike the square root.
struct HalfPowerOp {
  template <class T>
  EBB_ALWAYS_INLINE static T Do(T x, T, T) {
    const T root = Sqrt(x + T{0});
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    return x == -kInfinity ? kInfinity : root;
  }
};

template <class T>
void FloatPowTile(const void* const* inputs, void* output, int64_t n,
                  const TileParams& params) {
  const T* a = static_cast<const T*>(inputs[0]);
  const T* b = static_cast<const T*>(inputs[1]);
  T* out = static_cast<T*>(output);
  const T first = b[0];
  bool uniform = first == T{2} || first == T{3} || first == T{0.5};
  for (int64_t i = 1; i < n && uniform; ++i) uniform = b[i] == first;
  if (uniform) {
    TileFunction f = first == T{2}   ? &UnaryTile<SquareOp, T>
                     : first == T{3} ? &UnaryTile<CubeOp, T>
                                     : &UnaryTile<HalfPowerOp, T>;
    return f(inputs, output, n, params);
  }
  for (int64_t i = 0; i < n; ++i) out[i] = std::pow(a[i], b[i]);
}

// a^b modulo 2^bits; negative exponents give the truncated reciprocal, 0 for
// the reciprocal of 0.
template <class T>
T IntegerPower(T a, int64_t b) {
  using U = std::make_unsigned_t<T>;
  if (b < 0) {
    if (a == 1) return 1;
    if (a == -1) return (b & 1) != 0 ? T{-1} : T{1};
    return 0;
  }
  U result = 1;
  U square = static_cast<U>(a);
  for (auto rest = static_cast<uint64_t>(b); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

template <class T, class E>
void IntegerPowTile(const void* const* inputs, void* output, int64_t n,
                    const TileParams&) {
  const T* a = static_cast<const T*>(inputs[0]);
  const E* b = static_cast<const E*>(inputs[1]);
  T* out = static_cast<T*>(output);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<E, double>) {
      out[i] = FloatToInt<T>(std::pow(static_cast<double>(a[i]), b[i]));
    } else {
      out[i] = IntegerPower(a[i], b[i]);
    }
  }
}

}  // namespace

TileFunction FindPowTile(DType base, DType exponent) {
  const bool integer = exponent == DType::kI64;
  switch (base) {
    case DType::kF32:
      return exponent == DType::kF32 ? &FloatPowTile<float> : nullptr;
    case DType::kF64:
      return exponent == DType::kF64 ? &FloatPowTile<double> : nullptr;
    case DType::kI32:
      if (exponent == DType::kF64) return &IntegerPowTile<int32_t, double>;
      return integer ? &IntegerPowTile<int32_t, int64_t> : nullptr;
    case DType::kI64:
      if (exponent == DType::kF64) return &IntegerPowTile<int64_t, double>;
      return integer ? &IntegerPowTile<int64_t, int64_t> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace ebb::kernels
