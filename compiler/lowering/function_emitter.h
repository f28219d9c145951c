// Emits the bytecode of one function: walks the IR in order and keeps, for
// every value, the hold register or integers it is in. Straight code is in
// function_emitter.cc, branches, loops and calls in control_emitter.cc.
//
// Constants are loaded once, at the function's start: they hold no buffer,
// are never killed, and a loop must not fill their registers twice. Kills may
// be missing at the top level of a function, never inside a loop: its next
// step fills the same registers.
#ifndef EBB_COMPILER_LOWERING_FUNCTION_EMITTER_H_
#define EBB_COMPILER_LOWERING_FUNCTION_EMITTER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bytecode/error.h"
#include "bytecode/function_builder.h"
#include "compiler/ir/ir.h"
#include "compiler/lowering/dim_emitter.h"
#include "compiler/lowering/hold_registers.h"

namespace ebb::lowering {

// What emitting needs to know of the module; ids are those of the bytecode.
struct ModuleContext {
  const ir::Module& module;
  bytecode::ModuleBuilder& builder;
  std::vector<bytecode::FunctionId> functions;  // By ir::FunctionId.
  std::unordered_map<std::string, ir::FunctionId> function_by_name;
  std::vector<bytecode::ConstantId> constants;  // By ir::ConstantId.
};

class FunctionEmitter {
 public:
  FunctionEmitter(ModuleContext& context, ir::FunctionId id);
  Status Run(bool is_entry);

 private:
  using IntOperand = bytecode::IntOperand;

  // Recursion is as deep as regions nest: ir::kMaxNesting at most. Ends
  // before the terminator, which is returned.
  Expected<const ir::Instr*> EmitRegion(ir::RegionId region);
  Status EmitInstr(const ir::Instr& instr);

  // function_emitter.cc
  void EmitParams(bool is_entry);
  Status CheckParams();
  Status CheckDims(ir::ValueId value, bytecode::StringId message);
  void EmitConstants();
  Status EmitOperator(const ir::Instr& instr);
  Status EmitScratchBytes(const ir::Instr& instr);
  Status EmitAlloc(const ir::Instr& instr);
  Status EmitPlaced(const ir::Instr& instr, bytecode::Opcode opcode);
  Status EmitMatchCast(const ir::Instr& instr);
  Status EmitGet(const ir::Instr& instr);
  Status EmitStoreInts(const ir::Instr& instr);
  // Returns the place of the first instruction after the kills.
  std::size_t EmitKills(const ir::Region& region, std::size_t first);
  Status EmitSequenceEdit(const ir::Instr& instr);

  // control_emitter.cc
  Status EmitIf(const ir::Instr& instr);
  Status EmitLoop(const ir::Instr& instr);
  Status EmitCall(const ir::Instr& instr);
  Status EmitCallExternal(const ir::Instr& instr);
  Status EmitPack(const ir::Instr& instr, bytecode::Opcode opcode);
  Status EmitReturn(const ir::Instr& instr);
  Status EmitYield(const ir::Instr& instr, const std::vector<int64_t>& into);
  Status EmitContinue(const ir::Instr& instr,
                      const std::vector<int64_t>& carried, int64_t condition);

  // Registers and operands.
  int64_t HoldOf(ir::ValueId value) const;
  int64_t DefineHold(ir::ValueId value);  // kNoRegister for "none"
  std::vector<int64_t> DefineHolds(const ir::Instr& instr);
  void ReleaseHold(ir::ValueId value);
  // Takes the operand as Pass and, when it is moved, frees its register.
  bytecode::PassOperand Take(const ir::Operand& operand);
  Expected<IntOperand> IntOf(ir::ValueId value);
  Expected<std::vector<IntOperand>> IntsOf(ir::ValueId value);
  Expected<std::vector<bytecode::InOperand>> InsOf(const ir::Instr& instr);
  // A dim of a tensor in a register, where the function needs its symbol.
  void BindSymbols(ir::ValueId value);
  void BindSymbol(ir::SymbolId symbol, int64_t hold, std::size_t axis);
  void BindSymbols(const ir::Instr& instr);
  Expected<std::vector<IntOperand>> StridesOf(const ir::Type& type);
  void LookAhead();
  bytecode::SiteId SiteOf(const ir::Instr& instr);
  const std::string& NameOf(ir::ValueId value) const;
  Status FailAt(const ir::Instr& instr, std::string message) const;
  bool IsConstant(ir::ValueId value) const;

  ModuleContext& context_;
  const ir::Module& module_;
  const ir::Function& function_;
  bytecode::FunctionBuilder builder_;
  DimEmitter dims_;
  HoldRegisters holds_;
  std::vector<int64_t> hold_of_;  // By value; kNoRegister: none now.
  // What was released, with its register: undone where a branch ends and the
  // other begins.
  std::vector<std::pair<ir::ValueId, int64_t>> released_;
  std::unordered_map<ir::ValueId, IntOperand> int_of_;
  std::unordered_map<ir::ValueId, bytecode::SiteId> site_of_scratch_bytes_;
  std::unordered_set<ir::ValueId> borrowed_;  // Parameters not donated.
  std::unordered_set<ir::SymbolId> needed_;
  std::unordered_map<ir::ValueId, ir::ValueId> first_tensor_in_;  // Storages.
};

// The type of a value as the bytecode states it.
bytecode::TypeId LowerType(bytecode::ModuleBuilder& builder,
                           const ir::DimTable& dims, const ir::Type& type);

}  // namespace ebb::lowering

#endif  // EBB_COMPILER_LOWERING_FUNCTION_EMITTER_H_
