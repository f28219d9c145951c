// Golden text: every .ir file in tests/compiler/lowering/golden is run through
// the passes that its first line names and lowered; what is expected is the
// disassembly. The format is that of tests/golden_test.cc, UPDATE_GOLDEN=1
// writes what comes out. All that is lowered verifies and passes the lifetime
// checker: Lower holds it to both.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "bytecode/disassembler.h"
#include "compiler/ir/parser.h"
#include "compiler/lowering/lower.h"
#include "compiler/passes/pipeline.h"

namespace ebb::lowering {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRun = "# RUN:";
constexpr std::string_view kExpect = "# ---- expect\n";

fs::path Root() {
  return fs::path(EBB_SOURCE_DIR) / "tests/compiler/lowering/golden";
}

std::vector<std::string> AllFiles() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(Root())) {
    if (entry.path().extension() == ".ir") {
      files.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(files);
  return files;
}

// The disassembly, or the error. Kernels without scratch of their own, so that
// the text is the same in every build.
std::string LowerText(const std::string& text, const std::string& names) {
  auto module = ir::ParseModule(text);
  if (!module.has_value()) return module.error().ToString();
  const passes::PassOptions options{.backend = kernels::Backend::kPortable,
                                    .threads = 1};
  const Status status =
      passes::RunPasses(*module, passes::SplitPassNames(names), options);
  if (!status.has_value()) return status.error().ToString();
  const auto lowered = Lower(*module, {});
  if (!lowered.has_value()) return lowered.error().ToString();
  return bytecode::Disassemble(*lowered);
}

class LoweringGoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(LoweringGoldenTest, DisassemblesToWhatIsExpected) {
  const fs::path path = Root() / (GetParam() + ".ir");
  std::stringstream whole;
  whole << std::ifstream(path).rdbuf();
  std::string input = whole.str();
  std::string expected;
  if (const auto mark = input.find(kExpect); mark != std::string::npos) {
    expected = input.substr(mark + kExpect.size());
    input.resize(mark);
  }
  ASSERT_TRUE(input.starts_with(kRun)) << "the first line is no RUN";
  const std::string names =
      input.substr(kRun.size(), input.find('\n') - kRun.size());
  const std::string printed = LowerText(input, names);
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << input << kExpect << printed;
    return;
  }
  EXPECT_EQ(printed, expected);
}

INSTANTIATE_TEST_SUITE_P(Files, LoweringGoldenTest,
                         ::testing::ValuesIn(AllFiles()),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace ebb::lowering
