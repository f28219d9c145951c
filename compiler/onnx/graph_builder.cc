#include "compiler/onnx/graph_builder.h"

#include <cstring>
#include <memory>
#include <utility>

#include "bytecode/half.h"
#include "compiler/analysis/infer.h"

namespace ebb::onnx {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
Bytes BytesOf(T value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

Bytes ScalarBytes(DType dtype, double value) {
  switch (dtype) {
    case DType::kF32:
      return BytesOf(static_cast<float>(value));
    case DType::kF64:
      return BytesOf(value);
    case DType::kF16:
      return BytesOf(F32ToF16(static_cast<float>(value)));
    case DType::kBF16:
      return BytesOf(F32ToBF16(static_cast<float>(value)));
    case DType::kI64:
    case DType::kU64:
      return BytesOf(static_cast<int64_t>(value));
    case DType::kI32:
    case DType::kU32:
      return BytesOf(static_cast<int32_t>(value));
    case DType::kI16:
    case DType::kU16:
      return BytesOf(static_cast<int16_t>(value));
    default:
      return BytesOf(static_cast<int8_t>(value));
  }
}

ir::Constant Owned(ir::Module& module, std::string_view name, DType dtype,
                   std::vector<int64_t> dims, Bytes bytes) {
  auto kept = std::make_shared<const Bytes>(std::move(bytes));
  ir::Constant constant;
  constant.name = name;
  constant.dtype = dtype;
  constant.dims = std::move(dims);
  constant.data = *kept;
  module.owned.push_back(std::move(kept));
  return constant;
}

}  // namespace

ir::RegionId GraphBuilder::NewRegion() {
  function().regions.emplace_back();
  return ir::RegionId(function().regions.size() - 1);
}

ir::ValueId GraphBuilder::AddValue(std::string_view name, ir::Type type) {
  ir::Value value;
  value.name = names_.Unique(name.empty() ? "v" : name);
  value.type = std::move(type);
  function().values.push_back(std::move(value));
  return ir::ValueId(function().values.size() - 1);
}

void GraphBuilder::Rename(ir::ValueId id, std::string_view name) {
  if (value(id).name != name) value(id).name = names_.Unique(name);
}

Expected<std::vector<ir::ValueId>> GraphBuilder::Add(ir::Instr instr,
                                                     std::size_t result_count,
                                                     std::string_view hint) {
  const ir::InstrId id(function().instrs.size());
  instr.node = node_;
  for (std::size_t i = 0; i < result_count; ++i) {
    const ir::ValueId result = AddValue(hint, {});
    value(result).def = id;
    instr.results.push_back(result);
  }
  std::vector<ir::ValueId> results = instr.results;
  function().instrs.push_back(std::move(instr));
  function().region(region_).instrs.push_back(id);
  RETURN_IF_ERROR(ir::InferInstr(module_, function(), id));
  return results;
}

void GraphBuilder::AddPlain(ir::Instr instr) {
  instr.node = node_;
  function().instrs.push_back(std::move(instr));
  function().region(region_).instrs.emplace_back(function().instrs.size() - 1);
}

Expected<ir::ValueId> GraphBuilder::AddConstant(ir::Constant constant) {
  ir::Instr instr;
  instr.kind = ir::InstrKind::kConstant;
  const std::string hint = constant.name.empty() ? "c" : constant.name;
  module_.constants.push_back(std::move(constant));
  instr.constant = ir::ConstantId(module_.constants.size() - 1);
  TRY(const auto results, Add(std::move(instr), 1, hint));
  return results[0];
}

Expected<ir::ValueId> GraphBuilder::AddInts(std::span<const int64_t> values,
                                            std::string_view hint) {
  Bytes bytes(values.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return AddConstant(Owned(module_, hint, DType::kI64,
                           {static_cast<int64_t>(values.size())},
                           std::move(bytes)));
}

Expected<ir::ValueId> GraphBuilder::AddInt(int64_t value,
                                           std::string_view hint) {
  return AddConstant(Owned(module_, hint, DType::kI64, {}, BytesOf(value)));
}

Expected<ir::ValueId> GraphBuilder::AddScalar(DType dtype, double value,
                                              std::string_view hint) {
  return AddConstant(
      Owned(module_, hint, dtype, {}, ScalarBytes(dtype, value)));
}

Expected<ir::ValueId> GraphBuilder::AddShape(std::vector<ir::Dim> dims,
                                             std::string_view hint) {
  ir::Instr instr;
  instr.kind = ir::InstrKind::kShape;
  instr.dims = std::move(dims);
  TRY(const auto results, Add(std::move(instr), 1, hint));
  return results[0];
}

}  // namespace ebb::onnx
