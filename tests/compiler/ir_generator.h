// Random IR programs for property tests: valid, typed modules of f32 operators
// on one shape, with nested branches, loops, calls of functions with borrowed
// and donated parameters, tuples, sequences, views, match_casts, rebindings
// and dead values. Equal seeds give equal programs, on every machine.
//
// Values stay small and finite, so that two runs may be compared bit by bit.
// Function @main takes inputs of f32[4, 4], a bool[] condition and an i64[]
// trip count, and returns tensors.
#ifndef EBB_TESTS_COMPILER_IR_GENERATOR_H_
#define EBB_TESTS_COMPILER_IR_GENERATOR_H_

#include <cstdint>

#include "compiler/ir/ir.h"

namespace ebb::ir {

struct GeneratorOptions {
  int instructions = 40;   // About so many per function.
  int max_depth = 3;       // Of nested branches and loops.
  int functions = 2;       // Besides @main.
  bool objects = true;     // Tuples and sequences.
  bool rebindings = true;  // `%b = %a` and trivial match_casts.
  bool closures = true;
};

Module GenerateModule(uint32_t seed, const GeneratorOptions& options = {});

}  // namespace ebb::ir

#endif  // EBB_TESTS_COMPILER_IR_GENERATOR_H_
