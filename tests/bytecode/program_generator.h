// Random valid modules, the same for the same seed: tables with everything in
// them that a module can hold, and functions with branches, loops, calls,
// closures, lists and operators. Every module verifies, and every function
// kills what it owns, so the lifetime checker accepts it too. They are made to
// be read, written and checked; running one means nothing.
//
//   Module module = GenerateModule(seed);
#ifndef EBB_TESTS_BYTECODE_PROGRAM_GENERATOR_H_
#define EBB_TESTS_BYTECODE_PROGRAM_GENERATOR_H_

#include <cstdint>

#include "bytecode/module.h"

namespace ebb::bytecode {

struct GeneratorOptions {
  int function_count = 3;
  int statement_count = 12;  // Of each function's outermost block.
  int nesting = 3;
  bool rich_tables = true;  // Odd strings, unused rows, all dtypes.
};

Module GenerateModule(uint32_t seed, const GeneratorOptions& options = {});

}  // namespace ebb::bytecode

#endif  // EBB_TESTS_BYTECODE_PROGRAM_GENERATOR_H_
