#include "tools/command_opt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/passes/pipeline.h"
#include "tests/tools/process.h"

namespace ebb::tools {
namespace {

using testing::HasSubstr;

constexpr const char* kText =
    "func @main(%x: f32[4]) -> f32[4] {\n"
    "  %a = relu %x\n"
    "  %b = mul %a, %a\n"
    "  return %b\n"
    "}\n";

TEST(CommandOptTest, RunsPassesOnAFileAndOnStandardInput) {
  const TestFolderOnDisk folder;
  const std::string file = folder.Write("a.ir", kText);
  const ProcessResult from_file =
      CallEbb({"opt", file, "--passes", "infer-types,insert-kills"});
  EXPECT_EQ(from_file.exit_code, 0) << from_file.errors;
  EXPECT_THAT(from_file.output, HasSubstr("  kill_tensor %a\n"));
  const ProcessResult from_input =
      CallEbb({"opt", "-", "--passes", "infer-types,insert-kills"}, kText);
  EXPECT_EQ(from_input.output, from_file.output);
}

TEST(CommandOptTest, WithoutPassesPrintsWhatItReads) {
  EXPECT_EQ(CallEbb({"opt", "-"}, kText).output, kText);
}

TEST(CommandOptTest, ListsThePassesInOrder) {
  const std::string list = CallEbb({"opt", "--list"}).output;
  std::size_t at = 0;
  for (const passes::PassInfo& pass : passes::AllPasses()) {
    const std::size_t found = list.find(std::string(pass.name) + " ", at);
    ASSERT_NE(found, std::string::npos) << pass.name;
    at = found;
  }
}

TEST(CommandOptTest, ErrorsCarryLineAndColumn) {
  const ProcessResult result =
      CallEbb({"opt", "-"}, "func @main() -> () {\n  %a = nonsense\n}\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, testing::StartsWith("ebb: standard input: 2:"));
}

}  // namespace
}  // namespace ebb::tools
