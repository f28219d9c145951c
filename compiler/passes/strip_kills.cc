#include "compiler/passes/strip_kills.h"

#include <vector>

namespace ebb::passes {

void StripKills(ir::Module& module) {
  if (!module.entry.valid()) return;
  ir::Function& entry = module.function(module.entry);
  if (!entry.body.valid()) return;
  std::erase_if(entry.region(entry.body).instrs, [&](ir::InstrId id) {
    const ir::InstrKind kind = entry.instr(id).kind;
    return kind == ir::InstrKind::kKillTensor ||
           kind == ir::InstrKind::kKillStorage ||
           kind == ir::InstrKind::kKillObject;
  });
}

}  // namespace ebb::passes
