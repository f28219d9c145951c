// Shape arithmetic into dims: where the contents of a value input (sizes,
// axes, pads, …) are known as dims, the operator is given these dims as a
// shape value, and the tensors that were to carry them are left without use.
//
//   %s = shape_of %x                     %shape = shape [n, 48]
//   %r = … concat …, gather …      →     %y = reshape %z, %shape
//   %y = reshape %z, %r
//
// Needs inferred types. Leaves the unused tensors for remove-unused.
#ifndef EBB_COMPILER_PASSES_FOLD_SHAPES_H_
#define EBB_COMPILER_PASSES_FOLD_SHAPES_H_

#include "compiler/ir/ir.h"

namespace ebb::passes {

void FoldShapes(ir::Module& module);

}  // namespace ebb::passes

#endif  // EBB_COMPILER_PASSES_FOLD_SHAPES_H_
