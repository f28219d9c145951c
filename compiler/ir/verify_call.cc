#include "compiler/ir/printer.h"
#include "compiler/ir/verify_instr_impl.h"

namespace ebb::ir {

using enum InstrKind;

Status InstrChecker::CheckCall() {
  RETURN_IF_ERROR(Present());
  const Function* callee = functions_.Find(instr_.symbol);
  if (callee == nullptr) return {};
  const std::string name = SigilName('@', instr_.symbol);
  const std::size_t params = callee->params.size();
  if (instr_.kind == kMakeClosure) {
    RETURN_IF_ERROR(Results(1, 1));
    if (instr_.operands.size() <= params) return {};
    return Bad(std::to_string(instr_.operands.size()) + " values captured, " +
               name + " has " + std::to_string(params) + " parameters");
  }
  if (instr_.operands.size() != params) {
    return Bad(std::to_string(instr_.operands.size()) + " arguments, " + name +
               " has " + std::to_string(params) + " parameters");
  }
  if (instr_.results.size() != callee->result_types.size()) {
    return Bad(std::to_string(instr_.results.size()) + " results, " + name +
               " gives " + std::to_string(callee->result_types.size()));
  }
  for (std::size_t i = 0; i < params; ++i) {
    const Operand& operand = instr_.operands[i];
    if (operand.move && !callee->params[i].donated) {
      return Bad(NameOf(operand.value) + " is moved, but parameter " +
                 std::to_string(i) + " of " + name + " is borrowed");
    }
    const Type& wanted = callee->value(callee->params[i].value).type;
    const Type& given = TypeOf(operand.value);
    if (wanted.IsTensor() && given.IsTensor() && wanted.dtype != given.dtype) {
      return Bad(NameOf(operand.value) + " is of type " +
                 ToString(module_.dims, given) + ", " + name + " takes " +
                 ToString(module_.dims, wanted));
    }
  }
  return {};
}

Status InstrChecker::CheckClosureCall() {
  RETURN_IF_ERROR(Operands(1, SIZE_MAX));
  RETURN_IF_ERROR(Present());
  const ValueId closure = instr_.operands[0].value;
  RETURN_IF_ERROR(OfKind(closure, TypeKind::kClosure, "a closure"));
  const InstrId def = function_.value(closure).def;
  if (!def.valid() || function_.instr(def).kind != kMakeClosure) return {};
  const Instr& made = function_.instr(def);
  const Function* callee = functions_.Find(made.symbol);
  if (callee == nullptr) return {};
  const std::size_t given = instr_.operands.size() - 1 + made.operands.size();
  if (given != callee->params.size()) {
    return Bad(std::to_string(given) + " arguments with those captured, " +
               SigilName('@', made.symbol) + " has " +
               std::to_string(callee->params.size()) + " parameters");
  }
  return {};
}

Status InstrChecker::CheckKill() {
  RETURN_IF_ERROR(Operands(1, SIZE_MAX));
  RETURN_IF_ERROR(Present());
  RETURN_IF_ERROR(Results(0, 0));
  for (const Operand& operand : instr_.operands) {
    const TypeKind kind = TypeOf(operand.value).kind;
    if (kind == TypeKind::kUnknown) continue;
    const InstrKind wanted = KillKindOf(function_, operand.value);
    if (wanted != instr_.kind) {
      return Bad(NameOf(operand.value) + " is of type " +
                 ToString(module_.dims, TypeOf(operand.value)) +
                 ", which needs " + std::string(KindMnemonic(wanted)));
    }
  }
  return {};
}

// A tuple may stand for several results.
Status InstrChecker::CheckReturn() {
  RETURN_IF_ERROR(Present());
  RETURN_IF_ERROR(Results(0, 0));
  const std::size_t wanted = function_.result_types.size();
  const std::size_t given = instr_.operands.size();
  if (given == 1 && wanted != 1) {
    const Type& type = TypeOf(instr_.operands[0].value);
    if (type.kind == TypeKind::kTuple && type.elements.size() == wanted) {
      return {};
    }
    if (type.kind == TypeKind::kUnknown || type.kind == TypeKind::kObject) {
      return {};
    }
  }
  if (given != wanted) {
    return Bad(std::to_string(given) + " values, " +
               SigilName('@', function_.name) + " gives " +
               std::to_string(wanted));
  }
  for (std::size_t i = 0; i < given; ++i) {
    const ValueId value = instr_.operands[i].value;
    const Type& type = TypeOf(value);
    const Type& declared = function_.result_types[i];
    if (type.IsTensor() && declared.IsTensor() &&
        type.dtype != declared.dtype) {
      return Bad(NameOf(value) + " is of type " + ToString(module_.dims, type) +
                 ", result " + std::to_string(i) + " of " +
                 ToString(module_.dims, declared));
    }
  }
  return {};
}

}  // namespace ebb::ir
