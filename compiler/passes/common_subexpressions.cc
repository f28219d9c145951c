#include "compiler/passes/common_subexpressions.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/passes/replace_values.h"

namespace ebb::passes {
namespace {

using ir::Constant;
using ir::ConstantId;
using ir::Function;
using ir::Instr;
using ir::InstrId;
using ir::InstrKind;
using ir::RegionId;
using ir::ValueId;

// Large constants are told apart by their ends; equal ends are compared.
constexpr std::size_t kHashedBytes = 1024;

std::size_t Mix(std::size_t hash, std::size_t value) {
  return (hash ^ (value + 0x9e3779b97f4a7c15ULL + (hash << 6U))) *
         0xff51afd7ed558ccdULL;
}

std::size_t HashBytes(std::span<const std::byte> bytes) {
  return std::hash<std::string_view>()(std::string_view(
      reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

template <class T>
std::size_t HashOf(const std::vector<T>& list) {
  std::size_t hash = list.size();
  for (const T& item : list) hash = Mix(hash, std::hash<T>()(item));
  return hash;
}

// Values too: operators that differ in nothing else may be many.
std::size_t HashOf(const Attributes& attributes) {
  std::size_t hash = attributes.entries().size();
  for (const auto& [name, value] : attributes.entries()) {
    hash = Mix(hash, std::hash<std::string>()(name));
    hash = Mix(hash, std::visit(
                         [](const auto& v) {
                           using V = std::decay_t<decltype(v)>;
                           if constexpr (requires { std::hash<V>()(v); }) {
                             return std::hash<V>()(v);
                           } else {
                             return HashOf(v);
                           }
                         },
                         value));
  }
  return hash;
}

std::size_t HashOf(const Constant& constant) {
  std::size_t hash =
      Mix(static_cast<std::size_t>(constant.dtype), constant.data.size());
  for (const int64_t dim : constant.dims) {
    hash = Mix(hash, static_cast<std::size_t>(dim));
  }
  const std::size_t size = std::min(constant.data.size(), kHashedBytes);
  hash = Mix(hash, HashBytes(constant.data.first(size)));
  return Mix(hash, HashBytes(constant.data.last(size)));
}

bool Same(const Constant& a, const Constant& b) {
  if (a.dtype != b.dtype || a.dims != b.dims || a.repeat != b.repeat ||
      a.packing != b.packing || a.declared_only || b.declared_only ||
      a.data.size() != b.data.size()) {
    return false;
  }
  return a.data.data() == b.data.data() || a.data.empty() ||
         std::memcmp(a.data.data(), b.data.data(), a.data.size()) == 0;
}

// By constant the first one with the same contents.
std::vector<ConstantId> MergeConstants(const ir::Module& module) {
  std::unordered_multimap<std::size_t, ConstantId> seen;
  std::vector<ConstantId> first;
  for (std::size_t i = 0; i < module.constants.size(); ++i) {
    const Constant& constant = module.constants[i];
    first.emplace_back(i);
    const std::size_t hash = HashOf(constant);
    const auto [begin, end] = seen.equal_range(hash);
    const auto match = std::find_if(begin, end, [&](const auto& entry) {
      return Same(module.constants[entry.second.index()], constant);
    });
    if (match != end) {
      first.back() = match->second;
    } else {
      seen.emplace(hash, ConstantId(i));
    }
  }
  return first;
}

class Eliminator {
 public:
  Eliminator(Function& function, const std::vector<ConstantId>& constants)
      : function_(function),
        constants_(constants),
        dropped_(function.instrs.size(), false) {
    for (std::size_t i = 0; i < function.values.size(); ++i) {
      root_.emplace_back(i);
    }
    writes_ = std::ranges::any_of(function.instrs, [](const Instr& instr) {
      return instr.kind == InstrKind::kCallExternal ||
             instr.kind == InstrKind::kStoreInts || !instr.outs.empty();
    });
  }

  void Run() {
    Walk(function_.body);
    if (found_) ReplaceValues(function_, root_, dropped_);
  }

 private:
  bool IsPure(const Instr& instr) const {
    switch (instr.kind) {
      case InstrKind::kConstant:
      case InstrKind::kShape:
      case InstrKind::kInt:
        return true;
      case InstrKind::kOperator:
      case InstrKind::kMatchCast:
      case InstrKind::kGet:
      case InstrKind::kLength:
        return !writes_ && instr.outs.empty();
      default:
        return false;
    }
  }

  // What is found in a region is forgotten at its end: the other branch, and
  // what follows, do not see it. Recursion is as deep as regions nest.
  void Walk(RegionId region) {
    const std::size_t scope = order_.size();
    for (const InstrId id : function_.region(region).instrs) {
      Instr& instr = function_.instr(id);
      if (instr.kind == InstrKind::kConstant) {
        instr.constant = constants_[instr.constant.index()];
      }
      for (const RegionId inner : instr.regions) Walk(inner);
      if (IsPure(instr)) Visit(id);
    }
    for (; order_.size() > scope; order_.pop_back()) {
      seen_[order_.back()].pop_back();
    }
  }

  void Visit(InstrId id) {
    const Instr& instr = function_.instr(id);
    const std::size_t hash = HashOf(instr);
    std::vector<InstrId>& alike = seen_[hash];
    for (const InstrId candidate : alike) {
      const Instr& first = function_.instr(candidate);
      if (!Same(first, instr)) continue;
      for (std::size_t i = 0; i < instr.results.size(); ++i) {
        if (instr.results[i].valid()) {
          root_[instr.results[i].index()] = first.results[i];
        }
      }
      dropped_[id.index()] = true;
      found_ = true;
      return;
    }
    alike.push_back(id);
    order_.push_back(hash);
  }

  ValueId RootOf(ValueId value) const {
    return value.valid() ? root_[value.index()] : value;
  }

  std::size_t HashOf(const Instr& instr) const {
    std::size_t hash = Mix(static_cast<std::size_t>(instr.kind),
                           static_cast<std::size_t>(instr.code));
    for (const ir::Operand& operand : instr.operands) {
      hash = Mix(hash, std::hash<ValueId>()(RootOf(operand.value)));
    }
    for (const ir::Dim dim : instr.dims) {
      hash = Mix(hash, std::hash<ir::Dim>()(dim));
    }
    hash = Mix(hash, std::hash<ConstantId>()(instr.constant));
    return Mix(hash, passes::HashOf(instr.attributes));
  }

  // The second one wants no output that the first one has left out.
  bool Same(const Instr& first, const Instr& second) const {
    if (first.kind != second.kind || first.code != second.code ||
        first.constant != second.constant || first.dims != second.dims ||
        first.results.size() != second.results.size() ||
        first.attributes != second.attributes ||
        !std::ranges::equal(first.operands, second.operands,
                            [this](const ir::Operand& a, const ir::Operand& b) {
                              return RootOf(a.value) == RootOf(b.value);
                            })) {
      return false;
    }
    for (std::size_t i = 0; i < first.results.size(); ++i) {
      const ValueId result = second.results[i];
      if (!result.valid()) continue;
      if (!first.results[i].valid() || function_.value(first.results[i]).type !=
                                           function_.value(result).type) {
        return false;
      }
    }
    return true;
  }

  Function& function_;
  const std::vector<ConstantId>& constants_;
  bool writes_ = false;
  bool found_ = false;
  std::vector<ValueId> root_;
  std::vector<bool> dropped_;
  std::unordered_map<std::size_t, std::vector<InstrId>> seen_;  // By hash.
  std::vector<std::size_t> order_;  // Hashes, to take them back.
};

}  // namespace

void EliminateCommonSubexpressions(ir::Module& module) {
  const std::vector<ConstantId> constants = MergeConstants(module);
  for (Function& function : module.functions) {
    if (function.body.valid()) Eliminator(function, constants).Run();
  }
}

}  // namespace ebb::passes
