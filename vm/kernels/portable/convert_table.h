// The loops behind convert.h, for the files that instantiate them.
#ifndef EBB_VM_KERNELS_PORTABLE_CONVERT_TABLE_H_
#define EBB_VM_KERNELS_PORTABLE_CONVERT_TABLE_H_

#include <cstdint>
#include <type_traits>

#include "vm/kernels/portable/convert.h"
#include "vm/kernels/portable/scalar.h"

namespace ebb::kernels {

template <class From, class To>
void ConvertLoop(const void* from, void* to, int64_t n) {
  const From* in = static_cast<const From*>(from);
  To* out = static_cast<To*>(to);
  EBB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = ConvertElement<To>(in[i]);
}

// The same for the pairs that half-precision models run all the time.
template <class From, class To>
EBB_TARGET_CLONES void ConvertLoopWide(const void* from, void* to, int64_t n) {
  const From* in = static_cast<const From*>(from);
  To* out = static_cast<To*>(to);
  EBB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = ConvertElement<To>(in[i]);
}

template <class T>
inline constexpr bool kIsHotFloat =
    std::is_same_v<T, float> || std::is_same_v<T, F16> ||
    std::is_same_v<T, BF16>;

template <class From, class To>
ConvertFunction ConversionOf() {
  if constexpr (kIsHotFloat<From> && kIsHotFloat<To> &&
                !std::is_same_v<From, To>) {
    return &ConvertLoopWide<From, To>;
  } else {
    return &ConvertLoop<From, To>;
  }
}

template <class From>
ConvertFunction ConversionFrom(DType to) {
  switch (to) {
    case DType::kF32:
      return ConversionOf<From, float>();
    case DType::kF64:
      return ConversionOf<From, double>();
    case DType::kF16:
      return ConversionOf<From, F16>();
    case DType::kBF16:
      return ConversionOf<From, BF16>();
    case DType::kBool:
      return ConversionOf<From, Bool>();
    case DType::kU8:
      return ConversionOf<From, uint8_t>();
    case DType::kU16:
      return ConversionOf<From, uint16_t>();
    case DType::kU32:
      return ConversionOf<From, uint32_t>();
    case DType::kU64:
      return ConversionOf<From, uint64_t>();
    case DType::kI8:
      return ConversionOf<From, int8_t>();
    case DType::kI16:
      return ConversionOf<From, int16_t>();
    case DType::kI32:
      return ConversionOf<From, int32_t>();
    case DType::kI64:
      return ConversionOf<From, int64_t>();
    default:
      return nullptr;
  }
}

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_CONVERT_TABLE_H_
