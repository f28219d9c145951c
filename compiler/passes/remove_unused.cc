#include "compiler/passes/remove_unused.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/instr_info.h"
#include "compiler/passes/needed.h"

namespace ebb::passes {
namespace {

using ir::Function;
using ir::Instr;
using ir::InstrId;
using ir::InstrKind;
using ir::Operand;
using ir::RegionId;
using ir::ValueId;

class Remover {
 public:
  Remover(Function& function, Needed needed)
      : function_(function),
        needed_(std::move(needed)),
        owned_(ir::OwnedValues(function)) {}

  void Run() { Rewrite(function_.body); }

 private:
  // Recursion is as deep as regions nest.
  void Rewrite(RegionId region) {
    const std::vector<InstrId> before =
        std::exchange(function_.region(region).instrs, {});
    std::vector<InstrId> code;
    code.reserve(before.size());
    for (const InstrId id : before) {
      if (ir::IsKill(function_.instr(id).kind)) {
        KeepKill(id, code);
      } else if (needed_.instrs[id.index()]) {
        KeepInstr(id, code);
      } else {
        std::unordered_set<ValueId> inside;
        EndHolds(id, inside, code);
      }
    }
    function_.region(region).instrs = std::move(code);
  }

  // Is the value still there after the pass?
  bool Stays(ValueId value) const {
    if (needed_.values[value.index()]) return true;
    const InstrId def = function_.value(value).def;
    return !dropped_.contains(value) &&
           (!def.valid() || needed_.instrs[def.index()]);
  }

  void KeepKill(InstrId id, std::vector<InstrId>& code) {
    auto& operands = function_.instr(id).operands;
    std::erase_if(operands, [this](const Operand& operand) {
      return !Stays(operand.value);
    });
    if (!operands.empty()) code.push_back(id);
  }

  void KeepInstr(InstrId id, std::vector<InstrId>& code) {
    for (const RegionId inner : function_.instr(id).regions) {
      if (function_.instr(id).kind == InstrKind::kIf) {
        ShrinkYield(id, inner);
      } else {
        ShrinkContinue(id, inner);
      }
      Rewrite(inner);
    }
    Instr& instr = function_.instr(id);
    if (instr.kind == InstrKind::kIf) {
      EraseWhere(instr.results,
                 [&](std::size_t i) { return !IsWanted(instr.results[i]); });
    } else if (instr.kind == InstrKind::kLoop) {
      ShrinkLoop(id, code);
    } else if (instr.kind == InstrKind::kOperator) {
      // The first output is always made; the others may be left out.
      for (std::size_t i = 1; i < instr.results.size(); ++i) {
        ValueId& result = instr.results[i];
        if (!result.valid() || IsWanted(result)) continue;
        dropped_.insert(result);
        result = ValueId();
      }
    }
    code.push_back(id);
  }

  bool IsWanted(ValueId value) const {
    return value.valid() && needed_.values[value.index()];
  }

