#include "compiler/lowering/dim_emitter.h"

#include <utility>

namespace ebb::lowering {

using bytecode::IntOperand;
using bytecode::Opcode;

void DimEmitter::BindSymbol(ir::SymbolId symbol, IntOperand value) {
  if (symbols_.emplace(symbol, value).second) symbol_order_.push_back(symbol);
}

void DimEmitter::Leave(Scope scope) {
  for (; symbol_order_.size() > scope.symbols; symbol_order_.pop_back()) {
    symbols_.erase(symbol_order_.back());
  }
  for (; memo_order_.size() > scope.memo; memo_order_.pop_back()) {
    memo_.erase(memo_order_.back());
  }
  next_register_ = scope.next_register;
}

IntOperand DimEmitter::Binary(Opcode opcode, IntOperand a, IntOperand b) {
  const int64_t result = NewRegister();
  builder_.Emit(opcode).DefInt(result).Int(a).Int(b);
  return IntOperand::Register(result);
}

// Recursion goes as deep as dims are nested in atoms. The shape rules nest a
// dim once per operator on a chain, so the depth is bounded by what was
// emitted and remembered before; a chain whose middle was never needed is
// still as short as the normal form that the table could build.
Expected<IntOperand> DimEmitter::EmitAtom(ir::AtomId id) {
  const ir::Atom& atom = dims_.atom(id);
  if (atom.kind == ir::AtomKind::kSymbol) {
    const auto at = symbols_.find(atom.symbol);
    if (at == symbols_.end()) {
      return Fail(ErrorCode::kInvalidModel,
                  "dim " + dims_.SymbolName(atom.symbol) +
                      " is used where no value has it");
    }
    return at->second;
  }
  TRY(const IntOperand a, Emit(atom.a));
  TRY(const IntOperand b, Emit(atom.b));
  Opcode opcode = Opcode::kIntMin;
  switch (atom.kind) {
    case ir::AtomKind::kFloorDiv:
      opcode = Opcode::kIntFloorDiv;
      break;
    case ir::AtomKind::kCeilDiv:
      opcode = Opcode::kIntCeilDiv;
      break;
    case ir::AtomKind::kMod:
      opcode = Opcode::kIntMod;
      break;
    case ir::AtomKind::kMax:
      opcode = Opcode::kIntMax;
      break;
    case ir::AtomKind::kMin:
    case ir::AtomKind::kSymbol:
      break;
  }
  return Binary(opcode, a, b);
}

Expected<IntOperand> DimEmitter::EmitTerm(const ir::Term& term) {
  if (term.atoms.empty()) return IntOperand::Immediate(term.coefficient);
  TRY(IntOperand product, EmitAtom(term.atoms[0]));
  for (std::size_t i = 1; i < term.atoms.size(); ++i) {
    TRY(const IntOperand factor, EmitAtom(term.atoms[i]));
    product = Binary(Opcode::kIntMul, product, factor);
  }
  if (term.coefficient == 1) return product;
  return Binary(Opcode::kIntMul, product,
                IntOperand::Immediate(term.coefficient));
}

Expected<IntOperand> DimEmitter::Emit(ir::Dim dim) {
  if (const auto known = dims_.Known(dim)) {
    return IntOperand::Immediate(*known);
  }
  if (const auto at = memo_.find(dim); at != memo_.end()) return at->second;
  IntOperand sum = IntOperand::Immediate(0);
  bool first = true;
  for (const ir::Term& term : dims_.Terms(dim)) {
    TRY(const IntOperand value, EmitTerm(term));
    sum = first ? value : Binary(Opcode::kIntAdd, sum, value);
    first = false;
  }
  memo_.emplace(dim, sum);
  memo_order_.push_back(dim);
  return sum;
}

Expected<std::vector<IntOperand>> DimEmitter::EmitAll(
    std::span<const ir::Dim> dims) {
  std::vector<IntOperand> values;
  for (const ir::Dim dim : dims) {
    TRY(const IntOperand value, Emit(dim));
    values.push_back(value);
  }
  return values;
}

}  // namespace ebb::lowering
