// What can be counted in a compiled module: for `ebb compile` and
// `ebb inspect`.
#ifndef EBB_TOOLS_MODULE_FACTS_H_
#define EBB_TOOLS_MODULE_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/module.h"

namespace ebb::tools {

using NameCount = std::pair<std::string, uint64_t>;

struct WeightFacts {
  uint64_t count = 0;
  uint64_t bytes = 0;  // As stored.
  uint64_t packed_count = 0;
  uint64_t packed_bytes = 0;
  uint64_t repeated_count = 0;
  uint64_t repeated_plain_bytes = 0;  // What they would take written out.
};

struct ModuleFacts {
  uint64_t instruction_count = 0;
  uint64_t operator_count = 0;       // Instructions that run an operator.
  std::vector<NameCount> operators;  // By count, most first, then by name.
  std::vector<NameCount> opcodes;    // The same, of all instructions.
  WeightFacts weights;
  std::vector<std::string> dynamic_dims;  // Names in the inputs' types.
  std::vector<NameCount> opsets;          // Domain and version.
};

ModuleFacts FactsOf(const bytecode::Module& module);

// "53 Conv, 12 Add, …", with at most `limit` of them.
std::string CountsText(const std::vector<NameCount>& counts, std::size_t limit);

// Sorted as `ModuleFacts::operators` is.
void SortByCount(std::vector<NameCount>& counts);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_MODULE_FACTS_H_
