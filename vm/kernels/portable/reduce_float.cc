#include "vm/kernels/portable/reduce_loops.h"

namespace ebb::kernels {
namespace {

template <class T>
std::optional<ReduceFunctions> Find(OperatorCode code) {
  switch (code) {
    case OperatorCode::kReduceSum:
    case OperatorCode::kReduceMean:
      return ReductionOf<SumOp, T, double, T>();
    case OperatorCode::kReduceMax:
      return ReductionOf<RunningMaxOp, T>();
    case OperatorCode::kReduceMin:
      return ReductionOf<RunningMinOp, T>();
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<ReduceFunctions> FindFloatReduction(OperatorCode code,
                                                  DType dtype) {
  if (dtype == DType::kF32) return Find<float>(code);
  if (dtype == DType::kF64) return Find<double>(code);
  return std::nullopt;
}

}  // namespace ebb::kernels
