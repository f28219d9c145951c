// The pool under the buffers of a real network.

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <vector>

#include "allocator/backing.h"
#include "allocator/pool.h"
#include "bench/detector_trace.h"
#include "tests/allocator/watched_backing.h"

namespace ebb::allocator {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(PoolTraceTest, DetectorStaysWithin115PercentOfItsLiveBytes) {
  MmapBacking backing;
  Pool pool(backing);
  std::vector<void*> memory(std::size(kDetectorTrace));
  for (int run = 0; run < 3; ++run) {
    Replay(
        kDetectorTrace,
        [&](std::size_t i) {
          memory[i] = pool.Allocate(kDetectorTrace[i].bytes);
        },
        [&](std::size_t i) { pool.Free(memory[i], kDetectorTrace[i].bytes); });
  }
  const Stats stats = pool.stats();
  EXPECT_EQ(stats.live_high_water, 39'321'600u);
  EXPECT_LE(stats.reserved_high_water * 100, stats.live_high_water * 115);
  EXPECT_TRUE(pool.CheckInvariants());
}

TEST(PoolTraceTest, RepeatedRunsDoNotCallTheBacking) {
  MmapBacking pages;
  WatchedBacking backing(pages);
  Pool pool(backing);
  std::vector<void*> memory(std::size(kDetectorTrace));
  int call_count = 0;
  for (int run = 0; run < 3; ++run) {
    call_count = backing.call_count;
    Replay(
        kDetectorTrace,
        [&](std::size_t i) {
          memory[i] = pool.Allocate(kDetectorTrace[i].bytes);
        },
        [&](std::size_t i) { pool.Free(memory[i], kDetectorTrace[i].bytes); });
  }
  EXPECT_GT(call_count, 0);
  EXPECT_EQ(backing.call_count, call_count);
}

TEST(PoolTraceTest, DetectorRunsWithinItsLiveBytes) {
  // Best fit alone needs 31.25 MiB for this one.
  MmapBacking backing;
  Pool pool(backing, {.limit_bytes = 25 * kMiB});
  std::vector<void*> memory(std::size(kDetectorInPlaceTrace));
  for (int run = 0; run < 3; ++run) {
    Replay(
        kDetectorInPlaceTrace,
        [&](std::size_t i) {
          memory[i] = pool.Allocate(kDetectorInPlaceTrace[i].bytes);
          EXPECT_NE(memory[i], nullptr);
        },
        [&](std::size_t i) {
          pool.Free(memory[i], kDetectorInPlaceTrace[i].bytes);
        });
  }
  EXPECT_EQ(pool.stats().reserved_high_water, 25 * kMiB);
  EXPECT_TRUE(pool.CheckInvariants());
}

TEST(PoolTraceTest, RunsSucceedFromSomeLimitOnAndFailCleanlyBelow) {
  MmapBacking backing;
  bool has_succeeded = false;
  for (std::size_t limit = kMiB; limit <= 40 * kMiB; limit += 3 * kMiB) {
    Pool pool(backing, {.limit_bytes = limit});
    std::vector<void*> memory(std::size(kDetectorTrace));
    Replay(
        kDetectorTrace,
        [&](std::size_t i) {
          memory[i] = pool.Allocate(kDetectorTrace[i].bytes);
        },
        [&](std::size_t i) { pool.Free(memory[i], kDetectorTrace[i].bytes); });
    const Stats stats = pool.stats();
    EXPECT_LE(stats.reserved_high_water, limit);
    EXPECT_EQ(stats.live_block_count, 0u);
    EXPECT_TRUE(pool.CheckInvariants());
    if (has_succeeded) {
      EXPECT_EQ(stats.failed_count, 0u);
    }
    has_succeeded = stats.failed_count == 0;
  }
  EXPECT_TRUE(has_succeeded);
}

}  // namespace
}  // namespace ebb::allocator
