// Compiling and running whole programs in tests: made-up inputs for whatever
// the entry function takes, and all that two runs are compared by.
//
//   auto run = RunModule(std::move(module), {.session = {.threads = 2}});
//   EXPECT_EQ(run->outputs, other->outputs);   // bit by bit
#ifndef EBB_TESTS_COMPILER_RUN_PROGRAM_H_
#define EBB_TESTS_COMPILER_RUN_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/error.h"
#include "compiler/compile.h"
#include "vm/external.h"
#include "vm/session.h"

namespace ebb {

// An output as text ("f32[4,4]") and bytes; objects are flattened.
struct RunOutput {
  std::string shape;
  std::vector<std::byte> bytes;
  friend bool operator==(const RunOutput&, const RunOutput&) = default;
};

struct RunResult {
  std::vector<RunOutput> outputs;
  uint64_t peak_bytes = 0;        // Asked for at once, in one run.
  uint64_t live_after_bytes = 0;  // Once outputs are let go.
};

struct RunOptions {
  compiler::CompileOptions compile;
  vm::SessionOptions session;
  std::vector<vm::External> externals;
  uint32_t seed = 1;        // Of the inputs.
  int64_t symbol_size = 3;  // For every dim that is not known.
};

// Bytes that a tensor of this kind may be fed with: floats of small size,
// indices and conditions of 0 and 1. Equal seeds give equal bytes.
std::vector<std::byte> MakeInput(DType dtype, int64_t count, uint32_t seed);

// Runs twice and requires the same results both times.
Expected<RunResult> RunProgram(vm::ProgramRef program,
                               const RunOptions& options);
Expected<RunResult> RunModule(ir::Module module, const RunOptions& options);

}  // namespace ebb

#endif  // EBB_TESTS_COMPILER_RUN_PROGRAM_H_
