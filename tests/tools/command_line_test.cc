#include "tools/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ebb::tools {
namespace {

using testing::HasSubstr;

CommandLine MakeLine() {
  CommandLine line({.name = "demo",
                    .usage = "FILE [options]",
                    .about = "Does nothing.",
                    .example = "  ebb demo a"});
  po::options_description group("Options");
  group.add_options()("runs", po::value<int>()->default_value(1), "how often")(
      "stats", "show them");
  line.Add(group);
  line.Positional("file");
  return line;
}

TEST(CommandLineTest, ReadsOptionsAndWords) {
  CommandLine line = MakeLine();
  EXPECT_EQ(line.Parse({"a.onnx", "--runs=4"}), std::nullopt);
  EXPECT_EQ(line.Get<std::string>("file"), "a.onnx");
  EXPECT_EQ(line.Get<int>("runs"), 4);
  EXPECT_FALSE(line.Has("stats"));
}

TEST(CommandLineTest, HelpStopsEverythingElse) {
  CommandLine line = MakeLine();
  testing::internal::CaptureStdout();
  EXPECT_EQ(line.Parse({"--runs", "--help"}), 0);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("Usage: ebb demo FILE [options]\n"));
  EXPECT_THAT(text, HasSubstr("--runs"));
  EXPECT_THAT(text, HasSubstr("Example:\n  ebb demo a\n"));
}

TEST(CommandLineTest, UnknownOptionSuggestsTheNearest) {
  CommandLine line = MakeLine();
  testing::internal::CaptureStderr();
  EXPECT_EQ(line.Parse({"a", "--stat"}), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ebb: demo: unknown option --stat; did you mean --stats?\n");
}

TEST(CommandLineTest, MissingWordShowsTheUsage) {
  CommandLine line = MakeLine();
  testing::internal::CaptureStderr();
  EXPECT_EQ(line.Parse({}), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ebb: demo: no file given; usage: ebb demo FILE [options]\n");
}

TEST(NearestTest, FindsSlipsAndBeginnings) {
  const std::vector<std::string> known = {"compile", "run", "inspect"};
  EXPECT_EQ(Nearest("complie", known), "compile");
  EXPECT_EQ(Nearest("insp", known), "inspect");
  EXPECT_EQ(Nearest("rum", known), "run");
  EXPECT_EQ(Nearest("zebra", known), std::nullopt);
}

}  // namespace
}  // namespace ebb::tools