  template <class List, class Predicate>
  static void EraseWhere(List& list, Predicate predicate) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!predicate(i)) list[kept++] = list[i];
    }
    list.resize(kept);
  }

  // A value that an operand left out had moved may still be given by another.
  static bool MoveElsewhere(std::vector<Operand>& operands, ValueId value) {
    const auto last = std::find_if(
        operands.rbegin(), operands.rend(),
        [&](const Operand& operand) { return operand.value == value; });
    if (last == operands.rend()) return false;
    last->move = true;
    return true;
  }

  // Drops operands of the region's terminator; what they moved is killed
  // before it. `keep` is asked by position.
  template <class Keep>
  void ShrinkEnd(RegionId region, Keep keep) {
    std::vector<InstrId>& code = function_.region(region).instrs;
    const InstrId end = code.back();
    code.pop_back();
    // Copied: adding kills moves the instructions about.
    std::vector<Operand> operands = function_.instr(end).operands;
    std::vector<ValueId> moved;
    EraseWhere(operands, [&](std::size_t i) {
      if (keep(i)) return false;
      if (operands[i].move) moved.push_back(operands[i].value);
      return true;
    });
    for (const ValueId value : moved) {
      if (!MoveElsewhere(operands, value)) Kill(value, end, code);
    }
    function_.instr(end).operands = std::move(operands);
    code.push_back(end);
  }

  void ShrinkYield(InstrId id, RegionId branch) {
    const std::vector<ValueId> results = function_.instr(id).results;
    for (const ValueId result : results) {
      if (!IsWanted(result)) dropped_.insert(result);
    }
    ShrinkEnd(branch, [&](std::size_t i) { return IsWanted(results[i]); });
  }

  void ShrinkContinue(InstrId id, RegionId body) {
    const std::vector<bool>& carried = needed_.carried[id.index()];
    const std::vector<ValueId>& params = function_.region(body).params;
    for (std::size_t i = 1; i < params.size(); ++i) {
      if (!carried[i - 1]) dropped_.insert(params[i]);
    }
    for (std::size_t i = 0; i < carried.size(); ++i) {
      if (!carried[i]) dropped_.insert(function_.instr(id).results[i]);
    }
    ShrinkEnd(body, [&](std::size_t i) { return i == 0 || carried[i - 1]; });
  }

  void ShrinkLoop(InstrId id, std::vector<InstrId>& code) {
    const std::vector<bool>& carried = needed_.carried[id.index()];
    std::vector<ValueId> moved;
    Instr& instr = function_.instr(id);
    EraseWhere(instr.operands, [&](std::size_t i) {
      if (i < 2 || carried[i - 2]) return false;
      if (instr.operands[i].move) moved.push_back(instr.operands[i].value);
      return true;
    });
    EraseWhere(instr.results, [&](std::size_t i) { return !carried[i]; });
    EraseWhere(function_.region(instr.regions[0]).params,
               [&](std::size_t i) { return i > 0 && !carried[i - 1]; });
    for (const ValueId value : moved) {
      if (!MoveElsewhere(function_.instr(id).operands, value)) {
        Kill(value, id, code);
      }
    }
  }

  // Ends the holds that a removed instruction, its regions included, would
  // have ended. `inside` collects what is defined in it.
  void EndHolds(InstrId id, std::unordered_set<ValueId>& inside,
                std::vector<InstrId>& code) {
    std::unordered_set<ValueId> ended;
    std::vector<InstrId> open = {id};
    std::vector<ValueId> ends;
    while (!open.empty()) {
      const Instr& instr = function_.instr(open.back());
      open.pop_back();
      for (const ValueId result : instr.results) inside.insert(result);
      for (const Operand& operand : instr.operands) {
        if (operand.move || ir::IsKill(instr.kind)) {
          ends.push_back(operand.value);
        }
      }
      for (const RegionId region : instr.regions) {
        const ir::Region& row = function_.region(region);
        for (const ValueId param : row.params) inside.insert(param);
        open.insert(open.end(), row.instrs.begin(), row.instrs.end());
      }
    }
    for (const ValueId value : ends) {
      if (inside.contains(value) || !ended.insert(value).second) continue;
      Kill(value, id, code);
    }
  }

  void Kill(ValueId value, InstrId at, std::vector<InstrId>& code) {
    if (!Stays(value) || !owned_[value.index()]) return;
    Instr kill;
    kill.kind = ir::KillKindOf(function_, value);
    kill.operands = {Operand{.value = value}};
    kill.location = function_.instr(at).location;
    code.emplace_back(function_.instrs.size());
    function_.instrs.push_back(std::move(kill));
    needed_.instrs.push_back(true);
  }

  Function& function_;
  Needed needed_;
  std::vector<bool> owned_;
  std::unordered_set<ValueId> dropped_;  // Left out of what stays.
};

}  // namespace

void RemoveUnused(ir::Module& module) {
  for (Function& function : module.functions) {
    if (!function.body.valid()) continue;
    Remover(function, FindNeeded(module, function)).Run();
  }
}

}  // namespace ebb::passes
