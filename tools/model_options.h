// Options that every command which takes a model understands, as groups for
// CommandLine, and what they mean.
//
//   line.Add(CompileOptionGroup());     // --shape, --threads, --no-fold, …
//   line.Add(SessionOptionGroup());     // --memory-limit, --allocator
//   TRY(ModelOptions options, ReadModelOptions(line.values()));
#ifndef EBB_TOOLS_MODEL_OPTIONS_H_
#define EBB_TOOLS_MODEL_OPTIONS_H_

#include <boost/program_options.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/error.h"
#include "compiler/compile.h"
#include "vm/session.h"

namespace ebb::tools {

struct ModelOptions {
  compiler::CompileOptions compile;
  // Threads and backend are the same as in `compile`.
  vm::SessionOptions session;
  // --target any: nothing in the compiled form suits one processor only.
  bool any_target = false;
  // No progress bar, for work that is itself a part of something bigger.
  bool quiet = false;
  // Options that were given and can only change a model that is not compiled
  // yet, such as "--no-kill".
  std::vector<std::string> compile_only;
};

// --shape, --output, --threads, --backend, --target, --no-…
boost::program_options::options_description CompileOptionGroup();
// --memory-limit, --allocator
boost::program_options::options_description SessionOptionGroup();

// Either group may be missing from `values`.
Expected<ModelOptions> ReadModelOptions(
    const boost::program_options::variables_map& values);

// "x=1..8x3x?x224": the input's name, and one bound a dim.
using ShapeOption = std::pair<std::string, std::vector<onnx::DimBound>>;
Expected<ShapeOption> ParseShape(std::string_view text);

Expected<allocator::Kind> ParseAllocator(std::string_view name);
std::string_view AllocatorName(allocator::Kind kind);
std::string_view BackendName(kernels::Backend backend);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_MODEL_OPTIONS_H_
