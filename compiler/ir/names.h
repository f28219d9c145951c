// Fresh value names of one function: the hint itself when no value has it,
// else the hint with a number. Source names survive the passes, so a value
// that a pass adds says by its name what it belongs to (`%z_storage`).
#ifndef EBB_COMPILER_IR_NAMES_H_
#define EBB_COMPILER_IR_NAMES_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/ir.h"

namespace ebb::ir {

class Names {
 public:
  explicit Names(const Function& function) {
    for (const Value& value : function.values) taken_.insert(value.name);
  }

  std::string Unique(std::string_view hint) {
    std::string name(hint);
    if (taken_.insert(name).second) return name;
    // Numbers go on from the last one given to this hint: linear in all.
    uint32_t& next = next_[name];
    do {
      name = std::string(hint) + "_" + std::to_string(++next);
    } while (!taken_.insert(name).second);
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, uint32_t> next_;
};

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_NAMES_H_
