#include "vm/kernels/portable/convert_table.h"

namespace ebb::kernels {

ConvertFunction FindConversionFromFloat(DType from, DType to) {
  switch (from) {
    case DType::kF32:
      return ConversionFrom<float>(to);
    case DType::kF64:
      return ConversionFrom<double>(to);
    case DType::kF16:
      return ConversionFrom<F16>(to);
    case DType::kBF16:
      return ConversionFrom<BF16>(to);
    default:
      return nullptr;
  }
}

}  // namespace ebb::kernels
