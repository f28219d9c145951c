#include "vm/kernels/portable/convert_table.h"

namespace ebb::kernels {

ConvertFunction FindConversionFromSigned(DType from, DType to) {
  switch (from) {
    case DType::kI8:
      return ConversionFrom<int8_t>(to);
    case DType::kI16:
      return ConversionFrom<int16_t>(to);
    case DType::kI32:
      return ConversionFrom<int32_t>(to);
    case DType::kI64:
      return ConversionFrom<int64_t>(to);
    default:
      return nullptr;
  }
}

ConvertFunction FindConversionFromUnsigned(DType from, DType to) {
  switch (from) {
    case DType::kBool:
      return ConversionFrom<Bool>(to);
    case DType::kU8:
      return ConversionFrom<uint8_t>(to);
    case DType::kU16:
      return ConversionFrom<uint16_t>(to);
    case DType::kU32:
      return ConversionFrom<uint32_t>(to);
    case DType::kU64:
      return ConversionFrom<uint64_t>(to);
    default:
      return nullptr;
  }
}

ConvertFunction FindConversion(DType from, DType to) {
  if (ConvertFunction f = FindConversionFromFloat(from, to)) return f;
  if (ConvertFunction f = FindConversionFromSigned(from, to)) return f;
  return FindConversionFromUnsigned(from, to);
}

}  // namespace ebb::kernels
