// Common subexpressions: of two pure instructions with equal operands,
// attributes and result types, of which the first is seen by the second (it
// stands earlier in the same region or in one around it), the second is taken
// out. Constants with equal contents become one.
//
// Explicit kills and moves of values that took another one's uses are taken
// out. In functions that write into tensors (destinations, external calls)
// only constants, shapes and integers are merged: what an operator reads may
// have changed between.
#ifndef EBB_COMPILER_PASSES_COMMON_SUBEXPRESSIONS_H_
#define EBB_COMPILER_PASSES_COMMON_SUBEXPRESSIONS_H_

#include "compiler/ir/ir.h"

namespace ebb::passes {

void EliminateCommonSubexpressions(ir::Module& module);

}  // namespace ebb::passes

#endif  // EBB_COMPILER_PASSES_COMMON_SUBEXPRESSIONS_H_
