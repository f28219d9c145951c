// Holds a module to the rules of the IR: each value is assigned once and
// defined before its uses, in sight of them; regions end in their terminator;
// instructions have the operands, attributes, regions and types (where types
// are known) that their kind asks for; only what a function owns is killed or
// moved, on no path twice, and not used afterwards.
//
// Does not ask for kills: a missing one is legal here (the lifetime checker
// of the bytecode asks). Does not infer types or prove dims equal.
//
// Linear in the module, save for the nesting of regions (kMaxNesting). Errors
// say `line:column` in `where` when the module was parsed, else the function.
#ifndef EBB_COMPILER_IR_VERIFIER_H_
#define EBB_COMPILER_IR_VERIFIER_H_

#include "bytecode/error.h"
#include "compiler/ir/ir.h"

namespace ebb::ir {

Status Verify(const Module& module);

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_VERIFIER_H_
