// Removes what nothing needs: instructions without effect whose results are
// not used (all operators are pure), results of branches and carried values of
// loops that nobody asks for, and optional outputs of operators.
//
// Stays: calls, external calls, instructions that write into destinations, a
// match_cast that checks something, and whatever gives a dim its value that
// is still needed. Explicit kills of removed values go with them; where what
// is removed had killed or moved a value that stays, the value is killed in
// that place. Linear; does not merge or move anything.
#ifndef EBB_COMPILER_PASSES_REMOVE_UNUSED_H_
#define EBB_COMPILER_PASSES_REMOVE_UNUSED_H_

#include "compiler/ir/ir.h"

namespace ebb::passes {

void RemoveUnused(ir::Module& module);

}  // namespace ebb::passes

#endif  // EBB_COMPILER_PASSES_REMOVE_UNUSED_H_
