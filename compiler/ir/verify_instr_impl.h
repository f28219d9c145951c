// The checks behind VerifyInstr: memory, operators and control flow in
// verify_instr.cc, what crosses functions (and kills) in verify_call.cc.
// Everything is borrowed for the one call.
#ifndef EBB_COMPILER_IR_VERIFY_INSTR_IMPL_H_
#define EBB_COMPILER_IR_VERIFY_INSTR_IMPL_H_

#include <string>
#include <utility>

#include "bytecode/error.h"
#include "compiler/ir/instr_info.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify_instr.h"

namespace ebb::ir {

class InstrChecker {
 public:
  InstrChecker(const Module& module, const FunctionNames& functions,
               const Function& function, const Instr& instr)
      : module_(module),
        functions_(functions),
        function_(function),
        instr_(instr) {}

  Status Run();

 private:
  std::unexpected<Error> Bad(std::string message) const {
    return FailAt(function_, instr_, Word() + ": " + std::move(message));
  }
  std::string Word() const;
  std::string NameOf(ValueId value) const {
    return SigilName('%', function_.value(value).name);
  }
  const Type& TypeOf(ValueId value) const {
    return function_.value(value).type;
  }

  Status Count(const char* what, std::size_t count, std::size_t low,
               std::size_t high) const;
  Status Operands(std::size_t low, std::size_t high) const {
    return Count("operands", instr_.operands.size(), low, high);
  }
  Status Results(std::size_t low, std::size_t high) const {
    return Count("results", instr_.results.size(), low, high);
  }
  Status Dims(std::size_t low, std::size_t high) const {
    return Count("dims", instr_.dims.size(), low, high);
  }
  // Every operand is there, from this one on.
  Status Present(std::size_t from = 0) const;
  // The operand is of this kind, or of unknown type.
  Status OfKind(ValueId value, TypeKind kind, const char* what) const;
  Status ResultOfKind(TypeKind kind, const char* what) const;

  Status CheckSimple();
  Status CheckOperator();
  Status CheckConstant();
  Status CheckMemory();
  Status CheckIf();
  Status CheckLoop();
  Status CheckCall();
  Status CheckClosureCall();
  Status CheckKill();
  Status CheckReturn();
  Status CheckFieldsUnused() const;

  const Module& module_;
  const FunctionNames& functions_;
  const Function& function_;
  const Instr& instr_;
};

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_VERIFY_INSTR_IMPL_H_
