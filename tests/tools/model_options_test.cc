#include "tools/model_options.h"

#include <gtest/gtest.h>

namespace ebb::tools {
namespace {

namespace po = boost::program_options;

Expected<ModelOptions> Read(const std::vector<std::string>& words) {
  po::options_description all;
  all.add(CompileOptionGroup()).add(SessionOptionGroup());
  po::variables_map values;
  po::store(po::command_line_parser(words).options(all).run(), values);
  return ReadModelOptions(values);
}

TEST(ModelOptionsTest, ReadsFixedOpenAndRangedDims) {
  const auto shape = ParseShape("x=1..8x3x?x5..");
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->first, "x");
  ASSERT_EQ(shape->second.size(), 4U);
  EXPECT_EQ(shape->second[0].low, 1);
  EXPECT_EQ(shape->second[0].high, 8);
  EXPECT_TRUE(shape->second[1].IsFixed());
  EXPECT_EQ(shape->second[2].low, 0);
  EXPECT_FALSE(shape->second[2].high.has_value());
  EXPECT_EQ(shape->second[3].low, 5);
  EXPECT_FALSE(shape->second[3].high.has_value());
}

TEST(ModelOptionsTest, NamesMayHoldEqualsSignsAndDimsMayBeNone) {
  const auto shape = ParseShape("a=b=2x3");
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->first, "a=b");
  EXPECT_EQ(ParseShape("scalar=")->second.size(), 0U);
}

TEST(ModelOptionsTest, RefusesWhatIsNoShape) {
  for (const char* text :
       {"x", "=1x2", "x=1x", "x=x1", "x=1xx2", "x=-1", "x=8..1", "x=a"}) {
    EXPECT_FALSE(ParseShape(text).has_value()) << text;
  }
}

TEST(ModelOptionsTest, DefaultsAreThoseOfTheCompiler) {
  const auto options = Read({});
  ASSERT_TRUE(options.has_value());
  EXPECT_TRUE(options->compile.kill);
  EXPECT_TRUE(options->compile.fold);
  EXPECT_TRUE(options->compile.pack);
  EXPECT_EQ(options->compile.threads, 1);
  EXPECT_EQ(options->session.allocator, allocator::Kind::kPool);
  EXPECT_EQ(options->session.memory_limit_bytes, 0U);
  EXPECT_TRUE(options->compile_only.empty());
}

TEST(ModelOptionsTest, SessionFollowsThreadsAndBackend) {
  const auto options = Read({"--threads", "3", "--backend", "portable",
                             "--memory-limit=2MiB", "--allocator", "naive"});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->session.threads, 3);
  EXPECT_EQ(options->session.backend, kernels::Backend::kPortable);
  EXPECT_EQ(options->session.memory_limit_bytes, 2U << 20U);
  EXPECT_EQ(options->session.allocator, allocator::Kind::kNaive);
}

TEST(ModelOptionsTest, RemembersWhatOnlyACompilerCanDo) {
  const auto options =
      Read({"--no-kill", "--shape", "x=1", "--target", "any", "--threads=2"});
  ASSERT_TRUE(options.has_value());
  EXPECT_FALSE(options->compile.kill);
  EXPECT_FALSE(options->compile.pack);
  EXPECT_TRUE(options->any_target);
  EXPECT_EQ(options->compile_only,
            (std::vector<std::string>{"--shape", "--target", "--no-kill"}));
}

TEST(ModelOptionsTest, ErrorsNameTheOption) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--threads", "0"}, "--threads: 0 is not between 1 and 1024"},
      {{"--backend", "gpu"},
       "--backend: \"gpu\" is neither onednn nor portable"},
      {{"--target", "z80"}, "--target: \"z80\" is neither native nor any"},
      {{"--memory-limit", "0"}, "--memory-limit: must be above 0"},
      {{"--allocator", "magic"},
       "--allocator: \"magic\" is not one of pool, naive, size-bucket"},
      {{"--shape", "x=1", "--shape", "x=2"},
       "--shape: input \"x\" is given two shapes"},
  };
  for (const auto& [words, message] : cases) {
    const auto options = Read(words);
    ASSERT_FALSE(options.has_value()) << message;
    EXPECT_EQ(options.error().ToString(), message);
  }
}

}  // namespace
}  // namespace ebb::tools
