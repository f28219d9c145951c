// Real models give the same bits whatever the memory settings and the number
// of threads, and need no more with kills than without. The models are those
// in $EBB_MODELS_DIR (build/models when it is not set), and the node cases of
// Debian's libonnx-testdata. What is left out is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/compiler/run_program.h"

namespace ebb {
namespace {

namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Larger models take too long here; `ebb test` runs them all.
constexpr std::uintmax_t kMaxModelBytes = (kSanitized ? 1U : 16U) << 20U;
// And those that take longer than this to compile and to run twice.
constexpr double kMaxSeconds = kSanitized ? 1.0 : 2.0;

std::vector<fs::path> FoldersIn(const fs::path& root) {
  std::vector<fs::path> folders;
  if (!fs::is_directory(root)) return folders;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (fs::exists(entry.path() / "model.onnx")) {
      folders.push_back(entry.path());
    }
  }
  std::ranges::sort(folders);
  return folders;
}

struct Way {
  const char* name;
  bool kill;
  allocator::Kind allocator;
  int threads;
};

constexpr Way kWays[] = {
    {"pool", true, allocator::Kind::kPool, 1},
    {"without kills", false, allocator::Kind::kPool, 1},
    {"naive", true, allocator::Kind::kNaive, 1},
    {"size buckets", true, allocator::Kind::kSizeBucket, 1},
    {"two threads", true, allocator::Kind::kPool, 2},
};

// "" when it was compared, else why not.
std::string Compare(const fs::path& folder, int64_t symbol_size) {
  RunResult first;
  const auto start = std::chrono::steady_clock::now();
  for (const Way& way : kWays) {
    RunOptions options;
    options.compile.kill = way.kill;
    options.compile.threads = way.threads;
    options.compile.for_running = true;
    options.session.allocator = way.allocator;
    options.session.threads = way.threads;
    options.symbol_size = symbol_size;
    auto module = compiler::CompileFile((folder / "model.onnx").string(),
                                        options.compile);
    if (!module.has_value()) return module.error().ToString();
    auto program = vm::Program::Load(std::move(*module), {});
    if (!program.has_value()) return program.error().ToString();
    const auto run = RunProgram(std::move(*program), options);
    if (!run.has_value()) {
      // Made-up inputs need not suit a model; then they suit it in no way.
      if (&way != kWays) {
        ADD_FAILURE() << folder << " " << way.name << ": "
                      << run.error().ToString();
      }
      return run.error().ToString();
    }
    EXPECT_EQ(run->live_after_bytes, 0U) << folder << " " << way.name;
    if (&way == kWays) {
      first = *run;
      const std::chrono::duration<double> taken =
          std::chrono::steady_clock::now() - start;
      if (taken.count() > kMaxSeconds) return "takes too long for this test";
    }
    EXPECT_EQ(run->outputs, first.outputs) << folder << " " << way.name;
    if (!way.kill) {
      EXPECT_GE(run->peak_bytes, first.peak_bytes) << folder;
    }
  }
  return "";
}

TEST(ModelDifferentialTest, ModelsGiveTheSameBitsInAllWays) {
  const char* const named = std::getenv("EBB_MODELS_DIR");
  const fs::path root = named != nullptr && *named != '\0'
                            ? fs::path(named)
                            : fs::path(EBB_SOURCE_DIR) / "build/models";
  int compared = 0;
  for (const fs::path& folder : FoldersIn(root)) {
    std::string skipped;
    if (fs::file_size(folder / "model.onnx") > kMaxModelBytes) {
      skipped = "too large for this test";
    } else {
      skipped = Compare(folder, 64);
    }
    compared += skipped.empty() ? 1 : 0;
    if (!skipped.empty()) {
      std::printf("left out: %s: %s\n", folder.filename().c_str(),
                  skipped.c_str());
    }
  }
  if (compared == 0) GTEST_SKIP() << "no models in " << root;
  std::printf("compared: %d models\n", compared);
}

TEST(ModelDifferentialTest, NodeCasesGiveTheSameBitsInAllWays) {
  const fs::path root = "/usr/share/libonnx-testdata/data/node";
  int compared = 0;
  int left_out = 0;
  const std::vector<fs::path> folders = FoldersIn(root);
  for (std::size_t i = 0; i < folders.size(); i += kSanitized ? 4 : 1) {
    const bool done = Compare(folders[i], 3).empty();
    compared += done ? 1 : 0;
    left_out += done ? 0 : 1;
  }
  if (folders.empty()) GTEST_SKIP() << "no node cases: libonnx-testdata";
  std::printf(
      "compared: %d node cases; left out: %d that are not built in or "
      "take other inputs than these\n",
      compared, left_out);
  EXPECT_GT(compared, kSanitized ? 50 : 400);
}

}  // namespace
}  // namespace ebb
