#include "vm/kernels/portable/gemm_constant.h"

#include "bytecode/shape_rules/geometry.h"
#include "vm/kernels/packing.h"
#include "vm/kernels/portable/request.h"

namespace ebb::kernels {

namespace {

bool IsPacked(const Operand& operand) {
  return operand.packing != nullptr && operand.constant_data != nullptr;
}

}  // namespace

std::vector<int64_t> PlainStrides(const Operand& operand) {
  if (IsPacked(operand)) return DenseStrides(operand.dims);
  return {operand.strides.begin(), operand.strides.end()};
}

DenseConstant::DenseConstant(const Operand& operand) {
  if (!IsPacked(operand)) return;
  const int bytes = *ElementBytes(operand.dtype);
  unpacked_.resize(CountOf(operand.dims) * bytes);
  if (unpacked_.empty()) return;
  UnpackConstant(*operand.packing, operand.dims, bytes, operand.constant_data,
                 unpacked_.data());
}

}  // namespace ebb::kernels
