// exp, log, tanh, erf and what is made of them, for f32 (and the same names
// for f64, from libm). Written without branches or calls, so that a loop over
// them becomes vectors; selects are between values that both were computed.
// Largest errors against f64, in units in the last place: exp 1.0, log 0.8,
// tanh 1.3, erf 1.1, sigmoid 2.2 (tests/kernels/math_f32_test.cc holds them).
// Gelu cancels in its far negative tail and is exact there only absolutely.
// NaN, infinities, denormals and signed zeros are as IEEE says. Rounding to
// an integer is done by adding and subtracting 1.5 * 2^23: a call of rintf
// costs 20 times more at the baseline of x86-64.
#ifndef EBB_VM_KERNELS_PORTABLE_MATH_F32_H_
#define EBB_VM_KERNELS_PORTABLE_MATH_F32_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "vm/kernels/portable/target.h"

namespace ebb::kernels {

EBB_ALWAYS_INLINE float Abs(float x) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0x7fffffffU);
}
EBB_ALWAYS_INLINE double Abs(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) &
                               0x7fffffffffffffffU);
}
EBB_ALWAYS_INLINE float CopySign(float magnitude, float sign) {
  return std::bit_cast<float>(
      (std::bit_cast<uint32_t>(magnitude) & 0x7fffffffU) |
      (std::bit_cast<uint32_t>(sign) & 0x80000000U));
}

EBB_ALWAYS_INLINE float Sqrt(float x) { return __builtin_sqrtf(x); }
EBB_ALWAYS_INLINE double Sqrt(double x) { return __builtin_sqrt(x); }

// x = n ln 2 + r with |r| <= ln 2 / 2; a polynomial for e^r; 2^n in two
// factors, so that results below the normal range are rounded once.
EBB_ALWAYS_INLINE float Exp(float x) {
  constexpr float kRound = 12582912.0F;
  constexpr float kLowest = -104.0F;  // Below half the smallest denormal.
  constexpr float kHighest = 89.0F;   // Above the logarithm of the largest.
  float v = x < kLowest ? kLowest : x;
  v = v > kHighest ? kHighest : v;
  const float shifted = v * 1.44269504088896341F + kRound;
  const float n = shifted - kRound;
  // The first part of ln 2 has few enough bits that n times it is exact.
  float r = v - n * 0.693359375F;
  r = r - n * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r;
  p = p + 1.0F;
  const int32_t e = static_cast<int32_t>(std::bit_cast<uint32_t>(shifted) -
                                         std::bit_cast<uint32_t>(kRound));
  const int32_t half = e >> 1;
  const uint32_t low = static_cast<uint32_t>(half + 127) << 23;
  const uint32_t high =
      (static_cast<uint32_t>(e) - static_cast<uint32_t>(half) + 127U) << 23;
  return p * std::bit_cast<float>(low) * std::bit_cast<float>(high);
}
inline double Exp(double x) { return std::exp(x); }

// x = 2^k m with m in [sqrt(1/2), sqrt(2)); a polynomial for ln m.
EBB_ALWAYS_INLINE float Log(float x) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const bool tiny = x < std::numeric_limits<float>::min();
  const float scaled = x * 8388608.0F;
  const float normal = tiny ? scaled : x;
  const float bias = tiny ? -150.0F : -127.0F;
  const uint32_t bits =
      std::bit_cast<uint32_t>(normal) + (0x3f800000U - 0x3f3504f3U);
  const float k = static_cast<float>(static_cast<int32_t>(bits >> 23)) + bias;
  const float f = std::bit_cast<float>((bits & 0x7fffffU) + 0x3f3504f3U) - 1.0F;
  const float z = f * f;
  float p = 7.0376836292e-2F;
  p = p * f - 1.1514610310e-1F;
  p = p * f + 1.1676998740e-1F;
  p = p * f - 1.2420140846e-1F;
  p = p * f + 1.4249322787e-1F;
  p = p * f - 1.6668057665e-1F;
  p = p * f + 2.0000714765e-1F;
  p = p * f - 2.4999993993e-1F;
  p = p * f + 3.3333331174e-1F;
  p = p * f * z;
  p = p + k * -2.12194440e-4F;
  p = p - 0.5F * z;
  float result = (f + p) + k * 0.693359375F;
  result = x == kInfinity ? kInfinity : result;
  result = x == 0.0F ? -kInfinity : result;
  result = x < 0.0F ? kNan : result;
  return x != x ? x : result;
}
inline double Log(double x) { return std::log(x); }

EBB_ALWAYS_INLINE float Tanh(float x) {
  const float z = x * x;
  float p = -5.70498872745e-3F;
  p = p * z + 2.06390887954e-2F;
  p = p * z - 5.37397155531e-2F;
  p = p * z + 1.33314422036e-1F;
  p = p * z - 3.33332819422e-1F;
  // The sum of two zeros would lose the sign.
  const float near = CopySign(p * z * x + x, x);
  const float magnitude = Abs(x);
  const float e = Exp(magnitude + magnitude);
  const float far = CopySign(1.0F - 2.0F / (e + 1.0F), x);
  return magnitude > 0.625F ? far : near;
}
inline double Tanh(double x) { return std::tanh(x); }

// From e^-|x|, which neither overflows nor loses the small results.
EBB_ALWAYS_INLINE float Sigmoid(float x) {
  const float e = Exp(-Abs(x));
  const float numerator = x < 0.0F ? e : 1.0F;
  return numerator / (1.0F + e);
}
inline double Sigmoid(double x) {
  const double e = std::exp(-Abs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

// Two polynomials: x + x q(x^2) near zero, 1 - e^q(|x|) further out.
EBB_ALWAYS_INLINE float Erf(float x) {
  const float s = x * x;
  float near = -5.96761703e-4F;
  near = near * s + 4.99119423e-3F;
  near = near * s - 2.67681349e-2F;
  near = near * s + 1.12819925e-1F;
  near = near * s - 3.76125336e-1F;
  near = near * s + 1.28379166e-1F;
  near = near * x + x;
  const float magnitude = Abs(x);
  // erf is 1 in f32 from 3.92 on.
  const float t = magnitude > 4.0F ? 4.0F : magnitude;
  float far = -1.72853470e-5F * t + 3.83197126e-4F;
  far = far * (t * t) + (-3.88396438e-3F * t + 2.42546219e-2F);
  far = far * t - 1.06777877e-1F;
  far = far * t - 6.34846687e-1F;
  far = far * t - 1.28717512e-1F;
  far = far * t - t;
  far = CopySign(1.0F - Exp(far), x);
  return magnitude > 0.927734375F ? far : near;
}
inline double Erf(double x) { return std::erf(x); }

template <class T>
EBB_ALWAYS_INLINE T GeluErf(T x) {
  constexpr T kSqrtHalf = static_cast<T>(0.70710678118654752440L);
  return T{0.5} * x * (T{1} + Erf(x * kSqrtHalf));
}
template <class T>
EBB_ALWAYS_INLINE T GeluTanh(T x) {
  constexpr T kScale = static_cast<T>(0.79788456080286535588L);  // sqrt(2/pi)
  constexpr T kCubic = static_cast<T>(0.044715L);
  const T inner = kScale * (x + kCubic * (x * x * x));
  return T{0.5} * x * (T{1} + Tanh(inner));
}

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_MATH_F32_H_
