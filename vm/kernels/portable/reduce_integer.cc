#include "vm/kernels/portable/reduce_loops.h"

namespace ebb::kernels {
namespace {

// ONNX sums no integers of less than 32 bits.
template <class T>
std::optional<ReduceFunctions> Find(OperatorCode code) {
  switch (code) {
    case OperatorCode::kReduceSum:
    case OperatorCode::kReduceMean:
      if constexpr (sizeof(T) >= 4) {
        using U = std::make_unsigned_t<T>;
        return ReductionOf<SumOp, U, U, T>();
      } else {
        return std::nullopt;
      }
    case OperatorCode::kReduceMax:
      return ReductionOf<RunningMaxOp, T>();
    case OperatorCode::kReduceMin:
      return ReductionOf<RunningMinOp, T>();
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<ReduceFunctions> FindIntegerReduction(OperatorCode code,
                                                    DType dtype) {
  switch (dtype) {
    case DType::kI8:
      return Find<int8_t>(code);
    case DType::kI32:
      return Find<int32_t>(code);
    case DType::kI64:
      return Find<int64_t>(code);
    case DType::kU8:
      return Find<uint8_t>(code);
    case DType::kU32:
      return Find<uint32_t>(code);
    case DType::kU64:
      return Find<uint64_t>(code);
    default:
      return std::nullopt;
  }
}

std::optional<ReduceFunctions> FindReduction(OperatorCode code, DType dtype) {
  return IsFloat(dtype) ? FindFloatReduction(code, dtype)
                        : FindIntegerReduction(code, dtype);
}

}  // namespace ebb::kernels
