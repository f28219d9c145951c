#include "compiler/passes/insert_kills.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/analysis/liveness.h"
#include "compiler/ir/instr_info.h"
#include "compiler/passes/canonicalize.h"

namespace ebb::passes {
namespace {

using ir::Function;
using ir::Instr;
using ir::InstrId;
using ir::InstrKind;
using ir::Operand;
using ir::RegionId;
using ir::ValueId;

struct Move {
  InstrId instr;
  std::size_t operand;
};

// What the rewrite does; nothing is changed while it is made.
struct Decisions {
  std::vector<Move> moves;
  std::vector<std::vector<ValueId>> kills_after;     // by instruction
  std::vector<std::vector<ValueId>> kills_at_entry;  // by region
};

// Per value its place in the order of bindings.
class BindingOrder {
 public:
  explicit BindingOrder(const Function& function)
      : function_(function), place_(function.values.size(), 0) {
    for (const ir::Param& param : function.params) Put(param.value);
    Walk(function.body);
  }

  // Tensors, storages, objects; within each the order of the bindings.
  void Sort(std::vector<ValueId>& values) const {
    std::ranges::sort(values, {}, [this](ValueId value) {
      const InstrKind kind = ir::KillKindOf(function_, value);
      const int rank = kind == InstrKind::kKillTensor    ? 0
                       : kind == InstrKind::kKillStorage ? 1
                                                         : 2;
      return std::pair(rank, place_[value.index()]);
    });
  }

 private:
  void Put(ValueId value) {
    if (value.valid()) place_[value.index()] = next_++;
  }
  // Recursion is as deep as regions nest.
  void Walk(RegionId region) {
    for (const ValueId param : function_.region(region).params) Put(param);
    for (const InstrId id : function_.region(region).instrs) {
      for (const ValueId result : function_.instr(id).results) Put(result);
      for (const RegionId inner : function_.instr(id).regions) Walk(inner);
    }
  }

  const Function& function_;
  std::vector<uint32_t> place_;
  uint32_t next_ = 0;
};

class Decider {
 public:
  Decider(const ir::FunctionNames& functions, const Function& function)
      : functions_(functions),
        function_(function),
        ends_(ir::FindLifeEnds(function)),
        owned_(ir::OwnedValues(function)) {}

  Decisions Run() {
    const BindingOrder order(function_);
    result_.kills_after.resize(function_.instrs.size());
    result_.kills_at_entry.resize(function_.regions.size());
    for (std::size_t i = 0; i < function_.instrs.size(); ++i) {
      const InstrId id(i);
      if (ends_.after[i].empty()) continue;
      DecideAfter(id);
      order.Sort(result_.kills_after[i]);
    }
    for (std::size_t i = 0; i < function_.regions.size(); ++i) {
      for (const ValueId value : ends_.at_entry[i]) {
        if (owned_[value.index()]) result_.kills_at_entry[i].push_back(value);
      }
      order.Sort(result_.kills_at_entry[i]);
    }
    return std::move(result_);
  }

 private:
  void DecideAfter(InstrId id) {
    const Instr& instr = function_.instr(id);
    // What a function returns leaves it; a kill ends the life itself.
    if (instr.kind == InstrKind::kReturn || ir::IsKill(instr.kind)) return;
    std::unordered_set<ValueId> used_in_body;
    if (instr.kind == InstrKind::kLoop) {
      const auto& free = ends_.free[instr.regions[0].index()];
      used_in_body.insert(free.begin(), free.end());
    }
    for (const auto& [value, end] : PlacesOf(instr, ends_.after[id.index()])) {
      if (!owned_[value.index()] || end.moved) continue;
      if (end.taken.has_value() && !end.read && !used_in_body.contains(value)) {
        result_.moves.push_back(Move{id, *end.taken});
      } else {
        result_.kills_after[id.index()].push_back(value);
      }
    }
  }

  // How an instruction uses a value whose life ends there.
  struct End {
    std::optional<std::size_t> taken;  // The last operand that is taken over.
    bool read = false;
    bool moved = false;  // The text says so already.
  };

  // Small lists are searched; wide instructions get a table, to stay linear.
  std::vector<std::pair<ValueId, End>> PlacesOf(
      const Instr& instr, const std::vector<ValueId>& values) {
    std::vector<std::pair<ValueId, End>> places;
    places.reserve(values.size());
    slot_.resize(function_.values.size(), kNoSlot);
    for (const ValueId value : values) {
      slot_[value.index()] = places.size();
      places.emplace_back(value, End());
    }
    for (std::size_t i = 0; i < instr.operands.size(); ++i) {
      const Operand& operand = instr.operands[i];
      if (!operand.value.valid()) continue;
      const std::size_t slot = slot_[operand.value.index()];
      if (slot == kNoSlot) continue;
      End& end = places[slot].second;
      end.moved = end.moved || operand.move;
      if (ir::UseOf(functions_, function_, instr, i) == ir::Use::kTake) {
        end.taken = i;
      } else {
        end.read = true;
      }
    }
    for (const ValueId value : values) slot_[value.index()] = kNoSlot;
    return places;
  }

  static constexpr std::size_t kNoSlot = SIZE_MAX;

  const ir::FunctionNames& functions_;
  const Function& function_;
  const ir::LifeEnds ends_;
  const std::vector<bool> owned_;
  std::vector<std::size_t> slot_;  // By value, while places are looked for.
  Decisions result_;
};

class Rewriter {
 public:
  Rewriter(Function& function, const Decisions& decisions)
      : function_(function), decisions_(decisions) {}

  void Run() {
    for (const Move& move : decisions_.moves) {
      function_.instr(move.instr).operands[move.operand].move = true;
    }
    for (std::size_t i = 0; i < decisions_.kills_at_entry.size(); ++i) {
      RewriteRegion(RegionId(i));
    }
  }

 private:
  void RewriteRegion(RegionId region) {
    const std::vector<InstrId> before =
        std::move(function_.region(region).instrs);
    std::vector<InstrId> code;
    code.reserve(before.size());
    const ir::Location start =
        before.empty() ? ir::Location() : function_.instr(before[0]).location;
    AddKills(decisions_.kills_at_entry[region.index()], start, code);
    for (const InstrId id : before) {
      code.push_back(id);
      AddKills(decisions_.kills_after[id.index()], function_.instr(id).location,
               code);
    }
    function_.region(region).instrs = std::move(code);
  }

  void AddKills(const std::vector<ValueId>& values, ir::Location location,
                std::vector<InstrId>& code) {
    for (const ValueId value : values) {
      Instr kill;
      kill.kind = ir::KillKindOf(function_, value);
      kill.operands = {Operand{.value = value}};
      kill.location = location;
      code.emplace_back(function_.instrs.size());
      function_.instrs.push_back(std::move(kill));
    }
  }

  Function& function_;
  const Decisions& decisions_;
};

}  // namespace

void InsertKills(ir::Module& module) {
  Canonicalize(module);
  const ir::FunctionNames functions(module);
  for (Function& function : module.functions) {
    if (!function.body.valid()) continue;
    const Decisions decisions = Decider(functions, function).Run();
    Rewriter(function, decisions).Run();
  }
}

}  // namespace ebb::passes
