// Constant folding: operators whose inputs are all known are run now, with the
// portable kernels that a run would use, and become constants.
//
// Never blows up the file: a result is kept only when it is one repeated value
// (stored as value and shape), or no larger than what it was computed from or
// than kFoldedBytes. Operators on repeated values are worked out on one
// element. Does not fold what a kernel refuses: the run will say why.
#ifndef EBB_COMPILER_PASSES_FOLD_CONSTANTS_H_
#define EBB_COMPILER_PASSES_FOLD_CONSTANTS_H_

#include <cstdint>

#include "compiler/ir/ir.h"

namespace ebb::passes {

// Results up to this size are always kept.
inline constexpr int64_t kFoldedBytes = 4096;

// Needs inferred types.
void FoldConstants(ir::Module& module);

}  // namespace ebb::passes

#endif  // EBB_COMPILER_PASSES_FOLD_CONSTANTS_H_
