#include "compiler/compile.h"

#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "bytecode/mapped_file.h"
#include "compiler/analysis/infer.h"
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

struct Step {
  std::string_view name;
  Status (*run)(ir::Module& module, const CompileOptions& options);
};

template <void (*kPass)(ir::Module&)>
Status Plain(ir::Module& module, const CompileOptions&) {
  kPass(module);
  return {};
}

template <void (*kPass)(ir::Module&), bool CompileOptions::*kSwitch>
Status When(ir::Module& module, const CompileOptions& options) {
  if (options.*kSwitch) kPass(module);
  return {};
}

Status Infer(ir::Module& module, const CompileOptions&) {
  return ir::InferTypes(module);
}

Status Pack(ir::Module& module, const CompileOptions& options) {
  if (options.pack) passes::PackConstants(module, options.backend);
  return {};
}

Status Memory(ir::Module& module, const CompileOptions& options) {
  return passes::MakeMemoryExplicit(module, {options.backend, options.threads});
}

// The kills of a loop are not for show, so they are all inserted first.
Status Kill(ir::Module& module, const CompileOptions& options) {
  passes::InsertKills(module);
  if (!options.kill) passes::StripKills(module);
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

// Memory of its own, aligned for any kernel, for one constant at a time.
struct Aligned {
  explicit Aligned(std::size_t bytes)
      : size(bytes),
        data(static_cast<std::byte*>(::operator new(
            bytes, std::align_val_t{64}, std::nothrow))) {}
  ~Aligned() { ::operator delete(data, std::align_val_t{64}); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;

  std::size_t size;
  std::byte* data;
};

// Gives constants that lie unaligned in the model memory of their own, and
// drops the model's pages behind them, so that no weight is held twice.
Status AlignConstants(bytecode::Module& module, const MappedFile* file) {
  for (bytecode::Constant& constant : module.constants) {
    const auto address =
        reinterpret_cast<std::uintptr_t>(constant.data.data());
    if (constant.data.empty() || address % 64 == 0) continue;
    auto copy = std::make_shared<Aligned>(constant.data.size());
    if (copy->data == nullptr) {
      return Fail(ErrorCode::kOutOfMemory,
                  "no memory for a weight of " +
                      std::to_string(constant.data.size()) + " bytes",
                  "constant \"" + module.string(constant.name) + "\"");
    }
    std::memcpy(copy->data, constant.data.data(), constant.data.size());
    const std::span<const std::byte> before = constant.data;
    constant.data = {copy->data, copy->size};
    module.owned.push_back(std::move(copy));
    if (file != nullptr && before.data() >= file->bytes().data() &&
        before.data() < file->bytes().data() + file->bytes().size()) {
      file->Drop(before);
    }
  }
  return {};
}

Expected<bytecode::Module> Finish(ir::Module module,
                                  const CompileOptions& options,
                                  const MappedFile* file) {
  RETURN_IF_ERROR(Optimize(module, options));
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
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
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
  for (std::size_t i = 0; i < kSteps.size(); ++i) {
    Report(options, kSteps[i].name, i + 1);
    RETURN_IF_ERROR(kSteps[i].run(module, options));
    assert(ir::Verify(module).has_value());
  }
  return {};
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
