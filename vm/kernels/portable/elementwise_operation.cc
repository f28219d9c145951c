#include "vm/kernels/portable/elementwise_operation.h"

#include "vm/kernels/portable/request.h"

namespace ebb::kernels {
namespace {

// 16-bit floats are computed in f32, everything else in itself.
DType ComputedIn(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 ? DType::kF32 : dtype;
}

// Cost of an element in bytes moved, roughly: how much dearer than a copy.
int WeightOf(OperatorCode code) {
  switch (code) {
    case OperatorCode::kPow:
      return 16;
    case OperatorCode::kExp:
    case OperatorCode::kLog:
    case OperatorCode::kErf:
    case OperatorCode::kSigmoid:
    case OperatorCode::kTanh:
    case OperatorCode::kGelu:
      return 4;
    default:
      return 1;
  }
}

// All inputs and the output in one dtype.
TileOperation Uniform(TileFunction function, DType computed) {
  return TileOperation{
      .function = function,
      .inputs = {computed, computed, computed, computed, computed},
      .output = computed};
}

TileOperation Unary(const Request& request, DType computed) {
  const OperatorCode code = request.info.code;
  TileFunction function = FindIntegerUnaryTile(code, computed);
  if (IsFloat(computed)) {
    const bool tanh_gelu =
        code == OperatorCode::kGelu &&
        request.attributes.String("approximate", "none") == "tanh";
    function = tanh_gelu ? FindGeluTanhTile(computed)
                         : FindFloatUnaryTile(code, computed);
  }
  TileOperation operation = Uniform(function, computed);
  const bool leaky = code == OperatorCode::kLeakyRelu;
  operation.params.alpha =
      request.attributes.Float("alpha", leaky ? 0.01F : 0.2F);
  operation.params.beta = request.attributes.Float("beta", 0.5F);
  return operation;
}

TileOperation Compare(OperatorCode code, DType computed) {
  // a > b is b < a.
  const bool swapped =
      code == OperatorCode::kGreater || code == OperatorCode::kGreaterOrEqual;
  if (code == OperatorCode::kGreater) code = OperatorCode::kLess;
  if (code == OperatorCode::kGreaterOrEqual) code = OperatorCode::kLessOrEqual;
  TileOperation operation = Uniform(FindCompareTile(code, computed), computed);
  operation.output = DType::kBool;
  operation.swapped = swapped;
  return operation;
}

// Exponents that f32 holds exactly leave an f32 base in f32.
bool FitsF32(DType dtype) {
  const DType computed = ComputedIn(dtype);
  return computed == DType::kF32 || (DTypeBits(dtype) <= 16 && !IsFloat(dtype));
}

TileOperation Pow(DType base, DType exponent) {
  DType computed = ComputedIn(base);
  DType other = DType::kF64;
  if (IsFloat(computed)) {
    if (!FitsF32(exponent)) computed = DType::kF64;
    other = computed;
  } else if (!IsFloat(exponent)) {
    other = DType::kI64;
  }
  return TileOperation{.function = FindPowTile(computed, other),
                       .inputs = {computed, other},
                       .output = computed};
}

TileOperation BatchNormalization(const Request& request, DType computed) {
  TileOperation operation =
      Uniform(FindBatchNormalizationTile(computed), computed);
  operation.params.alpha = request.attributes.Float("epsilon", 1e-5F);
  return operation;
}

void CastTile(const void* const* inputs, void* output, int64_t n,
              const TileParams& params) {
  params.convert(inputs[0], output, n);
}

TileOperation Cast(DType from, DType to) {
  TileOperation operation{.inputs = {from}, .output = to};
  operation.params.convert = FindConversion(from, to);
  if (operation.params.convert != nullptr) operation.function = CastTile;
  return operation;
}

TileOperation Where(DType dtype) {
  const std::optional<int> bytes = ElementBytes(dtype);
  return TileOperation{
      .function = bytes.has_value() ? FindWhereTile(*bytes) : nullptr,
      .inputs = {DType::kBool, dtype, dtype},
      .output = dtype};
}

TileOperation Find(const Request& request) {
  const OperatorCode code = request.info.code;
  const DType dtype = InputOf(request, 0).dtype;
  const DType computed = ComputedIn(dtype);
  switch (code) {
    case OperatorCode::kClip:
      return Uniform(FindClipTile(computed), computed);
    case OperatorCode::kCast:
      return Cast(dtype, OutputOf(request, 0).dtype);
    case OperatorCode::kNot:
    case OperatorCode::kAnd:
    case OperatorCode::kOr:
      return Uniform(dtype == DType::kBool ? FindLogicalTile(code) : nullptr,
                     dtype);
    case OperatorCode::kBatchNormalization:
      return BatchNormalization(request, computed);
    case OperatorCode::kWhere:
      return Where(OutputOf(request, 0).dtype);
    case OperatorCode::kPow:
      return Pow(dtype, InputOf(request, 1).dtype);
    case OperatorCode::kEqual:
    case OperatorCode::kGreater:
    case OperatorCode::kLess:
    case OperatorCode::kGreaterOrEqual:
    case OperatorCode::kLessOrEqual:
      return Compare(code, computed);
    case OperatorCode::kAdd:
    case OperatorCode::kSub:
    case OperatorCode::kMul:
    case OperatorCode::kDiv:
    case OperatorCode::kMin:
    case OperatorCode::kMax:
    case OperatorCode::kPRelu:
      return Uniform(IsFloat(computed) ? FindFloatBinaryTile(code, computed)
                                       : FindIntegerBinaryTile(code, computed),
                     computed);
    default:
      return Unary(request, computed);
  }
}

// What is stored can be brought to what is computed.
bool IsReachable(DType from, DType to) {
  return from == to || FindConversion(from, to) != nullptr;
}

}  // namespace

std::optional<TileOperation> FindTileOperation(const Request& request) {
  TileOperation operation = Find(request);
  if (operation.function == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    const Operand& operand = request.inputs[i];
    if (!operand.present()) continue;
    const std::size_t tile = operation.swapped && i < 2 ? 1 - i : i;
    if (operand.kind != OperandKind::kTensor || tile >= kMaxTileInputs ||
        !IsReachable(operand.dtype, operation.inputs[tile])) {
      return std::nullopt;
    }
  }
  if (!IsReachable(operation.output, OutputOf(request, 0).dtype)) {
    return std::nullopt;
  }
  operation.weight = WeightOf(request.info.code);
  return operation;
}

}  // namespace ebb::kernels
