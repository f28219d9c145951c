#include "compiler/passes/replace_values.h"

#include "compiler/ir/instr_info.h"

namespace ebb::passes {

void ReplaceValues(ir::Function& function, const std::vector<ir::ValueId>& root,
                   const std::vector<bool>& dropped) {
  std::vector<bool> merged(root.size(), false);
  for (std::size_t i = 0; i < root.size(); ++i) {
    if (root[i].index() != i) merged[root[i].index()] = true;
  }
  const auto replace = [&](ir::ValueId& value) {
    if (value.valid()) value = root[value.index()];
  };
  for (ir::Region& region : function.regions) {
    std::erase_if(region.instrs, [&](ir::InstrId id) {
      if (dropped[id.index()]) return true;
      ir::Instr& instr = function.instr(id);
      for (ir::Operand& operand : instr.operands) {
        replace(operand.value);
        if (operand.value.valid() && merged[operand.value.index()]) {
          operand.move = false;
        }
      }
      for (ir::ValueId& out : instr.outs) replace(out);
      replace(instr.scratch);
      if (!ir::IsKill(instr.kind)) return false;
      std::erase_if(instr.operands, [&](const ir::Operand& operand) {
        return merged[operand.value.index()];
      });
      return instr.operands.empty();
    });
  }
}

}  // namespace ebb::passes
