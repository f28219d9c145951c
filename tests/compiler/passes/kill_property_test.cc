// Properties of the text form and of the kill pass over generated programs.
#include <gtest/gtest.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/instr_info.h"
#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/passes/canonicalize.h"
#include "compiler/passes/common_subexpressions.h"
#include "compiler/passes/insert_kills.h"
#include "compiler/passes/remove_unused.h"
#include "tests/compiler/ir_generator.h"

namespace ebb::passes {
namespace {

constexpr uint32_t kSeeds = 60;
const ir::GeneratorOptions kOptions = {.instructions = 20};

void ExpectValid(const ir::Module& module, const char* after, uint32_t seed) {
  const Status status = ir::Verify(module);
  ASSERT_TRUE(status.has_value()) << "seed " << seed << " after " << after
                                  << ": " << status.error().ToString() << "\n"
                                  << ir::Print(module);
}

TEST(KillPropertyTest, ParseAfterPrintIsTheIdentity) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    ir::Module module = ir::GenerateModule(seed, kOptions);
    ExpectValid(module, "generation", seed);
    for (int killed = 0; killed < 2; ++killed) {
      const std::string text = ir::Print(module);
      const auto parsed = ir::ParseModule(text);
      ASSERT_TRUE(parsed.has_value()) << parsed.error().ToString();
      ASSERT_EQ(ir::Print(*parsed), text) << "seed " << seed;
      InsertKills(module);
    }
  }
}

TEST(KillPropertyTest, KillsVerifyAndAreInsertedOnce) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    ir::Module module = ir::GenerateModule(seed, kOptions);
    InsertKills(module);
    ExpectValid(module, "insert-kills", seed);
    const std::string once = ir::Print(module);
    InsertKills(module);
    ASSERT_EQ(ir::Print(module), once) << "seed " << seed;
  }
}

// Kills that are there already are respected, and removing or merging what
// they are about does not break them.
TEST(KillPropertyTest, OtherPassesKeepKillsValid) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    ir::Module module = ir::GenerateModule(seed, kOptions);
    InsertKills(module);
    RemoveUnused(module);
    ExpectValid(module, "remove-unused", seed);
    const std::string removed = ir::Print(module);
    InsertKills(module);
    ASSERT_EQ(ir::Print(module), removed)
        << "seed " << seed << ": a kill was missing";
    EliminateCommonSubexpressions(module);
    ExpectValid(module, "cse", seed);
    InsertKills(module);
    ExpectValid(module, "insert-kills", seed);
  }
}

// A checker of its own that walks one random path after another: it counts
// holds, and shares nothing with liveness.
class PathChecker {
 public:
  PathChecker(const ir::Module& module, const ir::Function& function,
              uint32_t seed)
      : functions_(module), function_(function), state_(seed * 2 + 1) {}

  // "" when every owned value on the path is ended exactly once.
  std::string Run() {
    for (const ir::Param& param : function_.params) {
      if (param.donated) held_[param.value] = true;
    }
    Region(function_.body, {});
    if (!problem_.empty()) return problem_;
    for (const auto& [value, held] : held_) {
      if (held) return "%" + function_.value(value).name + " is left over";
    }
    return "";
  }

 private:
  using Instr = ir::Instr;
  using InstrKind = ir::InstrKind;
  using ValueId = ir::ValueId;

  bool Coin() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 40U) % 2 == 0;
  }
  void Problem(ValueId value, const char* what) {
    if (problem_.empty()) {
      problem_ = "%" + function_.value(value).name + " " + what;
    }
  }
  void Begin(ValueId value) {
    if (!value.valid() || !function_.value(value).type.HoldsBuffer()) return;
    if (held_[value]) Problem(value, "is filled while held");
    held_[value] = true;
  }
  void End(ValueId value) {
    if (!held_[value]) Problem(value, "is ended while not held");
    held_[value] = false;
  }
  void Read(ValueId value) {
    const auto at = held_.find(value);
    if (at != held_.end() && !at->second) Problem(value, "is read after end");
  }

  // Gives the values of the terminator; moved ones have been ended.
  void Region(ir::RegionId region, const std::vector<ValueId>& into) {
    for (const ir::InstrId id : function_.region(region).instrs) {
      const Instr& instr = function_.instr(id);
      Step(instr);
      if (instr.kind != InstrKind::kYield &&
          instr.kind != InstrKind::kContinue) {
        continue;
      }
      for (const ValueId value : into) Begin(value);
    }
  }

  void Step(const Instr& instr) {
    if (ir::IsKill(instr.kind)) {
      for (const ir::Operand& operand : instr.operands) End(operand.value);
      return;
    }
    for (const ir::Operand& operand : instr.operands) {
      if (operand.value.valid()) Read(operand.value);
    }
    for (const ir::Operand& operand : instr.operands) {
      if (operand.move) End(operand.value);
    }
    if (instr.kind == InstrKind::kReturn) {
      for (const ir::Operand& operand : instr.operands) {
        held_[operand.value] = false;
      }
      return;
    }
    if (instr.kind == InstrKind::kIf) {
      Region(instr.regions[Coin() ? 0 : 1], instr.results);
      return;
    }
    if (instr.kind == InstrKind::kLoop) {
      const auto& params = function_.region(instr.regions[0]).params;
      const std::vector<ValueId> carried(params.begin() + 1, params.end());
      for (const ValueId value : carried) Begin(value);
      for (int step = 0; step < 3 && Coin(); ++step) {
        Region(instr.regions[0], carried);
      }
      for (const ValueId value : carried) held_[value] = false;
      for (const ValueId value : instr.results) Begin(value);
      return;
    }
    if (instr.kind == InstrKind::kConstant) return;
    for (const ValueId result : instr.results) Begin(result);
  }

  const ir::FunctionNames functions_;
  const ir::Function& function_;
  uint64_t state_;
  std::unordered_map<ValueId, bool> held_;
  std::string problem_;
};

TEST(KillPropertyTest, EveryHoldEndsOnceOnEveryPath) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    ir::Module module = ir::GenerateModule(seed, kOptions);
    InsertKills(module);
    for (const ir::Function& function : module.functions) {
      for (uint32_t path = 0; path < 8; ++path) {
        ASSERT_EQ(PathChecker(module, function, seed * 8 + path).Run(), "")
            << "seed " << seed << " path " << path << "\n"
            << ir::Print(module);
      }
    }
  }
}

}  // namespace
}  // namespace ebb::passes
