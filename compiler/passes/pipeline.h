// The passes by name, one flat list, and running some of them over a module or
// over text: what `ebb opt` and the golden tests do. Each pass runs by itself:
// what it needs done before (its prerequisites) is done first, unless this run
// has done it. The verifier runs before the first pass and after each.
//
//   TRY(std::string text, passes::RunPassesOnText(input, "cse,insert-kills"));
//
// A new pass is a row in pipeline.cc.
#ifndef EBB_COMPILER_PASSES_PIPELINE_H_
#define EBB_COMPILER_PASSES_PIPELINE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/error.h"
#include "compiler/ir/ir.h"
#include "vm/kernels/kernel.h"

namespace ebb::passes {

struct PassOptions {
  kernels::Backend backend = kernels::DefaultBackend();
  int threads = 1;
};

struct PassInfo {
  std::string_view name;
  std::string_view summary;
  Status (*run)(ir::Module& module, const PassOptions& options);
  std::span<const std::string_view> prerequisites;
};

// In the order of the pipeline.
std::span<const PassInfo> AllPasses();
// nullptr for a name that is none.
const PassInfo* FindPass(std::string_view name);

// The names of a list such as "cse,insert-kills"; spaces are skipped.
std::vector<std::string_view> SplitPassNames(std::string_view list);

Status RunPasses(ir::Module& module, std::span<const std::string_view> names,
                 const PassOptions& options = {});

// Reads, verifies, runs and prints. No names: reads and prints.
Expected<std::string> RunPassesOnText(std::string_view text,
                                      std::string_view list,
                                      const PassOptions& options = {});

}  // namespace ebb::passes

#endif  // EBB_COMPILER_PASSES_PIPELINE_H_
