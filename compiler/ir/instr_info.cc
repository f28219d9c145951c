#include "compiler/ir/instr_info.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ebb::ir {
namespace {

using enum InstrKind;

constexpr std::array<std::pair<InstrKind, std::string_view>, 27> kMnemonics = {{
    {kConstant, "constant"},
    {kShape, "shape"},
    {kInt, "int"},
    {kMatchCast, "match_cast"},
    {kTuple, "tuple"},
    {kGet, "get"},
    {kSequence, "sequence"},
    {kSequenceInsert, "sequence_insert"},
    {kSequenceErase, "sequence_erase"},
    {kLength, "length"},
    {kOptional, "optional"},
    {kMakeClosure, "closure"},
    {kCall, "call"},
    {kCallExternal, "call_external"},
    {kIf, "if"},
    {kLoop, "loop"},
    {kAllocStorage, "alloc_storage"},
    {kAllocTensor, "alloc_tensor"},
    {kView, "view"},
    {kScratchBytes, "scratch_bytes"},
    {kStoreInts, "store_ints"},
    {kKillTensor, "kill_tensor"},
    {kKillStorage, "kill_storage"},
    {kKillObject, "kill_object"},
    {kReturn, "return"},
    {kYield, "yield"},
    {kContinue, "continue"},
}};

}  // namespace

FunctionId Module::FindFunction(std::string_view name) const {
  const auto at = std::ranges::find(functions, name, &Function::name);
  return at == functions.end()
             ? FunctionId()
             : FunctionId(static_cast<std::size_t>(at - functions.begin()));
}

std::string_view KindMnemonic(InstrKind kind) {
  const auto at = std::ranges::find(
      kMnemonics, kind, &std::pair<InstrKind, std::string_view>::first);
  return at == kMnemonics.end() ? std::string_view() : at->second;
}

std::optional<InstrKind> KindFromMnemonic(std::string_view word) {
  const auto at = std::ranges::find(
      kMnemonics, word, &std::pair<InstrKind, std::string_view>::second);
  if (word.empty() || at == kMnemonics.end()) return std::nullopt;
  return at->first;
}

bool IsKill(InstrKind kind) {
  return kind == kKillTensor || kind == kKillStorage || kind == kKillObject;
}

bool IsTerminator(InstrKind kind) {
  return kind == kReturn || kind == kYield || kind == kContinue;
}

Type ImpliedType(const Instr& instr) {
  switch (instr.kind) {
    case kShape:
      return Type::Shape(static_cast<int>(instr.dims.size()));
    case kInt:
    case kLength:
    case kScratchBytes:
      return Type::Of(TypeKind::kInt);
    case kAllocStorage:
      return Type::Of(TypeKind::kStorage);
    case kMakeClosure:
      return Type::Of(TypeKind::kClosure);
    default:
      return Type();
  }
}

InstrKind KillKindOf(const Function& function, ValueId value) {
  const Value& row = function.value(value);
  switch (row.type.kind) {
    case TypeKind::kTensor:
      return kKillTensor;
    case TypeKind::kStorage:
      return kKillStorage;
    case TypeKind::kUnknown:
      return row.def.valid() && function.instr(row.def).kind == kOperator
                 ? kKillTensor
                 : kKillObject;
    default:
      return kKillObject;
  }
}

FunctionNames::FunctionNames(const Module& module) {
  for (const Function& function : module.functions) {
    by_name_.emplace(function.name, &function);
  }
}

const Function* FunctionNames::Find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : at->second;
}

namespace {

Use UseOfArgument(const Function* callee, std::size_t param) {
  if (callee == nullptr) return Use::kMayTake;
  if (param >= callee->params.size()) return Use::kRead;
  return callee->params[param].donated ? Use::kTake : Use::kRead;
}

}  // namespace

Use UseOf(const FunctionNames& functions, const Function& function,
          const Instr& instr, std::size_t operand) {
  switch (instr.kind) {
    case kTuple:
    case kSequence:
    case kOptional:
    case kMakeClosure:
    case kYield:
    case kContinue:
      return Use::kTake;
    case kSequenceInsert:
      return operand <= 1 ? Use::kTake : Use::kRead;
    case kSequenceErase:
      return operand == 0 ? Use::kTake : Use::kRead;
    case kLoop:
      // The trip count and the start condition are read.
      return operand >= 2 ? Use::kTake : Use::kRead;
    case kCall:
      return UseOfArgument(functions.Find(instr.symbol), operand);
    case kCallClosure: {
      if (operand == 0) return Use::kRead;
      // A closure that is made in sight tells its function.
      const ValueId closure = instr.operands[0].value;
      if (!closure.valid()) return Use::kMayTake;
      const InstrId def = function.value(closure).def;
      if (!def.valid() || function.instr(def).kind != kMakeClosure) {
        return Use::kMayTake;
      }
      return UseOfArgument(functions.Find(function.instr(def).symbol),
                           operand - 1);
    }
    default:
      return Use::kRead;
  }
}

std::vector<bool> OwnedValues(const Function& function) {
  std::vector<bool> owned(function.values.size());
  for (std::size_t i = 0; i < owned.size(); ++i) {
    const Value& value = function.values[i];
    owned[i] =
        value.type.HoldsBuffer() &&
        (!value.def.valid() || function.instr(value.def).kind != kConstant);
  }
  for (const Param& param : function.params) {
    if (!param.donated) owned[param.value.index()] = false;
  }
  return owned;
}

}  // namespace ebb::ir
