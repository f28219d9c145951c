// Replaces values by others that are the same, everywhere in a function: what
// canonicalize and common-subexpressions decide is done by this.
//
// Explicit kills and moves of a value that took another one's uses are taken
// out, because they were meant for one of the two only. insert-kills puts them
// back where they belong now.
#ifndef EBB_COMPILER_PASSES_REPLACE_VALUES_H_
#define EBB_COMPILER_PASSES_REPLACE_VALUES_H_

#include <vector>

#include "compiler/ir/ir.h"

namespace ebb::passes {

// `root`, by value: what stands for it, itself where nothing changes; roots
// are their own root. Instructions in `dropped` leave their regions.
void ReplaceValues(ir::Function& function, const std::vector<ir::ValueId>& root,
                   const std::vector<bool>& dropped);

}  // namespace ebb::passes

#endif  // EBB_COMPILER_PASSES_REPLACE_VALUES_H_
