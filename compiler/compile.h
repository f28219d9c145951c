// The compiler from end to end: an ONNX model (or IR text) in, a bytecode
// module out. The pipeline is one flat list in compile.cc; each step is a pass
// of its own that `ebb opt` can run alone.
//
//   TRY(bytecode::Module module, compiler::CompileFile("model.onnx", {}));
//
// The module borrows weights from the mapped model, which it keeps alive.
#ifndef EBB_COMPILER_COMPILE_H_
#define EBB_COMPILER_COMPILE_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "bytecode/error.h"
#include "bytecode/module.h"
#include "compiler/ir/ir.h"
#include "compiler/onnx/import.h"
#include "vm/kernels/kernel.h"

namespace ebb::compiler {

struct CompileOptions {
  onnx::ImportOptions import;
  bool fold = true;  // Constants and shape arithmetic.
  bool cse = true;   // Common subexpressions.
  bool kill = true;  // false: nothing is freed before the run ends.
  bool pack = true;  // Weights in the blockings that the kernels want.
  // Constants are copied to aligned memory of their own, one at a time, and
  // the model's pages behind them dropped: for running the module at once.
  // false: they stay views of the model, for writing a file.
  bool for_running = false;
  kernels::Backend backend = kernels::DefaultBackend();
  int threads = 1;
  // Told before each step; may be empty.
  std::function<void(std::string_view step, std::size_t index,
                     std::size_t count)>
      progress;
};

// By extension: `.onnx` or `.ir`.
Expected<bytecode::Module> CompileFile(const std::string& path,
                                       const CompileOptions& options);

// `folder`: where external data lies; "" for none. `bytes` must outlive the
// module unless `keep` holds them.
Expected<bytecode::Module> CompileOnnx(
    std::span<const std::byte> bytes, const std::string& folder,
    const CompileOptions& options, std::shared_ptr<const void> keep = nullptr);

Expected<bytecode::Module> CompileIr(ir::Module module,
                                     const CompileOptions& options);

// The IR that is lowered, for looking at: all steps up to the kills.
Status Optimize(ir::Module& module, const CompileOptions& options);

// "ebb 0.1.0".
std::string_view Producer();

}  // namespace ebb::compiler

#endif  // EBB_COMPILER_COMPILE_H_
