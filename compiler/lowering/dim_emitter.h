// Turns dims into integer operands: constants into immediates, symbols into
// the registers they are bound to, polynomials into integer instructions. What
// was worked out once is reused until the region ends in which it was.
#ifndef EBB_COMPILER_LOWERING_DIM_EMITTER_H_
#define EBB_COMPILER_LOWERING_DIM_EMITTER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "bytecode/function_builder.h"
#include "compiler/ir/ir.h"

namespace ebb::lowering {

class DimEmitter {
 public:
  DimEmitter(const ir::DimTable& dims, bytecode::FunctionBuilder& builder)
      : dims_(dims), builder_(builder) {}

  // A new integer register, free again when the region ends.
  int64_t NewRegister() { return next_register_++; }

  void BindSymbol(ir::SymbolId symbol, bytecode::IntOperand value);
  bool IsBound(ir::SymbolId symbol) const { return symbols_.contains(symbol); }

  // Names a symbol that is not bound here.
  Expected<bytecode::IntOperand> Emit(ir::Dim dim);
  Expected<std::vector<bytecode::IntOperand>> EmitAll(
      std::span<const ir::Dim> dims);

  struct Scope {
    std::size_t symbols = 0;
    std::size_t memo = 0;
    int64_t next_register = 0;
  };
  Scope Enter() const {
    return {symbol_order_.size(), memo_order_.size(), next_register_};
  }
  void Leave(Scope scope);

 private:
  Expected<bytecode::IntOperand> EmitAtom(ir::AtomId id);
  Expected<bytecode::IntOperand> EmitTerm(const ir::Term& term);
  bytecode::IntOperand Binary(bytecode::Opcode opcode, bytecode::IntOperand a,
                              bytecode::IntOperand b);

  const ir::DimTable& dims_;
  bytecode::FunctionBuilder& builder_;
  int64_t next_register_ = 0;
  std::unordered_map<ir::SymbolId, bytecode::IntOperand> symbols_;
  std::vector<ir::SymbolId> symbol_order_;
  std::unordered_map<ir::Dim, bytecode::IntOperand> memo_;
  std::vector<ir::Dim> memo_order_;
};

}  // namespace ebb::lowering

#endif  // EBB_COMPILER_LOWERING_DIM_EMITTER_H_
