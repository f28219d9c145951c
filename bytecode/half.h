// Scalar conversions of the 16-bit floats, on their bits: f16 (IEEE binary16)
// and bf16 (the upper half of an f32). Widening is exact; narrowing rounds to
// nearest, ties to even, in one step from f32 or f64. Denormals, infinities
// and NaN are as IEEE says: beyond the largest finite number comes infinity,
// a NaN stays one (quiet, upper payload bits kept). Independent of the
// processor's rounding and flush-to-zero modes; usable in constant
// expressions. Kernels vectorise their own; these state what is right.
//
//   uint16_t h = F32ToF16(1.0f);   // 0x3c00
//   float x = F16ToF32(h);
#ifndef EBB_BYTECODE_HALF_H_
#define EBB_BYTECODE_HALF_H_

#include <bit>
#include <cstdint>

namespace ebb {

// Bits of an IEEE float with `kFromExponent` + `kFromMantissa` bits rounded to
// the format with `kToExponent` + `kToMantissa` bits.
template <int kFromExponent, int kFromMantissa, int kToExponent,
          int kToMantissa, class Bits>
constexpr uint16_t NarrowFloatBits(Bits bits) {
  constexpr int kFromBias = (1 << (kFromExponent - 1)) - 1;
  constexpr int kToBias = (1 << (kToExponent - 1)) - 1;
  constexpr int kDropped = kFromMantissa - kToMantissa;
  constexpr Bits kImplicit = Bits{1} << kFromMantissa;
  constexpr Bits kFromInfinity = ((Bits{1} << kFromExponent) - 1)
                                 << kFromMantissa;
  constexpr uint32_t kToInfinity = ((uint32_t{1} << kToExponent) - 1)
                                   << kToMantissa;

  const uint32_t sign =
      static_cast<uint32_t>(bits >> (kFromExponent + kFromMantissa))
      << (kToExponent + kToMantissa);
  const Bits magnitude =
      bits & ((Bits{1} << (kFromExponent + kFromMantissa)) - 1);
  const Bits mantissa = magnitude & (kImplicit - 1);
  if (magnitude > kFromInfinity) {
    const auto payload = static_cast<uint32_t>(mantissa >> kDropped);
    const uint32_t quiet = uint32_t{1} << (kToMantissa - 1);
    return static_cast<uint16_t>(sign | kToInfinity | quiet | payload);
  }
  if (magnitude == kFromInfinity) {
    return static_cast<uint16_t>(sign | kToInfinity);
  }

  const auto exponent = static_cast<int>(magnitude >> kFromMantissa);
  const Bits significand = exponent == 0 ? mantissa : mantissa | kImplicit;
  // Exponent in the target's bias. At 1 and below the result is denormal and
  // more bits are dropped; denormal inputs share the exponent 1.
  const int target = (exponent == 0 ? 1 : exponent) - kFromBias + kToBias;
  const int shift = target < 1 ? kDropped + 1 - target : kDropped;
  if (shift > kFromMantissa + 2) return static_cast<uint16_t>(sign);
  const Bits rest = significand & ((Bits{1} << shift) - 1);
  const Bits half = Bits{1} << (shift - 1);
  Bits kept = significand >> shift;
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // Added, not or-ed: a carry out of the mantissa raises the exponent, and
  // the implicit bit of a normal number does the same from `target - 1`.
  const uint32_t base = target < 1 ? 0 : static_cast<uint32_t>(target - 1);
  const uint32_t result = (base << kToMantissa) + static_cast<uint32_t>(kept);
  return static_cast<uint16_t>(sign |
                               (result < kToInfinity ? result : kToInfinity));
}

constexpr uint16_t F32ToF16(float value) {
  return NarrowFloatBits<8, 23, 5, 10>(std::bit_cast<uint32_t>(value));
}
constexpr uint16_t F64ToF16(double value) {
  return NarrowFloatBits<11, 52, 5, 10>(std::bit_cast<uint64_t>(value));
}
constexpr uint16_t F32ToBF16(float value) {
  return NarrowFloatBits<8, 23, 8, 7>(std::bit_cast<uint32_t>(value));
}
constexpr uint16_t F64ToBF16(double value) {
  return NarrowFloatBits<11, 52, 8, 7>(std::bit_cast<uint64_t>(value));
}

constexpr float F16ToF32(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000U} << 16;
  const uint32_t exponent = (half >> 10) & 0x1fU;
  const uint32_t mantissa = half & 0x3ffU;
  if (exponent == 0) {
    // Zero or denormal: a multiple of 2^-24, which f32 holds as a normal.
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  // 112 is the difference of the biases; all ones stay all ones.
  const uint32_t wide = exponent == 0x1f ? 0xffU : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

constexpr float BF16ToF32(uint16_t half) {
  return std::bit_cast<float>(uint32_t{half} << 16);
}

}  // namespace ebb

#endif  // EBB_BYTECODE_HALF_H_
