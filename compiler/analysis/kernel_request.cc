#include "compiler/analysis/kernel_request.h"

#include <utility>

#include "compiler/analysis/contents.h"

namespace ebb::ir {
namespace {

using Numbers = std::vector<int64_t>;

std::optional<Numbers> KnownDims(const DimTable& table,
                                 const std::vector<Dim>& dims) {
  Numbers numbers;
  for (const Dim dim : dims) {
    const auto number = table.Known(dim);
    if (!number.has_value()) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

Numbers DenseStridesOf(const Numbers& dims) {
  Numbers strides(dims.size());
  int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

Numbers ChannelsLastStridesOf(const Numbers& dims) {
  Numbers strides(dims.size());
  int64_t stride = 1;
  const auto place = [&](std::size_t i) {
    strides[i] = stride;
    stride *= dims[i];
  };
  place(1);
  for (std::size_t i = dims.size(); i-- > 2;) place(i);
  place(0);
  return strides;
}

std::optional<Numbers> StridesOf(const DimTable& table, const Type& type,
                                 const Numbers& dims) {
  switch (type.layout) {
    case Layout::kRowMajor:
      return DenseStridesOf(dims);
    case Layout::kChannelsLast:
      return dims.size() < 2 ? DenseStridesOf(dims)
                             : ChannelsLastStridesOf(dims);
    case Layout::kStrided:
      return KnownDims(table, type.strides);
  }
  return std::nullopt;
}

}  // namespace

const Constant* ConstantOf(const Module& module, const Function& function,
                           ValueId value) {
  if (!value.valid()) return nullptr;
  const InstrId def = function.value(value).def;
  if (!def.valid()) return nullptr;
  const Instr& instr = function.instr(def);
  if (instr.kind != InstrKind::kConstant) return nullptr;
  return &module.constants[instr.constant.index()];
}

std::optional<KernelRequest> MakeKernelRequest(const Module& module,
                                               const Function& function,
                                               const Instr& instr) {
  KernelRequest request;
  request.info = &InfoOf(instr.code);
  request.attributes = &instr.attributes;
  const auto keep = [&](Numbers numbers) {
    request.lists_.push_back(std::move(numbers));
    return std::span<const int64_t>(request.lists_.back());
  };
  const auto tensor = [&](ValueId id,
                          kernels::Operand& operand) {
    const Type& type = function.value(id).type;
    if (!type.IsTensor() || !type.ranked) return false;
    auto dims = KnownDims(module.dims, type.dims);
    if (!dims.has_value()) return false;
    auto strides = StridesOf(module.dims, type, *dims);
    if (!strides.has_value()) return false;
    operand.kind = kernels::OperandKind::kTensor;
    operand.dtype = type.dtype;
    operand.dims = keep(std::move(*dims));
    operand.strides = keep(std::move(*strides));
    return true;
  };
  for (std::size_t i = 0; i < instr.operands.size(); ++i) {
    const ValueId id = instr.operands[i].value;
    kernels::Operand& operand = request.inputs.emplace_back();
    if (!id.valid()) continue;
    const Constant* constant = ConstantOf(module, function, id);
    if (request.info->ReadsValue(i)) {
      operand.kind = kernels::OperandKind::kList;
      const Value& value = function.value(id);
      operand.dtype = value.type.IsTensor() ? value.type.dtype : DType::kI64;
      if (value.contents.has_value()) {
        auto ints = KnownDims(module.dims, *value.contents);
        if (!ints.has_value()) return std::nullopt;
        operand.ints = keep(std::move(*ints));
      } else {
        auto floats = constant == nullptr ? std::nullopt
                                          : FloatsOfConstant(*constant);
        if (!floats.has_value()) return std::nullopt;
        request.float_lists_.push_back(std::move(*floats));
        operand.floats = request.float_lists_.back();
      }
      // The shape of the list itself, for kernels that care about the rank.
      if (value.type.IsTensor() && value.type.ranked) {
        auto dims = KnownDims(module.dims, value.type.dims);
        if (dims.has_value()) operand.dims = keep(std::move(*dims));
      }
      continue;
    }
    if (!tensor(id, operand)) return std::nullopt;
    if (constant != nullptr && !constant->repeat) {
      operand.constant_data = constant->data.data();
      operand.packing =
          constant->packing.has_value() ? &*constant->packing : nullptr;
    }
  }
  const auto& outputs = instr.outs.empty() ? instr.results : instr.outs;
  for (const ValueId id : outputs) {
    kernels::Operand& operand = request.outputs.emplace_back();
    if (id.valid() && !tensor(id, operand)) return std::nullopt;
  }
  return request;
}

}  // namespace ebb::ir
