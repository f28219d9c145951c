#include "compiler/passes/pipeline.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "compiler/analysis/infer.h"
#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/passes/canonicalize.h"
#include "compiler/passes/common_subexpressions.h"
#include "compiler/passes/explicit_memory.h"
#include "compiler/passes/fold_constants.h"
#include "compiler/passes/fold_shapes.h"
#include "compiler/passes/insert_kills.h"
#include "compiler/passes/pack_constants.h"
#include "compiler/passes/remove_unused.h"
#include "compiler/passes/strip_kills.h"

namespace ebb::passes {
namespace {

// A pass that cannot fail and has no options.
template <void (*kPass)(ir::Module&)>
Status Plain(ir::Module& module, const PassOptions&) {
  kPass(module);
  return {};
}

Status Infer(ir::Module& module, const PassOptions&) {
  return ir::InferTypes(module);
}

Status Pack(ir::Module& module, const PassOptions& options) {
  PackConstants(module, options.backend);
  return {};
}

Status Memory(ir::Module& module, const PassOptions& options) {
  return MakeMemoryExplicit(module, MemoryOptions{.backend = options.backend,
                                                  .threads = options.threads});
}

constexpr std::array<std::string_view, 1> kCanonical = {"canonicalize"};
constexpr std::array<std::string_view, 1> kTyped = {"infer-types"};

constexpr auto kPasses = std::to_array<PassInfo>({
    {"canonicalize",
     "looks through bindings that only rename",
     Plain<Canonicalize>,
     {}},
    {"infer-types", "types and symbolic shapes of all values", Infer,
     kCanonical},
    {"fold-shapes", "shape arithmetic becomes dims", Plain<FoldShapes>, kTyped},
    {"fold-constants", "runs operators on constants now", Plain<FoldConstants>,
     kTyped},
    {"cse", "merges common subexpressions and equal constants",
     Plain<EliminateCommonSubexpressions>, kCanonical},
    {"remove-unused", "removes what nothing needs", Plain<RemoveUnused>,
     kCanonical},
    {"pack-constants", "weights in the blockings that kernels want", Pack,
     kTyped},
    {"explicit-memory", "operators write into tensors that are allocated",
     Memory, kTyped},
    {"insert-kills", "ends every hold after its last use", Plain<InsertKills>,
     kCanonical},
    {"strip-kills",
     "takes the kills of the entry function out again",
     Plain<StripKills>,
     {}},
});

// Prerequisites nest by a few levels of the table above.
Status RunOne(ir::Module& module, const PassInfo& pass,
              const PassOptions& options,
              std::unordered_set<std::string_view>& done) {
  for (const std::string_view name : pass.prerequisites) {
    if (done.contains(name)) continue;
    RETURN_IF_ERROR(RunOne(module, *FindPass(name), options, done));
  }
  RETURN_IF_ERROR(pass.run(module, options));
  done.insert(pass.name);
  if (auto status = ir::Verify(module); !status.has_value()) {
    Error error = std::move(status).error();
    error.message += " (after " + std::string(pass.name) + ")";
    return std::unexpected(std::move(error));
  }
  return {};
}

}  // namespace

std::span<const PassInfo> AllPasses() { return kPasses; }

const PassInfo* FindPass(std::string_view name) {
  const auto at = std::ranges::find(kPasses, name, &PassInfo::name);
  return at == kPasses.end() ? nullptr : &*at;
}

std::vector<std::string_view> SplitPassNames(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view name = list.substr(0, comma);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (!name.empty()) names.push_back(name);
    list = comma == list.npos ? std::string_view() : list.substr(comma + 1);
  }
  return names;
}

Status RunPasses(ir::Module& module, std::span<const std::string_view> names,
                 const PassOptions& options) {
  RETURN_IF_ERROR(ir::Verify(module));
  std::unordered_set<std::string_view> done;
  for (const std::string_view name : names) {
    const PassInfo* pass = FindPass(name);
    if (pass == nullptr) {
      return Fail(ErrorCode::kInvalidArgument,
                  "no pass is named '" + std::string(name) + "'");
    }
    RETURN_IF_ERROR(RunOne(module, *pass, options, done));
  }
  return {};
}

Expected<std::string> RunPassesOnText(std::string_view text,
                                      std::string_view list,
                                      const PassOptions& options) {
  TRY(ir::Module module, ir::ParseModule(text));
  RETURN_IF_ERROR(RunPasses(module, SplitPassNames(list), options));
  return ir::Print(module);
}

}  // namespace ebb::passes
