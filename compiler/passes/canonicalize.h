// Canonical bindings: `%b = %a`, and a match_cast to the type that the value
// has already, are looked through and taken out, across regions and in linear
// time. Afterwards no two names stand for the same hold.
//
// A match_cast that checks or binds something stays. Explicit kills and moves
// of values that had two names are taken out (see replace_values.h).
#ifndef EBB_COMPILER_PASSES_CANONICALIZE_H_
#define EBB_COMPILER_PASSES_CANONICALIZE_H_

#include "compiler/ir/ir.h"

namespace ebb::passes {

// Is `instr` a binding that stands for its operand?
bool IsTrivialBinding(const ir::Function& function, const ir::Instr& instr);

void Canonicalize(ir::Module& module);

}  // namespace ebb::passes

#endif  // EBB_COMPILER_PASSES_CANONICALIZE_H_
