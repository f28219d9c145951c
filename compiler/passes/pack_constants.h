// Packs weights at compile time: where the kernel that will run an operator
// wants a constant input in a blocking of its own, the constant is stored in
// it. A loader on another machine unpacks it by its description.
//
// Needs inferred types, and should come after common subexpressions: a weight
// that two operators read is packed once for both when they want the same.
// Weights that other instructions read as well are left plain.
#ifndef EBB_COMPILER_PASSES_PACK_CONSTANTS_H_
#define EBB_COMPILER_PASSES_PACK_CONSTANTS_H_

#include "compiler/ir/ir.h"
#include "vm/kernels/kernel.h"

namespace ebb::passes {

void PackConstants(ir::Module& module, kernels::Backend backend);

}  // namespace ebb::passes

#endif  // EBB_COMPILER_PASSES_PACK_CONSTANTS_H_
