#include "tools/forked_jobs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <vector>

namespace ebb::tools {
namespace {

std::vector<JobResult> RunAll(
    const ForkOptions& options,
    const std::function<std::string(std::size_t)>& job) {
  std::vector<JobResult> results;
  RunForked(options, job, [&](std::size_t i, const JobResult& result) {
    EXPECT_EQ(i, results.size());
    results.push_back(result);
  });
  return results;
}

TEST(ForkedJobsTest, ResultsComeInOrderWhateverEndsFirst) {
  const auto results = RunAll({.job_count = 6, .parallel = 3}, [](auto i) {
    usleep(i % 2 == 0 ? 30'000 : 0);
    return std::string(i * 10'000, static_cast<char>('a' + i));
  });
  ASSERT_EQ(results.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(results[i].crash, "");
    EXPECT_EQ(results[i].text,
              std::string(i * 10'000, static_cast<char>('a' + i)));
  }
}

TEST(ForkedJobsTest, ACrashIsThatJobsResultOnly) {
  const auto results =
      RunAll({.job_count = 4, .parallel = 2}, [](auto i) -> std::string {
        if (i == 1) raise(SIGKILL);
        if (i == 2) _exit(7);
        return "fine";
      });
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[0].crash, "");
  EXPECT_EQ(results[1].crash, "crashed: signal 9 (Killed)");
  EXPECT_EQ(results[2].crash, "ended with exit code 7");
  EXPECT_EQ(results[3].text, "fine");
}

TEST(ForkedJobsTest, AHangEndsAtItsTime) {
  const auto results =
      RunAll({.job_count = 2, .parallel = 1, .timeout_seconds = 0.2},
             [](auto i) -> std::string {
               if (i == 0) pause();
               return "fine";
             });
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].crash, "timed out after 0.2 s");
  EXPECT_EQ(results[1].text, "fine");
}

TEST(ForkedJobsTest, NoJobsAreDoneAtOnce) {
  EXPECT_TRUE(RunAll({}, [](auto) { return std::string(); }).empty());
}

}  // namespace
}  // namespace ebb::tools
