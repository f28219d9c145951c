#include "compiler/passes/needed.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/instr_info.h"
#include "compiler/passes/canonicalize.h"

namespace ebb::passes {
namespace {

using ir::Dim;
using ir::Function;
using ir::Instr;
using ir::InstrId;
using ir::InstrKind;
using ir::RegionId;
using ir::ValueId;

class Marker {
 public:
  Marker(const ir::Module& module, const Function& function)
      : module_(module),
        function_(function),
        owner_(function.instrs.size()),
        loop_of_param_(function.values.size()),
        position_(function.values.size(), 0),
        binder_(module.dims.symbol_count()),
        symbol_done_(module.dims.symbol_count(), false) {
    needed_.instrs.resize(function.instrs.size(), false);
    needed_.values.resize(function.values.size(), false);
    needed_.carried.resize(function.instrs.size());
  }

  Needed Run() {
    for (const ir::Param& param : function_.params) Bind(param.value);
    Index(function_.body, InstrId());
    for (const InstrId root : roots_) NeedInstr(root);
    for (const ir::Type& type : function_.result_types) NeedSymbols(type);
    while (!open_.empty()) {
      const InstrId id = open_.back();
      open_.pop_back();
      NeedOperands(id);
    }
    return std::move(needed_);
  }

 private:
  // Notes who owns what, the roots, and the first value that gives each
  // symbol its value. Recursion is as deep as regions nest.
  void Index(RegionId region, InstrId owner) {
    const ir::Region& row = function_.region(region);
    for (std::size_t i = 0; i < row.params.size(); ++i) {
      loop_of_param_[row.params[i].index()] = owner;
      position_[row.params[i].index()] = i;
      Bind(row.params[i]);
    }
    for (const InstrId id : row.instrs) {
      const Instr& instr = function_.instr(id);
      owner_[id.index()] = owner;
      if (instr.kind == InstrKind::kLoop) {
        const std::size_t extra = instr.operands.size() - 2;
        needed_.carried[id.index()].resize(
            std::max(instr.results.size(), extra), false);
      }
      for (const RegionId inner : instr.regions) Index(inner, id);
      for (std::size_t i = 0; i < instr.results.size(); ++i) {
        if (!instr.results[i].valid()) continue;
        position_[instr.results[i].index()] = i;
        Bind(instr.results[i]);
      }
      if (IsRoot(instr)) roots_.push_back(id);
    }
  }

  bool IsRoot(const Instr& instr) const {
    switch (instr.kind) {
      case InstrKind::kReturn:
      case InstrKind::kCall:
      case InstrKind::kCallClosure:
      case InstrKind::kCallExternal:
      case InstrKind::kStoreInts:
        return true;
      case InstrKind::kOperator:
        return !instr.outs.empty();
      case InstrKind::kMatchCast:
        return !IsTrivialBinding(function_, instr);
      default:
        return false;
    }
  }

  void Bind(ValueId value) {
    const ir::Type& type = function_.value(value).type;
    if (!type.IsTensor()) return;
    for (const Dim dim : type.dims) {
      const auto symbol = module_.dims.AsSymbol(dim);
      if (symbol.has_value() && !binder_[symbol->index()].valid()) {
        binder_[symbol->index()] = value;
      }
    }
  }

  void NeedSymbols(const std::vector<Dim>& dims) {
    for (const Dim dim : dims) {
      if (!dim.valid() || dim.index() < dim_done_.size()) {
        if (!dim.valid() || dim_done_[dim.index()]) continue;
      } else {
        dim_done_.resize(dim.index() + 1, false);
      }
      dim_done_[dim.index()] = true;
      std::vector<ir::SymbolId> symbols;
      module_.dims.CollectSymbols(dim, symbols);
      for (const ir::SymbolId symbol : symbols) {
        if (symbol_done_[symbol.index()]) continue;
        symbol_done_[symbol.index()] = true;
        if (binder_[symbol.index()].valid()) NeedValue(binder_[symbol.index()]);
      }
    }
  }
  void NeedSymbols(const ir::Type& type) {
    NeedSymbols(type.dims);
    NeedSymbols(type.strides);
  }

