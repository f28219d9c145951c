#include "compiler/ir/builder.h"

#include <cassert>
#include <utility>

namespace ebb::ir {

FunctionId DeclareFunction(Module& module, std::string_view name) {
  const FunctionId id(module.functions.size());
  module.functions.emplace_back();
  module.functions.back().name = name;
  return id;
}

FunctionId AddFunction(Module& module, std::string_view name) {
  const FunctionId id = DeclareFunction(module, name);
  Function& function = module.function(id);
  function.body = RegionId(0);
  function.regions.emplace_back();
  if (!module.entry.valid()) module.entry = id;
  return id;
}

ConstantId AddConstant(Module& module, Constant constant) {
  const ConstantId id(module.constants.size());
  module.constants.push_back(std::move(constant));
  return id;
}

Builder::Builder(Module& module, FunctionId function)
    : module_(module),
      function_id_(function),
      region_(module.function(function).body),
      names_(module.function(function)) {}

ValueId Builder::AddValue(std::string_view hint, Type type) {
  Value value;
  value.name = names_.Unique(hint.empty() ? "v" : hint);
  value.type = std::move(type);
  const ValueId id(function().values.size());
  function().values.push_back(std::move(value));
  return id;
}

ValueId Builder::AddParam(std::string_view name, Type type, bool donated) {
  const ValueId id = AddValue(name, std::move(type));
  function().params.push_back(Param{.value = id, .donated = donated});
  return id;
}

RegionId Builder::AddRegion() {
  const RegionId id(function().regions.size());
  function().regions.emplace_back();
  return id;
}

ValueId Builder::AddRegionParam(RegionId region, std::string_view name,
                                Type type) {
  const ValueId id = AddValue(name, std::move(type));
  function().region(region).params.push_back(id);
  return id;
}

InstrId Builder::Append(Instr instr) {
  assert(region_.valid());
  Function& owner = function();
  const InstrId id(owner.instrs.size());
  if (instr.node.empty()) instr.node = node_;
  if (instr.location.line == 0) instr.location = location_;
  for (const ValueId result : instr.results) {
    if (result.valid()) owner.value(result).def = id;
  }
  owner.instrs.push_back(std::move(instr));
  owner.region(region_).instrs.push_back(id);
  return id;
}

ValueId Builder::Add(Instr instr, std::string_view name, Type type) {
  const ValueId result = AddValue(name, std::move(type));
  instr.results = {result};
  Append(std::move(instr));
  return result;
}

std::vector<ValueId> Builder::AddMany(Instr instr,
                                      std::span<const std::string> names,
                                      std::span<const Type> types) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    instr.results.push_back(
        names[i].empty()
            ? ValueId()
            : AddValue(names[i], i < types.size() ? types[i] : Type()));
  }
  std::vector<ValueId> results = instr.results;
  Append(std::move(instr));
  return results;
}

Instr Builder::Make(InstrKind kind, std::span<const ValueId> operands) {
  Instr instr;
  instr.kind = kind;
  for (const ValueId operand : operands) {
    instr.operands.push_back(Operand{.value = operand});
  }
  return instr;
}

Instr Builder::Operator(OperatorCode code, std::span<const ValueId> operands,
                        Attributes attributes) {
  Instr instr = Make(InstrKind::kOperator, operands);
  instr.code = code;
  instr.attributes = std::move(attributes);
  return instr;
}

ValueId Builder::AddConstantValue(ConstantId constant, std::string_view name) {
  const Constant& row = module_.constants[constant.index()];
  std::vector<Dim> dims;
  for (const int64_t dim : row.dims) {
    dims.push_back(module_.dims.Constant(dim));
  }
  Instr instr = Make(InstrKind::kConstant);
  instr.constant = constant;
  return Add(std::move(instr), name, Type::Tensor(row.dtype, std::move(dims)));
}

ValueId Builder::AddShape(std::vector<Dim> dims, std::string_view name) {
  Instr instr = Make(InstrKind::kShape);
  const Type type = Type::Shape(static_cast<int>(dims.size()));
  instr.dims = std::move(dims);
  return Add(std::move(instr), name, type);
}

ValueId Builder::AddInt(Dim dim, std::string_view name) {
  Instr instr = Make(InstrKind::kInt);
  instr.dims = {dim};
  return Add(std::move(instr), name, Type::Of(TypeKind::kInt));
}

InstrId Builder::Return(std::span<const ValueId> values) {
  return Append(Make(InstrKind::kReturn, values));
}

InstrId Builder::Yield(std::span<const ValueId> values) {
  return Append(Make(InstrKind::kYield, values));
}

}  // namespace ebb::ir
