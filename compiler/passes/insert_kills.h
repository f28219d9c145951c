// Inserts kills: ends the hold on every value that a function owns right after
// its last use, on every path, once.
//
//   %a = relu %x                %a = relu %x
//   %b = mul %a, %a      →      %b = mul %a, %a
//   return %b                   kill_tensor %a
//                               return %b
//
// - Ends of lives come from compiler/analysis/liveness.h: in branches, at the
//   entry of the branch that does not use a value, after a loop for what comes
//   from outside of it, at the definition of what is never used.
// - An operand that its consumer takes over (tuple, closure, yield, continue,
//   argument of a donated parameter, start of a carried value) is marked `move`
//   at its last use instead; another place of it in the same instruction is
//   a share, and where the same instruction also reads it, it is killed after.
// - Not killed: borrowed parameters, constants, shapes and integers, what is
//   returned, and what the text kills or moves already. Running the pass twice
//   changes nothing.
// - Kills at one point: tensors, storages, objects; within each in the order
//   of the bindings.
//
// Canonicalises bindings first: one value, one hold. Does not remove unused
// instructions, reorder, or decide where memory is shared.
#ifndef EBB_COMPILER_PASSES_INSERT_KILLS_H_
#define EBB_COMPILER_PASSES_INSERT_KILLS_H_

#include "compiler/ir/ir.h"

namespace ebb::passes {

void InsertKills(ir::Module& module);

}  // namespace ebb::passes

#endif  // EBB_COMPILER_PASSES_INSERT_KILLS_H_
