// Packs weights at compile time: where the kernel that will run an operator
// wants a constant input in a blocking of its own, the constant is stored in
// it. A loader on another machine unpacks it by its description.
//
// Needs inferred types, and should come after common subexpressions: a weight
// that two operators read is packed once for both when they want the same.
// Weights that other instructions read as well are left plain.
#ifndef EBB_COMPILER_PASSES_PACK_CONSTANTS_H_
#define EBB_COMPILER_PASSES_PACK_CONSTANTS_H_

#include <cstddef>
#include <functional>
#include <span>

#include "compiler/ir/ir.h"
#include "vm/kernels/kernel.h"

namespace ebb::passes {

// `packed` is told of the plain bytes of each weight, part by part, once they
// have been packed: they are rarely read again, and their pages may go.
void PackConstants(
    ir::Module& module, kernels::Backend backend,
    const std::function<void(std::span<const std::byte>)>& packed = {});

}  // namespace ebb::passes

#endif  // EBB_COMPILER_PASSES_PACK_CONSTANTS_H_
