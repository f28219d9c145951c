// Where lives end. Liveness over the structured control flow, by one backward
// walk: linear in the function, times the nesting of regions (kMaxNesting) for
// values that are used deep inside.
//
// A life ends after the last use of a value on a path: after an instruction,
// or, where only the other branch of an `if` uses the value, at the entry of
// this one. A value that was never used ends where it is defined. What a loop
// uses from outside lives throughout the loop. Explicit kills count as uses.
//
// Knows nothing of ownership: parameters and constants are listed like all
// others. What to do about it is for insert_kills.cc.
#ifndef EBB_COMPILER_ANALYSIS_LIVENESS_H_
#define EBB_COMPILER_ANALYSIS_LIVENESS_H_

#include <vector>

#include "compiler/ir/ir.h"

namespace ebb::ir {

// Per region: values used in it (at any depth) that are defined outside.
std::vector<std::vector<ValueId>> FreeValues(const Function& function);

struct LifeEnds {
  // By instruction: values not used after it that it uses or defines; of a
  // loop also those that its body uses.
  std::vector<std::vector<ValueId>> after;
  // By region: parameters that are never used, and values that were held
  // until the region but are used neither in it nor later. The condition of
  // an `if`, when that is its last use, is among those of both branches.
  std::vector<std::vector<ValueId>> at_entry;
  // By region, as FreeValues.
  std::vector<std::vector<ValueId>> free;
};

LifeEnds FindLifeEnds(const Function& function);

}  // namespace ebb::ir

#endif  // EBB_COMPILER_ANALYSIS_LIVENESS_H_
