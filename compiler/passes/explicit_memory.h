// Explicit memory: from operators that give values to operators that write
// into destinations.
//
//   %z = add %x, %y        becomes   %z_storage = alloc_storage 4*n
//                                    %z = alloc_tensor %z_storage, offset=0 : …
//                                    add %x, %y into %z
//
// Scratch becomes a storage of its own, its size asked of the kernel at run
// time (`scratch_bytes`), left out where the kernel says now that it needs
// none. Operators that only rename elements (reshape, squeeze, …) of a dense
// tensor become views, if the counts of elements are proved to be the same. An
// operator whose output dims are not known before it runs stays as it is: it is
// lowered to `op_alloc`, and binds the dims.
//
// Does not choose offsets or share storages; and does not kill.
#ifndef EBB_COMPILER_PASSES_EXPLICIT_MEMORY_H_
#define EBB_COMPILER_PASSES_EXPLICIT_MEMORY_H_

#include "bytecode/error.h"
#include "compiler/ir/ir.h"
#include "vm/kernels/kernel.h"

namespace ebb::passes {

struct MemoryOptions {
  kernels::Backend backend = kernels::DefaultBackend();
  int threads = 1;
};

// Needs inferred types. Names the node when no kernel takes its operands.
Status MakeMemoryExplicit(ir::Module& module, const MemoryOptions& options);

}  // namespace ebb::passes

#endif  // EBB_COMPILER_PASSES_EXPLICIT_MEMORY_H_
