// Element types as kernels see them in memory, and one-element conversions
// between all of them. f16, bf16 and bool have tags of their own, so that a
// template can tell them from the integers of the same size; arithmetic on
// 16-bit floats is done in f32. Everything is inlined and free of branches,
// so that loops over it become vectors.
//
//   float x = Widen(F16{bits});
//   uint8_t y = ConvertElement<uint8_t>(x);
#ifndef EBB_VM_KERNELS_PORTABLE_SCALAR_H_
#define EBB_VM_KERNELS_PORTABLE_SCALAR_H_

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "bytecode/half.h"
#include "vm/kernels/portable/target.h"

namespace ebb::kernels {

struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};
struct Bool {
  uint8_t byte;  // 0 or 1 when written here; any other value reads as true.
};

EBB_ALWAYS_INLINE float WidenF16(uint32_t half) {
  const uint32_t sign = (half & 0x8000U) << 16;
  const uint32_t rest = half & 0x7fffU;
  // Normal numbers move over and change the bias by 112. Infinity and NaN
  // (exponent 31) change it by 224. Zero and denormals are a multiple of
  // 2^-24.
  const uint32_t normal = (rest << 13) + (112U << 23);
  const uint32_t bias = rest >= 0x7c00U ? (112U << 23) : 0U;
  const float tiny = static_cast<float>(static_cast<int32_t>(rest)) * 0x1p-24F;
  const uint32_t small = std::bit_cast<uint32_t>(tiny);
  return std::bit_cast<float>(sign | (rest < 0x400U ? small : normal + bias));
}

EBB_ALWAYS_INLINE uint32_t NarrowF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t rest = bits & 0x7fffffffU;
  const uint32_t normal =
      (rest + 0xfffU + ((rest >> 13) & 1U) - (112U << 23)) >> 13;
  // Below the normal range: adding 0.5 rounds to a multiple of 2^-24 and
  // leaves it in the lowest bits.
  const uint32_t small =
      std::bit_cast<uint32_t>(std::bit_cast<float>(rest) + 0.5F) - 0x3f000000U;
  const uint32_t nan = 0x7e00U | ((rest >> 13) & 0x3ffU);
  uint32_t result = rest < (113U << 23) ? small : normal;
  result = rest >= 0x477ff000U ? 0x7c00U : result;
  result = rest > 0x7f800000U ? nan : result;
  return sign | result;
}

EBB_ALWAYS_INLINE float WidenBF16(uint32_t half) {
  return std::bit_cast<float>(half << 16);
}

EBB_ALWAYS_INLINE uint32_t NarrowBF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40U;
  return (bits & 0x7fffffffU) > 0x7f800000U ? nan : rounded;
}

// The value in the type that arithmetic on it is done in.
template <class T>
EBB_ALWAYS_INLINE auto Widen(T value) {
  if constexpr (std::is_same_v<T, F16>) {
    return WidenF16(value.bits);
  } else if constexpr (std::is_same_v<T, BF16>) {
    return WidenBF16(value.bits);
  } else if constexpr (std::is_same_v<T, Bool>) {
    return static_cast<uint8_t>(value.byte != 0 ? 1 : 0);
  } else {
    return value;
  }
}

// Truncates toward zero. What does not fit gives the lowest number, as x86
// does, so the result never depends on the compiler.
template <std::signed_integral Int, std::floating_point Float>
EBB_ALWAYS_INLINE Int TruncateOrLowest(Float value) {
  constexpr Float kLowest = static_cast<Float>(std::numeric_limits<Int>::min());
  const bool fits = value >= kLowest && value < -kLowest;
  const Float safe = fits ? value : kLowest;
  return static_cast<Int>(safe);
}

template <std::integral Int, std::floating_point Float>
EBB_ALWAYS_INLINE Int FloatToInt(Float value) {
  if constexpr (std::is_same_v<Int, uint64_t>) {
    constexpr Float kHalf = static_cast<Float>(0x1p63);
    const bool upper = value >= kHalf;
    const Float shifted = upper ? value - kHalf : value;
    const auto bits = static_cast<uint64_t>(TruncateOrLowest<int64_t>(shifted));
    return bits ^ (upper ? uint64_t{1} << 63 : uint64_t{0});
  } else if constexpr (std::is_same_v<Int, int64_t> ||
                       std::is_same_v<Int, uint32_t>) {
    return static_cast<Int>(TruncateOrLowest<int64_t>(value));
  } else {
    return static_cast<Int>(TruncateOrLowest<int32_t>(value));
  }
}

template <class To, class From>
EBB_ALWAYS_INLINE To ConvertElement(From from) {
  const auto value = Widen(from);
  using Value = std::remove_const_t<decltype(value)>;
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<uint8_t>(value != 0 ? 1 : 0)};
  } else if constexpr (std::is_same_v<To, F16>) {
    if constexpr (std::is_same_v<Value, float>) {
      return F16{static_cast<uint16_t>(NarrowF16(value))};
    } else {
      return F16{F64ToF16(static_cast<double>(value))};
    }
  } else if constexpr (std::is_same_v<To, BF16>) {
    if constexpr (std::is_same_v<Value, float>) {
      return BF16{static_cast<uint16_t>(NarrowBF16(value))};
    } else {
      return BF16{F64ToBF16(static_cast<double>(value))};
    }
  } else if constexpr (std::floating_point<Value> && std::integral<To>) {
    return FloatToInt<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_SCALAR_H_
