// The analysis behind remove-unused: which instructions, values and carried
// positions of a function something needs. A worklist from the roots: what has
// effects, and what is returned.
#ifndef EBB_COMPILER_PASSES_NEEDED_H_
#define EBB_COMPILER_PASSES_NEEDED_H_

#include <cstddef>
#include <vector>

#include "compiler/ir/ir.h"

namespace ebb::passes {

struct Needed {
  std::vector<bool> instrs;  // By instruction that stands in a region.
  std::vector<bool> values;
  // By loop: carried values and scan outputs to keep, by position.
  std::vector<std::vector<bool>> carried;
};

Needed FindNeeded(const ir::Module& module, const ir::Function& function);

}  // namespace ebb::passes

#endif  // EBB_COMPILER_PASSES_NEEDED_H_
