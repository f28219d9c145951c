#include "vm/kernels/portable/reduce_loops.h"

namespace ebb::kernels {
namespace {

template <class T>
std::optional<ReduceFunctions> Find(OperatorCode code) {
  switch (code) {
    case OperatorCode::kReduceSum:
    case OperatorCode::kReduceMean: {
      using U = std::make_unsigned_t<T>;
      return ReductionOf<SumOp, U, U, T>();
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
    case DType::kI16:
      return Find<int16_t>(code);
    case DType::kI32:
      return Find<int32_t>(code);
    case DType::kI64:
      return Find<int64_t>(code);
    case DType::kU8:
      return Find<uint8_t>(code);
    case DType::kU16:
      return Find<uint16_t>(code);
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
