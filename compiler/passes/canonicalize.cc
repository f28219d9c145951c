#include "compiler/passes/canonicalize.h"

#include <vector>

#include "compiler/passes/replace_values.h"

namespace ebb::passes {
namespace {

using ir::Function;
using ir::InstrId;
using ir::InstrKind;
using ir::RegionId;
using ir::ValueId;

class Canonicalizer {
 public:
  explicit Canonicalizer(Function& function)
      : function_(function), dropped_(function.instrs.size(), false) {
    for (std::size_t i = 0; i < function.values.size(); ++i) {
      root_.emplace_back(i);
    }
  }

  void Run() {
    Walk(function_.body);
    if (found_) ReplaceValues(function_, root_, dropped_);
  }

 private:
  // In program order, so that the root of an operand is known already: a
  // chain of bindings takes one step each. Recursion is as deep as regions
  // nest.
  void Walk(RegionId region) {
    for (const InstrId id : function_.region(region).instrs) {
      const ir::Instr& instr = function_.instr(id);
      for (const RegionId inner : instr.regions) Walk(inner);
      if (!IsTrivialBinding(function_, instr)) continue;
      found_ = true;
      dropped_[id.index()] = true;
      if (!instr.results[0].valid()) continue;
      const ValueId from = root_[instr.operands[0].value.index()];
      root_[instr.results[0].index()] = from;
      // What is known of either is known of both.
      ir::Value& kept = function_.value(from);
      const ir::Value& gone = function_.value(instr.results[0]);
      if (kept.type.kind == ir::TypeKind::kUnknown) kept.type = gone.type;
      if (!kept.contents.has_value()) kept.contents = gone.contents;
    }
  }

  Function& function_;
  std::vector<ValueId> root_;
  std::vector<bool> dropped_;
  bool found_ = false;
};

}  // namespace

bool IsTrivialBinding(const Function& function, const ir::Instr& instr) {
  if (instr.kind == InstrKind::kAlias) return true;
  if (instr.kind != InstrKind::kMatchCast) return false;
  const ValueId result = instr.results[0];
  const ir::Type& from = function.value(instr.operands[0].value).type;
  return result.valid() && from.kind != ir::TypeKind::kUnknown &&
         from == function.value(result).type;
}

void Canonicalize(ir::Module& module) {
  for (Function& function : module.functions) {
    if (function.body.valid()) Canonicalizer(function).Run();
  }
}

}  // namespace ebb::passes
