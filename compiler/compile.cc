#include "compiler/compile.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "bytecode/mapped_file.h"
#include "compiler/analysis/infer.h"
#include "compiler/ir/aligned_bytes.h"
#include "compiler/ir/parser.h"
#include "compiler/ir/verifier.h"
#include "compiler/lowering/lower.h"
#include "compiler/onnx/reader.h"
#include "compiler/passes/canonicalize.h"
#include "compiler/passes/common_subexpressions.h"
#include "compiler/passes/explicit_memory.h"
#include "compiler/passes/fold_constants.h"
#include "compiler/passes/fold_shapes.h"
#include "compiler/passes/insert_kills.h"
#include "compiler/passes/pack_constants.h"
#include "compiler/passes/remove_unused.h"
#include "compiler/passes/strip_kills.h"

namespace ebb::compiler {
namespace {

// What a step may need besides the module.
struct Context {
  const CompileOptions& options;
  const MappedFile* file;  // That the model was read from; may be none.
};

struct Step {
  std::string_view name;
  Status (*run)(ir::Module& module, const Context& context);
};

template <void (*kPass)(ir::Module&)>
Status Plain(ir::Module& module, const Context&) {
  kPass(module);
  return {};
}

template <void (*kPass)(ir::Module&), bool CompileOptions::* kSwitch>
Status When(ir::Module& module, const Context& context) {
  if (context.options.*kSwitch) kPass(module);
  return {};
}

Status Infer(ir::Module& module, const Context&) {
  return ir::InferTypes(module);
}

// The pages of the model from which `bytes` came leave memory, so that no
// weight is held twice.
void DropPages(const MappedFile* file, std::span<const std::byte> bytes) {
  if (file == nullptr) return;
  const std::span<const std::byte> all = file->bytes();
  if (bytes.data() < all.data() || bytes.data() >= all.data() + all.size()) {
    return;
  }
  file->Drop(bytes);
}

Status Pack(ir::Module& module, const Context& context) {
  if (!context.options.pack) return {};
  passes::PackConstants(module, context.options.backend,
                        [&](std::span<const std::byte> plain) {
                          DropPages(context.file, plain);
                        });
  return {};
}

Status Memory(ir::Module& module, const Context& context) {
  return passes::MakeMemoryExplicit(
      module, {context.options.backend, context.options.threads});
}

// The kills of a loop are not for show, so they are all inserted first.
Status Kill(ir::Module& module, const Context& context) {
  passes::InsertKills(module);
  if (!context.options.kill) passes::StripKills(module);
  return {};
}

// The pipeline. Folding makes bindings that are alike or unused, so both are
// looked for after it.
constexpr std::array kSteps = {
    Step{"canonicalize", Plain<passes::Canonicalize>},
    Step{"infer types", Infer},
    Step{"fold shapes", When<passes::FoldShapes, &CompileOptions::fold>},
    Step{"fold constants", When<passes::FoldConstants, &CompileOptions::fold>},
    Step{"common subexpressions",
         When<passes::EliminateCommonSubexpressions, &CompileOptions::cse>},
    Step{"remove unused", Plain<passes::RemoveUnused>},
    Step{"pack weights", Pack},
    Step{"remove unpacked", Plain<passes::RemoveUnused>},
    Step{"explicit memory", Memory},
    Step{"insert kills", Kill},
};

void Report(const CompileOptions& options, std::string_view step,
            std::size_t index) {
  if (options.progress) options.progress(step, index, kSteps.size() + 2);
}

// Gives constants that lie unaligned in the model memory of their own, and
// drops the model's pages behind them, so that no weight is held twice.
Status AlignConstants(bytecode::Module& module, const MappedFile* file) {
  for (bytecode::Constant& constant : module.constants) {
    const auto address = reinterpret_cast<std::uintptr_t>(constant.data.data());
    if (constant.data.empty() || address % 64 == 0) continue;
    auto copy = std::make_shared<ir::AlignedBytes>(constant.data.size());
    if (copy->data() == nullptr) {
      return Fail(ErrorCode::kOutOfMemory,
                  "no memory for a weight of " +
                      std::to_string(constant.data.size()) + " bytes",
                  "constant \"" + module.string(constant.name) + "\"");
    }
    // Piece by piece: the model's pages go while the copy grows.
    constexpr std::size_t kPieceBytes = 1U << 20U;
    for (std::size_t at = 0; at < constant.data.size(); at += kPieceBytes) {
      const auto piece = constant.data.subspan(
          at, std::min(kPieceBytes, constant.data.size() - at));
      std::memcpy(copy->data() + at, piece.data(), piece.size());
      DropPages(file, piece);
    }
    constant.data = copy->span();
    module.owned.push_back(std::move(copy));
  }
  return {};
}

Status RunSteps(ir::Module& module, const Context& context) {
  for (std::size_t i = 0; i < kSteps.size(); ++i) {
    Report(context.options, kSteps[i].name, i + 1);
    RETURN_IF_ERROR(kSteps[i].run(module, context));
    assert(ir::Verify(module).has_value());
  }
  return {};
}

Expected<bytecode::Module> Finish(ir::Module module,
                                  const CompileOptions& options,
                                  const MappedFile* file) {
  RETURN_IF_ERROR(RunSteps(module, {options, file}));
  Report(options, "emit bytecode", kSteps.size() + 1);
  lowering::LowerOptions lower;
  lower.producer = Producer();
  lower.target =
      options.backend == kernels::Backend::kOneDnn ? "onednn" : "portable";
  lower.check_lifetimes = options.kill;
  TRY(bytecode::Module lowered, lowering::Lower(module, lower));
  if (options.for_running) RETURN_IF_ERROR(AlignConstants(lowered, file));
  return lowered;
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

Expected<ir::Module> Import(std::span<const std::byte> bytes,
                            const std::string& folder,
                            const CompileOptions& options) {
  Report(options, "read model", 0);
  TRY(const onnx::Model model, onnx::ReadModel(bytes));
  return onnx::ImportModel(model, folder, options.import);
}

}  // namespace

std::string_view Producer() { return "ebb " EBB_VERSION; }

Status Optimize(ir::Module& module, const CompileOptions& options) {
  return RunSteps(module, {options, nullptr});
}

Expected<bytecode::Module> CompileIr(ir::Module module,
                                     const CompileOptions& options) {
  return Finish(std::move(module), options, nullptr);
}

Expected<bytecode::Module> CompileOnnx(std::span<const std::byte> bytes,
                                       const std::string& folder,
                                       const CompileOptions& options,
                                       std::shared_ptr<const void> keep) {
  TRY(ir::Module module, Import(bytes, folder, options));
  if (keep != nullptr) module.owned.push_back(std::move(keep));
  return Finish(std::move(module), options, nullptr);
}

Expected<bytecode::Module> CompileFile(const std::string& path,
                                       const CompileOptions& options) {
  TRY(MappedFile mapped, MappedFile::Open(path));
  auto file = std::make_shared<const MappedFile>(std::move(mapped));
  if (EndsWith(path, ".ir")) {
    const auto bytes = file->bytes();
    TRY(ir::Module module,
        ir::ParseModule(std::string_view(
            reinterpret_cast<const char*>(bytes.data()), bytes.size())));
    RETURN_IF_ERROR(ir::Verify(module));
    return CompileIr(std::move(module), options);
  }
  TRY(ir::Module module, Import(file->bytes(), FolderOf(path), options));
  module.owned.push_back(file);
  return Finish(std::move(module), options, file.get());
}

}  // namespace ebb::compiler
