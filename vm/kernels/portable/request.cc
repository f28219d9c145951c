#include "vm/kernels/portable/request.h"

#include <cassert>

namespace ebb::kernels {
namespace {

constexpr Operand kAbsentOperand;

const Operand& At(std::span<const Operand> operands, std::size_t i) {
  return i < operands.size() ? operands[i] : kAbsentOperand;
}

void AppendDTypes(std::span<const Operand> operands, std::string& text) {
  for (const Operand& operand : operands) {
    if (!operand.present()) continue;
    if (!text.empty()) text += ", ";
    text += DTypeName(operand.dtype);
  }
}

}  // namespace

std::unexpected<Error> UnsupportedDTypes(const Request& request) {
  std::string inputs;
  AppendDTypes(request.inputs, inputs);
  std::string outputs;
  AppendDTypes(request.outputs, outputs);
  return Fail(ErrorCode::kUnsupported, std::string(request.info.mnemonic) +
                                           ": no kernel for dtypes (" + inputs +
                                           ") -> (" + outputs + ")");
}

std::unexpected<Error> BadRequest(const Request& request, std::string message) {
  return Fail(ErrorCode::kInvalidArgument,
              std::string(request.info.mnemonic) + ": " + std::move(message));
}

const Operand& InputOf(const Request& request, std::size_t i) {
  return At(request.inputs, i);
}

const Operand& OutputOf(const Request& request, std::size_t i) {
  return At(request.outputs, i);
}

OptionalList ListOf(const Request& request, std::size_t i) {
  const Operand& operand = InputOf(request, i);
  if (!operand.present()) return std::nullopt;
  assert(operand.kind == OperandKind::kList);
  return operand.ints;
}

int64_t CountOf(DimSpan dims) {
  const std::optional<int64_t> count = ElementCount(dims);
  assert(count.has_value());
  return *count;
}

std::optional<int> ElementBytes(DType dtype) {
  const int bits = DTypeBits(dtype);
  if (bits < 8) return std::nullopt;
  return bits / 8;
}

bool IsDenseOperand(const Operand& operand) {
  int64_t expected = 1;
  for (std::size_t d = operand.dims.size(); d-- > 0;) {
    if (operand.dims[d] == 0) return true;
    if (operand.dims[d] != 1 && operand.strides[d] != expected) return false;
    expected *= operand.dims[d];
  }
  return true;
}

}  // namespace ebb::kernels