  // An instruction of a region needs all that the region stands in.
  void NeedInstr(InstrId id) {
    for (; id.valid() && !needed_.instrs[id.index()]; id = owner_[id.index()]) {
      needed_.instrs[id.index()] = true;
      open_.push_back(id);
    }
  }

  void NeedValue(ValueId value) {
    if (!value.valid() || needed_.values[value.index()]) return;
    needed_.values[value.index()] = true;
    pending_.push_back(value);
    if (pending_.size() > 1) return;  // The outermost call empties the list.
    for (std::size_t i = 0; i < pending_.size(); ++i) NeedSource(pending_[i]);
    pending_.clear();
  }

  // What a value comes from.
  void NeedSource(ValueId value) {
    const InstrId def = function_.value(value).def;
    if (!def.valid()) {
      const InstrId loop = loop_of_param_[value.index()];
      if (!loop.valid()) return;
      const std::size_t at = position_[value.index()];
      if (at > 0) NeedCarried(loop, at - 1);  // The first is the counter.
      return;
    }
    NeedInstr(def);
    const Instr& instr = function_.instr(def);
    if (instr.kind != InstrKind::kIf && instr.kind != InstrKind::kLoop) return;
    const std::size_t at = position_[value.index()];
    if (instr.kind == InstrKind::kLoop) return NeedCarried(def, at);
    for (const RegionId branch : instr.regions) {
      NeedValue(EndOf(branch).operands[at].value);
    }
  }

  // A carried value, or beyond those a scan output.
  void NeedCarried(InstrId loop, std::size_t at) {
    if (needed_.carried[loop.index()][at]) return;
    needed_.carried[loop.index()][at] = true;
    const Instr& instr = function_.instr(loop);
    if (at + 2 < instr.operands.size()) {
      NeedValue(instr.operands[at + 2].value);
    }
    NeedValue(EndOf(instr.regions[0]).operands[at + 1].value);
  }

  const Instr& EndOf(RegionId region) const {
    return function_.instr(function_.region(region).instrs.back());
  }

  void NeedOperands(InstrId id) {
    const Instr& instr = function_.instr(id);
    switch (instr.kind) {
      case InstrKind::kIf:
        NeedValue(instr.operands[0].value);
        for (const RegionId branch : instr.regions) {
          NeedInstr(function_.region(branch).instrs.back());
        }
        break;
      case InstrKind::kLoop:
        NeedValue(instr.operands[0].value);
        NeedValue(instr.operands[1].value);
        NeedInstr(function_.region(instr.regions[0]).instrs.back());
        break;
      case InstrKind::kYield:
        break;
      case InstrKind::kContinue:
        NeedValue(instr.operands[0].value);
        break;
      default:
        for (const ir::Operand& operand : instr.operands) {
          NeedValue(operand.value);
        }
        break;
    }
    for (const ValueId out : instr.outs) NeedValue(out);
    NeedValue(instr.scratch);
    NeedSymbols(instr.dims);
    for (const ValueId result : instr.results) {
      if (result.valid()) NeedSymbols(function_.value(result).type);
    }
  }

  const ir::Module& module_;
  const Function& function_;
  Needed needed_;
  std::vector<InstrId> owner_;          // The if or loop around.
  std::vector<InstrId> loop_of_param_;  // By value.
  std::vector<std::size_t> position_;   // Among results or parameters.
  std::vector<ValueId> binder_;         // By symbol.
  std::vector<bool> symbol_done_;
  std::vector<bool> dim_done_;
  std::vector<InstrId> roots_;
  std::vector<InstrId> open_;
  std::vector<ValueId> pending_;
};

}  // namespace

Needed FindNeeded(const ir::Module& module, const Function& function) {
  return Marker(module, function).Run();
}

}  // namespace ebb::passes
