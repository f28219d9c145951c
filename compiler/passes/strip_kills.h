// The comparison that shows what kills are worth: takes out the kills at the
// top level of the entry function, so that every value made there stays to the
// end of the run. Those inside branches, loops and called functions stay: a
// loop could not fill its registers again without them.
#ifndef EBB_COMPILER_PASSES_STRIP_KILLS_H_
#define EBB_COMPILER_PASSES_STRIP_KILLS_H_

#include "compiler/ir/ir.h"

namespace ebb::passes {

void StripKills(ir::Module& module);

}  // namespace ebb::passes

#endif  // EBB_COMPILER_PASSES_STRIP_KILLS_H_
