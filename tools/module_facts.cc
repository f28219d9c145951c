#include "tools/module_facts.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "bytecode/opcodes.h"
#include "bytecode/operators.h"
#include "vm/program.h"

namespace ebb::tools {
namespace {

constexpr std::string_view kOpsetKey = "onnx.opset.";

WeightFacts WeightsOf(const bytecode::Module& module) {
  WeightFacts facts;
  for (const bytecode::Constant& constant : module.constants) {
    ++facts.count;
    facts.bytes += constant.data.size();
    if (constant.packing.has_value()) {
      ++facts.packed_count;
      facts.packed_bytes += constant.data.size();
    }
    if (constant.kind == bytecode::ConstantKind::kRepeat) {
      ++facts.repeated_count;
      facts.repeated_plain_bytes +=
          static_cast<uint64_t>(vm::PlainBytes(constant).value_or(0));
    }
  }
  return facts;
}

std::vector<NameCount> Sorted(const std::map<std::string, uint64_t>& counts) {
  std::vector<NameCount> sorted(counts.begin(), counts.end());
  SortByCount(sorted);
  return sorted;
}

void AddDynamicDims(const bytecode::Module& module, ModuleFacts& facts) {
  for (const bytecode::Param& param : module.function(module.entry).params) {
    if (!param.type.valid()) continue;
    for (const bytecode::DimSpec& dim : module.types[param.type.index()].dims) {
      if (dim.size >= 0) continue;
      const std::string name =
          dim.symbol.valid() ? module.string(dim.symbol) : "?";
      if (std::ranges::find(facts.dynamic_dims, name) ==
          facts.dynamic_dims.end()) {
        facts.dynamic_dims.push_back(name);
      }
    }
  }
}

}  // namespace

void SortByCount(std::vector<NameCount>& counts) {
  std::ranges::sort(counts, [](const NameCount& a, const NameCount& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
}

ModuleFacts FactsOf(const bytecode::Module& module) {
  ModuleFacts facts;
  std::map<std::string, uint64_t> opcodes;
  for (const bytecode::Function& function : module.functions) {
    facts.instruction_count += function.code.size();
    for (const bytecode::Instruction& instruction : function.code) {
      ++opcodes[std::string(bytecode::InfoOf(instruction.opcode).mnemonic)];
    }
  }
  // A site is one place where an operator is run.
  std::map<std::string, uint64_t> operators;
  for (const bytecode::Site& site : module.sites) {
    ++operators[std::string(InfoOf(site.code).name)];
  }
  facts.operator_count = module.sites.size();
  facts.operators = Sorted(operators);
  facts.opcodes = Sorted(opcodes);
  facts.weights = WeightsOf(module);
  AddDynamicDims(module, facts);
  for (const auto& [key, value] : module.metadata) {
    if (!key.starts_with(kOpsetKey)) continue;
    uint64_t version = 0;
    std::from_chars(value.data(), value.data() + value.size(), version);
    facts.opsets.emplace_back(key.substr(kOpsetKey.size()), version);
  }
  return facts;
}

std::string CountsText(const std::vector<NameCount>& counts,
                       std::size_t limit) {
  std::string text;
  for (std::size_t i = 0; i < std::min(counts.size(), limit); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(counts[i].second) + " " +
            counts[i].first;
  }
  if (counts.size() > limit) text += ", …";
  return text.empty() ? "none" : text;
}

}  // namespace ebb::tools
