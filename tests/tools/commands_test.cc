// The program as a whole: help, version, and what it says to mistakes.
#include "tools/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/tools/process.h"

namespace ebb::tools {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(CommandsTest, HelpListsEveryCommand) {
  const ProcessResult result = CallEbb({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  for (const Command& command : Commands()) {
    EXPECT_THAT(result.output, HasSubstr("  " + std::string(command.name)));
    EXPECT_THAT(result.output, HasSubstr(std::string(command.summary)));
  }
}

TEST(CommandsTest, EveryCommandHasAHelpPageOfOneForm) {
  for (const Command& command : Commands()) {
    const std::string name(command.name);
    const ProcessResult result = CallEbb({name, "--help"});
    EXPECT_EQ(result.exit_code, 0) << name;
    EXPECT_EQ(result.errors, "") << name;
    EXPECT_THAT(result.output, StartsWith("Usage: ebb " + name + " "));
    EXPECT_THAT(result.output, HasSubstr("\nExample:\n  ebb "));
    EXPECT_THAT(result.output, HasSubstr("\nExit status: 0 done"));
    EXPECT_EQ(CallEbb({"help", name}).output, result.output);
    std::istringstream lines(result.output);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80U) << name << ": " << line;
    }
  }
}

TEST(CommandsTest, VersionIsOneLine) {
  EXPECT_EQ(CallEbb({"--version"}).output, "ebb 0.1.0\n");
}

TEST(CommandsTest, MistakesAreBadUsage) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "ebb: command line: no command given; `ebb --help` lists them\n"},
      {{"complie"},
       "ebb: command line: unknown command complie; did you mean compile?\n"},
      {{"xyzzy"},
       "ebb: command line: unknown command xyzzy; `ebb --help` lists all\n"},
      {{"--nonsense"},
       "ebb: command line: unknown option --nonsense; `ebb --help` lists "
       "all\n"},
      {{"run", "m.onnx", "--thread", "2"},
       "ebb: run: unknown option --thread; did you mean --threads?\n"},
      {{"run", "m.onnx", "--runs", "many"},
       "ebb: run: the argument ('many') for option '--runs' is invalid\n"},
      {{"run", "m.onnx", "--runs", "0"},
       "ebb: run: --runs must be at least 1, not 0\n"},
      {{"compile"},
       "ebb: compile: no model given; usage: ebb compile MODEL [-o FILE] "
       "[options]\n"},
      {{"run", "m.onnx", "--fill", "luck"},
       "ebb: run: \"luck\" is not one of random, ones, zeros, iota\n"},
      {{"run", "m.onnx", "--image-std", "0"},
       "ebb: run: --image-std: must not be 0\n"},
      {{"run", "nowhere.onnx"},
       "ebb: nowhere.onnx: cannot open: No such file or directory\n"},
      {{"opt"}, "ebb: opt: no file given; `-` reads standard input\n"},
      {{"opt", "-", "--passes", "insert-kill"},
       "ebb: opt: unknown pass insert-kill; did you mean insert-kills?\n"},
      {{"assemble", "-"},
       "ebb: assemble: no file to write given; use -o FILE\n"},
      {{"test", "nowhere"},
       "ebb: test: nowhere: cannot read the folder: No such file or "
       "directory\n"},
      {{"test", ".", "--jobs", "0"},
       "ebb: test: --jobs must be at least 1, not 0\n"},
  };
  for (const auto& [words, errors] : cases) {
    const ProcessResult result = CallEbb(words);
    EXPECT_EQ(result.exit_code, 2) << errors;
    EXPECT_EQ(result.errors, errors);
    EXPECT_EQ(result.output, "");
  }
}

TEST(CommandsTest, FullDiskIsAFailure) {
  const ProcessResult result = RunProcess(
      {"/bin/sh", "-c", EBB_BINARY_DIR "/bin/ebb --help > /dev/full"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.errors, "ebb: standard output: cannot be written\n");
}

TEST(CommandsTest, NoProgressBarInAPipe) {
  const TestFolderOnDisk folder;
  const std::string model = folder.Write(
      "a.ir", "func @main(%x: f32[2]) -> f32[2] { %y = relu %x return %y }");
  const ProcessResult result = CallEbb({"run", model, "--fill", "ones"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
}

}  // namespace
}  // namespace ebb::tools
