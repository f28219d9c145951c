// Golden text: every .ir file under tests/golden/ is a test.
//
//   # RUN: insert-kills
//   # What this file shows.
//   func @main(…) { … }
//   # ---- expect
//   …what the passes print…
//
// An error that is expected stands at the end of the line that it is about,
// as `# error: message`, in place of the expectation. UPDATE_GOLDEN=1 writes
// what the passes print into the files; the diff is reviewed as code.
//
// Besides, all printed text is read and printed again, and has to stay the
// same; and so has text with kills when kills are inserted again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/passes/pipeline.h"

namespace ebb {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRun = "# RUN:";
constexpr std::string_view kExpect = "# ---- expect\n";
constexpr std::string_view kError = "# error: ";

fs::path Root() { return fs::path(EBB_SOURCE_DIR) / "tests" / "golden"; }

std::vector<std::string> AllFiles() {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(Root())) {
    if (entry.path().extension() == ".ir") {
      files.push_back(fs::relative(entry.path(), Root()).string());
    }
  }
  std::ranges::sort(files);
  return files;
}

struct Golden {
  std::string passes;
  std::string input;  // All before the mark, so that lines agree.
  std::string expected;
  std::string error;   // Expected instead, when not empty…
  int error_line = 0;  // …in this line.
};

Golden Read(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  Golden golden;
  golden.input = text.str();
  if (const auto mark = golden.input.find(kExpect); mark != std::string::npos) {
    golden.expected = golden.input.substr(mark + kExpect.size());
    golden.input.resize(mark);
  }
  std::istringstream lines(golden.input);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (number == 1 && line.starts_with(kRun)) {
      golden.passes = line.substr(kRun.size());
    }
    if (const auto at = line.find(kError); at != std::string::npos) {
      golden.error = line.substr(at + kError.size());
      golden.error_line = number;
    }
  }
  return golden;
}

class GoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, PrintsWhatIsExpected) {
  const fs::path path = Root() / GetParam();
  const Golden golden = Read(path);
  ASSERT_TRUE(golden.input.starts_with(kRun)) << "the first line is no RUN";
  const auto printed = passes::RunPassesOnText(golden.input, golden.passes);
  if (!golden.error.empty()) {
    ASSERT_FALSE(printed.has_value()) << *printed;
    EXPECT_EQ(printed.error().message, golden.error);
    EXPECT_TRUE(printed.error().where.starts_with(
        std::to_string(golden.error_line) + ":"))
        << printed.error().where;
    return;
  }
  ASSERT_TRUE(printed.has_value()) << printed.error().ToString();
  const auto again = passes::RunPassesOnText(*printed, "");
  ASSERT_TRUE(again.has_value()) << again.error().ToString() << *printed;
  EXPECT_EQ(*again, *printed) << "parse after print is not the identity";
  if (golden.passes.ends_with("insert-kills")) {
    const auto twice = passes::RunPassesOnText(*printed, "insert-kills");
    ASSERT_TRUE(twice.has_value()) << twice.error().ToString();
    EXPECT_EQ(*twice, *printed) << "running the pass twice changes the text";
  }
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << golden.input << kExpect << *printed;
    return;
  }
  EXPECT_EQ(*printed, golden.expected);
}

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(0, info.param.size() - 3);
  std::ranges::replace_if(name, [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenTest, ::testing::ValuesIn(AllFiles()),
                         TestName);

}  // namespace
}  // namespace ebb
