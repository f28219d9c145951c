#include "compiler/analysis/liveness.h"

#include <cstdint>
#include <utility>

namespace ebb::ir {
namespace {

template <class Visit>
void ForEachUse(const Instr& instr, Visit visit) {
  for (const Operand& operand : instr.operands) {
    if (operand.value.valid()) visit(operand.value);
  }
  for (const ValueId out : instr.outs) {
    if (out.valid()) visit(out);
  }
  if (instr.scratch.valid()) visit(instr.scratch);
}

// Inner regions before outer ones, each with a pass of its own over its list,
// so that one mark per value is enough to list it once.
class FreeFinder {
 public:
  explicit FreeFinder(const Function& function)
      : function_(function),
        free_(function.regions.size()),
        region_of_(function.values.size()),
        listed_in_(function.values.size()) {}

  std::vector<std::vector<ValueId>> Run() {
    for (const Param& param : function_.params) {
      region_of_[param.value.index()] = function_.body;
    }
    Walk(function_.body);
    return std::move(free_);
  }

 private:
  // Recursion is as deep as regions nest.
  void Walk(RegionId region) {
    const Region& row = function_.region(region);
    for (const ValueId param : row.params) {
      region_of_[param.index()] = region;
    }
    for (const InstrId id : row.instrs) {
      for (const RegionId inner : function_.instr(id).regions) Walk(inner);
      for (const ValueId result : function_.instr(id).results) {
        if (result.valid()) region_of_[result.index()] = region;
      }
    }
    const auto list = [&](ValueId value) {
      if (region_of_[value.index()] == region ||
          listed_in_[value.index()] == region) {
        return;
      }
      listed_in_[value.index()] = region;
      free_[region.index()].push_back(value);
    };
    for (const InstrId id : row.instrs) {
      const Instr& instr = function_.instr(id);
      ForEachUse(instr, list);
      for (const RegionId inner : instr.regions) {
        for (const ValueId value : free_[inner.index()]) list(value);
      }
    }
  }

  const Function& function_;
  std::vector<std::vector<ValueId>> free_;
  std::vector<RegionId> region_of_;  // Where a value is defined.
  std::vector<RegionId> listed_in_;  // The last region that lists it as free.
};

class EndFinder {
 public:
  explicit EndFinder(const Function& function)
      : function_(function), live_(function.values.size(), false) {
    ends_.after.resize(function.instrs.size());
    ends_.at_entry.resize(function.regions.size());
    ends_.free = FreeValues(function);
  }

  LifeEnds Run() {
    Walk(function_.body);
    for (const Param& param : function_.params) {
      if (!live_[param.value.index()]) {
        ends_.at_entry[function_.body.index()].push_back(param.value);
      }
    }
    return std::move(ends_);
  }

 private:
  // From what is live after the region to what is live before it.
  void Walk(RegionId region) {
    const std::vector<InstrId>& code = function_.region(region).instrs;
    for (auto at = code.rbegin(); at != code.rend(); ++at) WalkInstr(*at);
  }

  // The value is used by `id`: its life ends there if nothing follows.
  void UseAt(InstrId id, ValueId value) {
    if (live_[value.index()]) return;
    live_[value.index()] = true;
    ends_.after[id.index()].push_back(value);
  }

  void WalkInstr(InstrId id) {
    const Instr& instr = function_.instr(id);
    for (const ValueId result : instr.results) {
      if (!result.valid()) continue;
      if (!live_[result.index()]) ends_.after[id.index()].push_back(result);
      live_[result.index()] = false;
    }
    if (instr.kind == InstrKind::kIf) {
      WalkIf(instr);
    } else if (instr.kind == InstrKind::kLoop) {
      WalkLoop(id, instr);
    } else {
      ForEachUse(instr, [&](ValueId value) { UseAt(id, value); });
    }
  }

  // What a branch uses last that the other one does not use ends at the entry
  // of the other one.
  void WalkIf(const Instr& instr) {
    const RegionId branches[2] = {instr.regions[0], instr.regions[1]};
    std::vector<ValueId> last_in[2];
    for (int i = 0; i < 2; ++i) {
      for (const ValueId value : ends_.free[branches[i].index()]) {
        if (!live_[value.index()]) last_in[i].push_back(value);
      }
    }
    for (int i = 0; i < 2; ++i) {
      const auto& here = last_in[i];
      for (const ValueId value : here) live_[value.index()] = true;
      for (const ValueId value : last_in[1 - i]) {
        if (!live_[value.index()]) {
          ends_.at_entry[branches[i].index()].push_back(value);
        }
      }
      for (const ValueId value : here) live_[value.index()] = false;
    }
    for (int i = 0; i < 2; ++i) {
      Walk(branches[i]);
      for (const ValueId value : last_in[i]) live_[value.index()] = false;
    }
    for (const auto& values : last_in) {
      for (const ValueId value : values) live_[value.index()] = true;
    }
    const ValueId condition = instr.operands[0].value;
    if (live_[condition.index()]) return;
    live_[condition.index()] = true;
    for (const RegionId branch : branches) {
      ends_.at_entry[branch.index()].push_back(condition);
    }
  }

  // The next step may use again what this one did, so all that the body uses
  // from outside is live to its end, and ends after the loop.
  void WalkLoop(InstrId id, const Instr& instr) {
    const RegionId body = instr.regions[0];
    for (const ValueId value : ends_.free[body.index()]) UseAt(id, value);
    ForEachUse(instr, [&](ValueId value) { UseAt(id, value); });
    Walk(body);
    for (const ValueId param : function_.region(body).params) {
      if (!live_[param.index()]) {
        ends_.at_entry[body.index()].push_back(param);
      }
      live_[param.index()] = false;
    }
  }

  const Function& function_;
  std::vector<bool> live_;  // After the instruction that is walked over.
  LifeEnds ends_;
};

}  // namespace

std::vector<std::vector<ValueId>> FreeValues(const Function& function) {
  if (!function.body.valid()) return {};
  return FreeFinder(function).Run();
}

LifeEnds FindLifeEnds(const Function& function) {
  if (!function.body.valid()) return {};
  return EndFinder(function).Run();
}

}  // namespace ebb::ir
