#include "compiler/passes/pipeline.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ebb::passes {
namespace {

constexpr std::string_view kText =
    "func @main(%x: f32[4]) -> f32[4] {\n  return %x\n}\n";

TEST(PipelineTest, NamesAreFoundAndUnique) {
  for (const PassInfo& pass : AllPasses()) {
    EXPECT_EQ(FindPass(pass.name), &pass) << pass.name;
    EXPECT_FALSE(pass.summary.empty());
    for (const std::string_view name : pass.prerequisites) {
      EXPECT_NE(FindPass(name), nullptr) << name;
    }
  }
  EXPECT_EQ(FindPass("no-such-pass"), nullptr);
}

TEST(PipelineTest, SplitsLists) {
  EXPECT_EQ(SplitPassNames("a, b,,c "),
            (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_TRUE(SplitPassNames("").empty());
}

TEST(PipelineTest, NoPassesPrintsWhatWasRead) {
  const auto text = RunPassesOnText(kText, "");
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text, kText);
}

TEST(PipelineTest, NamesAnUnknownPass) {
  const auto text = RunPassesOnText(kText, "cse,fold");
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(text.error().message, "no pass is named 'fold'");
}

TEST(PipelineTest, APassDoesWhatItNeedsDoneFirst) {
  const auto text = RunPassesOnText(
      "func @main(%x: f32[4]) -> f32[4] {\n  %y = %x\n  return %y\n}\n", "cse");
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text, kText);
}

TEST(PipelineTest, VerifiesWhatItIsGiven) {
  const auto text = RunPassesOnText(
      "func @main(%x: f32[4]) -> f32[4] {\n  return\n}\n", "cse");
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().ToString(), "2:3: return: 0 values, @main gives 1");
}

}  // namespace
}  // namespace ebb::passes
