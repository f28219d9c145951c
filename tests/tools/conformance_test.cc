// ONNX's own cases through `ebb test`: every case passes or is skipped because
// its model needs what is not built in. Debian's data where it is installed;
// with EBB_SHARED_DIR also the newer data and the hand-made cases there.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>

#include "tests/tools/process.h"

namespace ebb::tools {
namespace {

// At least `least` cases pass, none fails.
void ExpectNoFailure(const std::string& folder, std::size_t least,
                     const std::vector<std::string>& options) {
  SCOPED_TRACE(folder);
  std::vector<std::string> words = {"test", folder, "--jobs", "2", "--json"};
  words.insert(words.end(), options.begin(), options.end());
  const ProcessResult result = CallEbb(words);
  boost::system::error_code error;
  const auto document = boost::json::parse(result.output, error);
  ASSERT_FALSE(error) << result.errors;
  for (const auto& one : document.at("cases").as_array()) {
    EXPECT_NE(one.at("result"), "failed")
        << one.at("folder") << ": " << one.at("reason");
  }
  EXPECT_EQ(document.at("failed"), 0);
  EXPECT_GE(document.at("passed").to_number<std::size_t>(), least);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

const std::vector<std::vector<std::string>>& Ways() {
  static const auto* const ways = new std::vector<std::vector<std::string>>{
      {},
      {"--via-ebb", "--no-kill"},
      {"--backend", "portable", "--threads", "2", "--allocator", "naive"}};
  return *ways;
}

std::string SharedFolder(const std::string& name) {
  const char* shared = std::getenv("EBB_SHARED_DIR");
  if (shared == nullptr) return {};
  const std::string path = std::string(shared) + "/" + name;
  return std::filesystem::is_directory(path) ? path : std::string();
}

TEST(ConformanceTest, DebiansNodeCases) {
  if (NodeCases().empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  for (const auto& options : Ways()) {
    ExpectNoFailure(NodeCases(), 450, options);
  }
}

TEST(ConformanceTest, DebiansConvertedModels) {
  if (NodeCases().empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  const std::string data = NodeCases() + "/..";
  ExpectNoFailure(data + "/pytorch-converted", 70, {});
  ExpectNoFailure(data + "/pytorch-operator", 30, {});
  ExpectNoFailure(data + "/simple", 5, {});
}

TEST(ConformanceTest, NewerNodeCases) {
  const std::string data = SharedFolder("data/onnx-backend");
  if (data.empty()) GTEST_SKIP() << "EBB_SHARED_DIR has no data/onnx-backend";
  ExpectNoFailure(data + "/node", 690, {});
  ExpectNoFailure(data + "/pytorch-converted", 70, {});
  ExpectNoFailure(data + "/pytorch-operator", 30, {});
  ExpectNoFailure(data + "/simple", 5, {});
}

TEST(ConformanceTest, HandMadeCases) {
  const std::string cases = SharedFolder("cases");
  if (cases.empty()) GTEST_SKIP() << "EBB_SHARED_DIR has no cases";
  for (const auto& options : Ways()) ExpectNoFailure(cases, 34, options);
}

}  // namespace
}  // namespace ebb::tools
