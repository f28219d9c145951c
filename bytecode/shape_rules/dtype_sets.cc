#include "bytecode/shape_rules/dtype_sets.h"

namespace ebb {

std::string DTypeSetText(DTypeSet set) {
  std::string text;
  for (uint8_t code = 1; IsValidDType(code); ++code) {
    const auto dtype = static_cast<DType>(code);
    if (!Contains(set, dtype)) continue;
    if (!text.empty()) text += ' ';
    text += DTypeName(dtype);
  }
  return text;
}

DTypeSet DataTypes(OperatorCode code) {
  switch (code) {
    case OperatorCode::kNeg:
    case OperatorCode::kRelu:
      return kFloatTypes | kSignedTypes;
    case OperatorCode::kAbs:
    case OperatorCode::kClip:
    case OperatorCode::kAdd:
    case OperatorCode::kSub:
    case OperatorCode::kMul:
    case OperatorCode::kDiv:
    case OperatorCode::kMin:
    case OperatorCode::kMax:
    case OperatorCode::kGreater:
    case OperatorCode::kLess:
    case OperatorCode::kGreaterOrEqual:
    case OperatorCode::kLessOrEqual:
    case OperatorCode::kArgMax:
    case OperatorCode::kResize:
      return kNumericTypes;
    case OperatorCode::kSqrt:
    case OperatorCode::kExp:
    case OperatorCode::kLog:
    case OperatorCode::kErf:
    case OperatorCode::kReciprocal:
    case OperatorCode::kLeakyRelu:
    case OperatorCode::kSigmoid:
    case OperatorCode::kHardSigmoid:
    case OperatorCode::kHardSwish:
    case OperatorCode::kTanh:
    case OperatorCode::kGelu:
    case OperatorCode::kConv:
    case OperatorCode::kConvTranspose:
    case OperatorCode::kAveragePool:
    case OperatorCode::kLrn:
    case OperatorCode::kBatchNormalization:
    case OperatorCode::kLayerNormalization:
    case OperatorCode::kInstanceNormalization:
    case OperatorCode::kSoftmax:
    case OperatorCode::kLogSoftmax:
      return kFloatTypes;
    case OperatorCode::kNot:
    case OperatorCode::kAnd:
    case OperatorCode::kOr:
    case OperatorCode::kWhere:
      return kBoolType;
    case OperatorCode::kPow:
      return kFloatTypes | kIndexTypes;
    case OperatorCode::kPRelu:
    case OperatorCode::kMatMul:
    case OperatorCode::kGemm:
    case OperatorCode::kReduceSum:
    case OperatorCode::kReduceMean:
      return kFloatTypes | kWideTypes;
    case OperatorCode::kMaxPool:
      return kFloatTypes | SetOf({DType::kI8, DType::kU8});
    case OperatorCode::kReduceMax:
    case OperatorCode::kReduceMin:
      return kFloatTypes | kWideTypes |
             SetOf({DType::kI8, DType::kU8, DType::kBool});
    case OperatorCode::kRange:
      return kFloatTypes | kIndexTypes | SetOf({DType::kI16});
    case OperatorCode::kCast:
    case OperatorCode::kIdentity:
    case OperatorCode::kEqual:
    case OperatorCode::kConcat:
    case OperatorCode::kSplit:
    case OperatorCode::kSlice:
    case OperatorCode::kGather:
    case OperatorCode::kTranspose:
    case OperatorCode::kReshape:
    case OperatorCode::kFlatten:
    case OperatorCode::kSqueeze:
    case OperatorCode::kUnsqueeze:
    case OperatorCode::kExpand:
    case OperatorCode::kTile:
    case OperatorCode::kPad:
    case OperatorCode::kFull:
      return kPlainTypes;
    case OperatorCode::kShape:
    case OperatorCode::kSize:
      return kAnyType;
  }
  return 0;
}

}  // namespace ebb
