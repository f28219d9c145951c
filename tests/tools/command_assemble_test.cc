#include "tools/command_assemble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "tests/tools/process.h"

namespace ebb::tools {
namespace {

using testing::HasSubstr;

class CommandAssembleTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string ir =
        folder_.Write("a.ir",
                      "const @w : f32[4] = [1.0, 2.0, 3.0, 4.0]\n"
                      "func @main(%x: f32[n, 4]) -> f32[n, 4] {\n"
                      "  %w = constant @w : f32[4]\n"
                      "  %a = add %x, %w\n"
                      "  %y = relu %a\n"
                      "  return %y\n"
                      "}\n");
    ebb_ = folder_.File("a.ebb");
    const ProcessResult result = CallEbb({"compile", ir, "-o", ebb_});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    bare_ = folder_.File("bare.ebb");
    ASSERT_EQ(CallEbb({"compile", ir, "-o", bare_, "--no-kill"}).exit_code, 0);
  }

  TestFolderOnDisk folder_;
  std::string ebb_;
  std::string bare_;  // Without kills.
};

TEST_F(CommandAssembleTest, TextGoesBackToTheSameFile) {
  const ProcessResult text = CallEbb({"disassemble", ebb_});
  ASSERT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("func @main("));
  const ProcessResult back =
      CallEbb({"assemble", "-", "-o", folder_.File("b.ebb")}, text.output);
  EXPECT_EQ(back.exit_code, 0) << back.errors;
  EXPECT_EQ(folder_.Read("b.ebb"), folder_.Read("a.ebb"));
}

TEST_F(CommandAssembleTest, TextRunsLikeTheFile) {
  const std::string text = folder_.File("a.ebbt");
  ASSERT_EQ(CallEbb({"disassemble", ebb_, "-o", text}).exit_code, 0);
  const std::vector<std::string> rest = {"--shape", "x=2x4", "--fill", "iota"};
  std::vector<std::string> a = {"run", ebb_};
  std::vector<std::string> b = {"run", text};
  a.insert(a.end(), rest.begin(), rest.end());
  b.insert(b.end(), rest.begin(), rest.end());
  const ProcessResult from_text = CallEbb(b);
  EXPECT_EQ(from_text.exit_code, 0) << from_text.errors;
  EXPECT_EQ(from_text.output, CallEbb(a).output);
}

TEST_F(CommandAssembleTest, ElidedTextIsForReadingOnly) {
  const ProcessResult text = CallEbb({"disassemble", ebb_, "--elide", "4"});
  ASSERT_EQ(text.exit_code, 0);
  const ProcessResult back =
      CallEbb({"assemble", "-", "-o", folder_.File("b.ebb")}, text.output);
  EXPECT_EQ(back.exit_code, 2);
  EXPECT_EQ(folder_.Read("b.ebb"), "");
}

TEST_F(CommandAssembleTest, ErrorsCarryLineAndColumn) {
  const ProcessResult result = CallEbb(
      {"assemble", "-", "-o", folder_.File("b.ebb")}, "ebbt 1.0\nnonsense\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, testing::StartsWith("ebb: standard input: 2:"));
}

TEST_F(CommandAssembleTest, VerifyFindsMissingKills) {
  EXPECT_EQ(CallEbb({"verify", ebb_}).exit_code, 0);
  const ProcessResult missing = CallEbb({"verify", bare_});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.errors, HasSubstr("still holds"));
  EXPECT_EQ(CallEbb({"verify", bare_, "--allow-missing-kills"}).exit_code, 0);
}

TEST_F(CommandAssembleTest, VerifyFindsEveryFlippedByte) {
  const std::string whole = folder_.Read("a.ebb");
  // All of header, table and constants; a sample of the zeros between.
  for (std::size_t at = 0; at < whole.size(); at += at < 320 ? 9 : 211) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    const ProcessResult result =
        CallEbb({"verify", folder_.Write("bad.ebb", damaged)});
    EXPECT_EQ(result.exit_code, 1) << at;
    EXPECT_NE(result.errors, "") << at;
  }
  std::string damaged = whole;
  damaged[4096] = static_cast<char>(damaged[4096] ^ 1);
  const ProcessResult constants =
      CallEbb({"verify", folder_.Write("bad.ebb", damaged)});
  EXPECT_EQ(constants.exit_code, 1);
}

TEST_F(CommandAssembleTest, VerifySaysAllOfSeveralFiles) {
  const ProcessResult result =
      CallEbb({"verify", ebb_, bare_, folder_.path() + "/none.ebb", "--json"});
  EXPECT_EQ(result.exit_code, 2);
  const auto document = boost::json::parse(result.output).as_object();
  EXPECT_EQ(document.at("schema"), "ebb.verify/1");
  const auto& files = document.at("files").as_array();
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].at("sound"), true);
  EXPECT_EQ(files[1].at("sound"), false);
  EXPECT_THAT(std::string(files[2].at("error").as_string()),
              HasSubstr("cannot open"));
}

}  // namespace
}  // namespace ebb::tools
