// `ebb bench`, `ebb memory` and the memory-peak comparison on a small model.
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tools/command_bench.h"
#include "tools/command_memory.h"
#include "tools/exit_code.h"
#include "tools/measure.h"
#include "tools/memory_peaks.h"

namespace ebb::tools {
namespace {

// %a lives on to the end: 1 KiB, and twice 4 KiB for what is in work.
constexpr char kModel[] = R"(
func @main(%x: f32[n]) -> f32[n] {
  %a = exp %x
  %b = sqrt %a
  %c = exp %b
  %d = mul %c, %a
  return %d
}
)";

class MeasureCommandsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(::testing::TempDir()) /
        ("ebb_measure_" +
         std::string(
             ::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
    model_ = (folder_ / "model.ir").string();
    std::ofstream(model_) << kModel;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // What the command prints; its exit code goes to code_.
  std::string Run(int (*command)(const std::vector<std::string>&),
                  std::vector<std::string> words) {
    words.insert(words.begin(), model_);
    ::testing::internal::CaptureStdout();
    code_ = command(words);
    return ::testing::internal::GetCapturedStdout();
  }
  boost::json::object RunJson(int (*command)(const std::vector<std::string>&),
                              std::vector<std::string> words) {
    words.push_back("--json");
    return boost::json::parse(Run(command, std::move(words))).as_object();
  }

  std::filesystem::path folder_;
  std::string model_;
  int code_ = -1;
};

const std::vector<std::string> kShape = {"--shape", "x=256"};

TEST_F(MeasureCommandsTest, BenchMeasuresTimesAndMemory) {
  std::vector<std::string> words = kShape;
  words.insert(words.end(), {"--runs", "7", "--warmup", "1"});
  const boost::json::object json = RunJson(RunBench, words);
  EXPECT_EQ(code_, kDone);
  EXPECT_EQ(json.at("schema").as_string(), "ebb.bench/1");
  EXPECT_EQ(json.at("runs").to_number<int>(), 7);
  EXPECT_GT(json.at("compile_ms").as_double(), 0);
  EXPECT_LE(json.at("min_ms").as_double(), json.at("p50_ms").as_double());
  EXPECT_LE(json.at("p50_ms").as_double(), json.at("p99_ms").as_double());
  EXPECT_EQ(json.at("lower_bound_bytes").to_number<int>(), 3 * 1024);
  EXPECT_EQ(json.at("live_peak_bytes").to_number<int>(), 3 * 1024);
  EXPECT_EQ(json.at("nothing_freed_bytes").to_number<int>(), 4 * 1024);
  EXPECT_EQ(json.at("input_bytes").to_number<int>(), 1024);
  EXPECT_GT(json.at("process_peak_bytes").to_number<int64_t>(), 1 << 20);
}

TEST_F(MeasureCommandsTest, BenchTakesEveryAllocator) {
  for (const char* allocator : {"pool", "naive", "size-bucket"}) {
    std::vector<std::string> words = kShape;
    words.insert(words.end(), {"--runs", "1", "--allocator", allocator});
    const boost::json::object json = RunJson(RunBench, words);
    EXPECT_EQ(code_, kDone);
    EXPECT_EQ(json.at("allocator").as_string(), allocator);
    EXPECT_GE(json.at("reserved_peak_bytes").to_number<int>(), 3 * 1024);
  }
}

TEST_F(MeasureCommandsTest, BenchWithoutKillsHoldsEverything) {
  std::vector<std::string> words = kShape;
  words.insert(words.end(), {"--runs", "1", "--no-kill"});
  const boost::json::object json = RunJson(RunBench, words);
  EXPECT_EQ(json.at("live_peak_bytes").to_number<int>(), 4 * 1024);
  EXPECT_EQ(json.at("lower_bound_bytes").to_number<int>(), 3 * 1024);
}

TEST_F(MeasureCommandsTest, BenchPrintsATableForPeople) {
  const std::string text = Run(RunBench, {"--shape", "x=256", "--runs", "2"});
  EXPECT_EQ(code_, kDone);
  EXPECT_NE(text.find("2 runs, 1 thread"), std::string::npos) << text;
  EXPECT_NE(text.find("1.00 x the bound"), std::string::npos) << text;
}

TEST_F(MeasureCommandsTest, BadNumbersAndSizesAreNamed) {
  ::testing::internal::CaptureStderr();
  Run(RunBench, {"--runs", "0"});
  EXPECT_EQ(code_, kBadUsage);
  // No size for x anywhere.
  Run(RunBench, {});
  EXPECT_NE(code_, kDone);
  Run(RunMemory, {"--no-such-option"});
  EXPECT_EQ(code_, kBadUsage);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("--runs must be at least 1"), std::string::npos) << said;
  EXPECT_NE(said.find("\"x\""), std::string::npos) << said;
}

TEST_F(MeasureCommandsTest, MemoryNamesWhatIsLiveAtThePeak) {
  const boost::json::object json = RunJson(RunMemory, kShape);
  EXPECT_EQ(code_, kDone);
  EXPECT_EQ(json.at("schema").as_string(), "ebb.memory/1");
  EXPECT_EQ(json.at("peak_bytes").to_number<int>(), 3 * 1024);
  EXPECT_EQ(json.at("lower_bound_bytes").to_number<int>(), 3 * 1024);
  EXPECT_EQ(json.at("nothing_freed_bytes").to_number<int>(), 4 * 1024);
  const boost::json::array& live = json.at("live_at_peak").as_array();
  ASSERT_EQ(live.size(), 3u);
  EXPECT_EQ(live[0].at("value").as_string(), "a");
  EXPECT_EQ(live[0].at("operator").as_string(), "exp");
  EXPECT_EQ(live[0].at("use").as_string(), "activation");
  int64_t sum = 0;
  for (const char* use : {"activation_bytes", "scratch_bytes", "output_bytes",
                          "copied_input_bytes"}) {
    sum += json.at(use).to_number<int64_t>();
  }
  EXPECT_EQ(sum, json.at("peak_bytes").to_number<int64_t>());
}

TEST_F(MeasureCommandsTest, MemoryListsAtMostTop) {
  const std::string text = Run(RunMemory, {"--shape", "x=256", "--top", "1"});
  EXPECT_EQ(code_, kDone);
  EXPECT_NE(text.find("live at the peak: 3 values"), std::string::npos) << text;
  EXPECT_NE(text.find("and 2 more (--top)"), std::string::npos) << text;
}

TEST_F(MeasureCommandsTest, PeaksReachTheBoundUnderEveryAllocator) {
  ModelOptions options;
  options.compile.import.shapes["x"] = {{256, 256}};
  InputOptions inputs;
  inputs.fill = "random";
  inputs.shapes = options.compile.import.shapes;
  const auto peaks = MeasurePeaks(model_, options, inputs);
  ASSERT_TRUE(peaks.has_value()) << peaks.error().ToString();
  EXPECT_EQ(peaks->total_bytes, 4 * 1024u);
  EXPECT_EQ(peaks->bound_bytes, 3 * 1024u);
  ASSERT_EQ(peaks->peaks.size(), 4u);
  EXPECT_FALSE(peaks->peaks[0].kills);
  EXPECT_EQ(peaks->peaks[0].live_bytes, 4 * 1024u);
  for (const AllocatorPeak& peak : peaks->peaks) {
    const uint64_t least = peak.kills ? peaks->bound_bytes : peaks->total_bytes;
    EXPECT_EQ(peak.live_bytes, least);
    EXPECT_GE(peak.reserved_bytes, peak.live_bytes);
  }
  const std::string text = PeaksText(*peaks);
  EXPECT_NE(text.find("x f32[256]"), std::string::npos) << text;
  EXPECT_NE(text.find("lower bound"), std::string::npos) << text;
}

TEST(RatioTextTest, NamesTheShare) {
  EXPECT_EQ(RatioText(3, 2), "1.50 x");
  EXPECT_EQ(RatioText(3, 0), "-");
}

TEST(ProcessHighWaterTest, IsKnownHere) {
  EXPECT_GT(ProcessHighWaterBytes(), 1u << 20);
}

}  // namespace
}  // namespace ebb::tools
