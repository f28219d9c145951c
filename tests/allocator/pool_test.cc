#include "allocator/pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "bench/detector_trace.h"

namespace ebb::allocator {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Counts the calls that a pool makes, and refuses when told to.
class WatchedBacking final : public Backing {
 public:
  explicit WatchedBacking(Backing& inner) : inner_(inner) {}

  void* Allocate(std::size_t bytes, std::size_t align) noexcept override {
    ++call_count;
    if (bytes_left < bytes) return nullptr;
    bytes_left -= bytes;
    return inner_.Allocate(bytes, align);
  }
  void Free(void* p, std::size_t bytes) noexcept override {
    ++call_count;
    bytes_left += bytes;
    inner_.Free(p, bytes);
  }
  AddressRange Reserve(std::size_t max_bytes) noexcept override {
    return inner_.Reserve(max_bytes);
  }
  bool Commit(void* p, std::size_t bytes) noexcept override {
    ++call_count;
    return bytes_left >= bytes && inner_.Commit(p, bytes);
  }
  void Decommit(void* p, std::size_t bytes) noexcept override {
    ++call_count;
    inner_.Decommit(p, bytes);
  }
  void Release(AddressRange range) noexcept override { inner_.Release(range); }

  int call_count = 0;
  std::size_t bytes_left = SIZE_MAX / 2;

 private:
  Backing& inner_;
};

void* At(void* p, std::size_t offset) {
  return static_cast<std::byte*>(p) + offset;
}

TEST(PoolTest, ReusesBlockOfSameSizeAfterFree) {
  MmapBacking backing;
  Pool pool(backing);
  void* p = pool.Allocate(10'000);
  pool.Free(p, 10'000);
  EXPECT_EQ(pool.Allocate(10'000), p);
  EXPECT_EQ(pool.stats().reuse_count, 1u);
}

TEST(PoolTest, AddsNothingToABlock) {
  MmapBacking backing;
  Pool pool(backing);
  void* p = pool.Allocate(8192);
  void* q = pool.Allocate(8192);
  EXPECT_EQ(q, At(p, 8192));
  EXPECT_EQ(pool.stats().reserved_bytes, 16384u);
}

TEST(PoolTest, MergesNeighboursOnBothSides) {
  MmapBacking backing;
  Pool pool(backing);
  void* blocks[4];
  for (void*& block : blocks) block = pool.Allocate(8192);
  pool.Free(blocks[0], 8192);
  pool.Free(blocks[2], 8192);
  pool.Free(blocks[1], 8192);
  EXPECT_EQ(pool.Allocate(3 * 8192), blocks[0]);
  EXPECT_EQ(pool.stats().reserved_bytes, 4 * 8192u);
  EXPECT_TRUE(pool.CheckInvariants());
}

TEST(PoolTest, TakesTheHoleThatFitsBest) {
  MmapBacking backing;
  Pool pool(backing);
  void* large = pool.Allocate(64 * 1024);
  void* wall = pool.Allocate(8192);
  void* fitting = pool.Allocate(40 * 1024);
  void* last = pool.Allocate(8192);
  pool.Free(large, 64 * 1024);
  pool.Free(fitting, 40 * 1024);
  EXPECT_EQ(pool.Allocate(36 * 1024), fitting);
  pool.Free(wall, 8192);
  pool.Free(last, 8192);
  EXPECT_TRUE(pool.CheckInvariants());
}

TEST(PoolTest, OfEqualHolesTheLowestServes) {
  MmapBacking backing;
  Pool pool(backing);
  void* blocks[5];
  for (void*& block : blocks) block = pool.Allocate(8192);
  pool.Free(blocks[3], 8192);
  pool.Free(blocks[1], 8192);
  EXPECT_EQ(pool.Allocate(8192), blocks[1]);
  EXPECT_EQ(pool.Allocate(8192), blocks[3]);
}

TEST(PoolTest, PlacesSmallInLargeHoleAtItsHighEnd) {
  MmapBacking backing;
  Pool pool(backing);
  void* hole = pool.Allocate(kMiB);
  ASSERT_EQ(pool.Allocate(8192), At(hole, kMiB));
  pool.Free(hole, kMiB);
  EXPECT_EQ(pool.Allocate(100 * 1024), At(hole, kMiB - 100 * 1024));
  EXPECT_EQ(pool.Allocate(600 * 1024), hole);
  EXPECT_TRUE(pool.CheckInvariants());
}

TEST(PoolTest, HolesServeBeforeTheTail) {
  MmapBacking backing;
  Pool pool(backing);
  void* hole = pool.Allocate(kMiB);
  void* wall = pool.Allocate(8192);
  void* tail = pool.Allocate(600 * 1024);
  pool.Free(hole, kMiB);
  pool.Free(tail, 600 * 1024);
  EXPECT_EQ(pool.Allocate(600 * 1024), hole);
  pool.Free(wall, 8192);
}

TEST(PoolTest, GrowsOnlyByWhatTheTailLacks) {
  MmapBacking backing;
  Pool pool(backing);
  void* wall = pool.Allocate(8192);
  void* tail = pool.Allocate(kMiB);
  pool.Free(tail, kMiB);
  EXPECT_EQ(pool.Allocate(3 * kMiB), tail);
  EXPECT_EQ(pool.stats().reserved_bytes, 3 * kMiB + 8192);
  pool.Free(wall, 8192);
}

TEST(PoolTest, SmallBuffersDoNotSitInHolesOfLargeOnes) {
  MmapBacking backing;
  Pool pool(backing);
  void* hole = pool.Allocate(kMiB);
  void* wall = pool.Allocate(8192);
  pool.Free(hole, kMiB);
  void* scalar = pool.Allocate(4);
  EXPECT_EQ(pool.Allocate(kMiB), hole);
  EXPECT_EQ(pool.stats().reserved_bytes, kMiB + 8192 + 64);
  pool.Free(scalar, 4);
  pool.Free(wall, 8192);
}

TEST(PoolTest, ServesASmallBufferFromTheLargeRangeWhenItsOwnIsRefused) {
  MallocBacking blocks;
  WatchedBacking backing(blocks);
  Pool pool(backing);
  void* large = pool.Allocate(100'000);  // takes a chunk with room to spare
  backing.bytes_left = 0;
  void* small = pool.Allocate(100);
  EXPECT_NE(small, nullptr);
  EXPECT_EQ(pool.stats().failed_count, 0u);
  EXPECT_TRUE(pool.CheckInvariants());
  pool.Free(small, 100);
  pool.Free(large, 100'000);
  EXPECT_TRUE(pool.CheckInvariants());
}

TEST(PoolTest, ReachesTheLimitExactly) {
  MmapBacking backing;
  Pool pool(backing, {.limit_bytes = 3 * kMiB});
  void* p = pool.Allocate(kMiB);
  void* q = pool.Allocate(2 * kMiB);
  ASSERT_NE(q, nullptr);
  EXPECT_EQ(pool.stats().reserved_bytes, 3 * kMiB);
  EXPECT_EQ(pool.Allocate(1), nullptr);
  EXPECT_EQ(pool.stats().failed_count, 1u);
  pool.Free(p, kMiB);
  EXPECT_NE(pool.Allocate(1), nullptr);
  pool.Free(q, 2 * kMiB);
}

TEST(PoolTest, PagesOfHolesServeElsewhereAtTheLimit) {
  MmapBacking backing;
  Pool pool(backing, {.limit_bytes = 4 * kMiB});
  void* blocks[4];
  for (void*& block : blocks) {
    block = pool.Allocate(kMiB);
    std::memset(block, 1, kMiB);
  }
  pool.Free(blocks[0], kMiB);
  pool.Free(blocks[2], kMiB);
  // 2 MiB are free in two holes; no hole is as large.
  void* p = pool.Allocate(2 * kMiB);
  ASSERT_NE(p, nullptr);
  std::memset(p, 2, 2 * kMiB);
  EXPECT_EQ(pool.stats().reserved_bytes, 4 * kMiB);
  EXPECT_EQ(pool.stats().cached_bytes, 0u);
  EXPECT_EQ(static_cast<char*>(blocks[1])[0], 1);
  EXPECT_EQ(static_cast<char*>(blocks[3])[kMiB - 1], 1);
  EXPECT_TRUE(pool.CheckInvariants());
}

TEST(PoolTest, TailOfOneHeapServesTheOtherAtTheLimit) {
  MmapBacking backing;
  Pool pool(backing, {.limit_bytes = kMiB});
  pool.Free(pool.Allocate(kMiB), kMiB);
  void* small = pool.Allocate(100);
  EXPECT_NE(small, nullptr);
  EXPECT_LE(pool.stats().reserved_bytes, kMiB);
  EXPECT_TRUE(pool.CheckInvariants());
}

TEST(PoolTest, KeepsCachedMemoryWhenARequestCannotFitAnyway) {
  MmapBacking backing;
  Pool pool(backing, {.limit_bytes = 4 * kMiB});
  pool.Free(pool.Allocate(2 * kMiB), 2 * kMiB);
  EXPECT_EQ(pool.Allocate(5 * kMiB), nullptr);
  EXPECT_EQ(pool.stats().cached_bytes, 2 * kMiB);
}

TEST(PoolTest, LowerLimitGivesCachedMemoryBackAtOnce) {
  MmapBacking backing;
  Pool pool(backing);
  void* p = pool.Allocate(kMiB);
  pool.Free(pool.Allocate(4 * kMiB), 4 * kMiB);
  pool.set_limit_bytes(2 * kMiB);
  EXPECT_EQ(pool.stats().reserved_bytes, 2 * kMiB);
  pool.set_limit_bytes(1);
  EXPECT_EQ(pool.stats().reserved_bytes, kMiB);
  pool.Free(p, kMiB);
}

TEST(PoolTest, FreesMemoryAndTriesAgainWhenTheBackingRefuses) {
  MallocBacking blocks;
  WatchedBacking backing(blocks);
  backing.bytes_left = 3 * kMiB;
  Pool pool(backing);
  void* p = pool.Allocate(kMiB);
  void* q = pool.Allocate(kMiB);
  pool.Free(p, kMiB);
  void* larger = pool.Allocate(2 * kMiB);
  EXPECT_NE(larger, nullptr);
  EXPECT_EQ(pool.Allocate(2 * kMiB), nullptr);
  EXPECT_TRUE(pool.CheckInvariants());
  pool.Free(q, kMiB);
  pool.Free(larger, 2 * kMiB);
}

TEST(PoolTest, FailsWhenTheRangeCannotGrow) {
  MmapBacking pages({.range_bytes = 16 * kMiB});
  WatchedBacking backing(pages);
  Pool pool(backing);
  EXPECT_EQ(pool.Allocate(17 * kMiB), nullptr);
  void* p = pool.Allocate(16 * kMiB);
  EXPECT_NE(p, nullptr);
  EXPECT_EQ(pool.Allocate(5000), nullptr);
  pool.Free(p, 16 * kMiB);
  EXPECT_TRUE(pool.CheckInvariants());
}

TEST(PoolTest, FailsWhenPagesAreRefused) {
  MmapBacking pages;
  WatchedBacking backing(pages);
  backing.bytes_left = 0;
  Pool pool(backing);
  EXPECT_EQ(pool.Allocate(kMiB), nullptr);
  EXPECT_EQ(pool.Allocate(10), nullptr);
  EXPECT_EQ(pool.stats().reserved_bytes, 0u);
  backing.bytes_left = SIZE_MAX;
  EXPECT_NE(pool.Allocate(kMiB), nullptr);
  EXPECT_TRUE(pool.CheckInvariants());
}

TEST(PoolTest, TrimGivesPagesOfHolesBackAndKeepsContents) {
  MmapBacking backing;
  Pool pool(backing);
  void* hole = pool.Allocate(kMiB);
  auto* kept = static_cast<char*>(pool.Allocate(kMiB + 64));
  void* tail = pool.Allocate(kMiB);
  std::memset(kept, 3, kMiB + 64);
  pool.Free(hole, kMiB);
  pool.Free(tail, kMiB);
  pool.Trim();
  EXPECT_EQ(pool.stats().reserved_bytes, kMiB + 64);
  EXPECT_TRUE(pool.CheckInvariants());
  EXPECT_EQ(kept[0], 3);
  EXPECT_EQ(kept[kMiB + 63], 3);
}

TEST(PoolTest, VacantPagesCountAgainOnceUsed) {
  MmapBacking backing;
  Pool pool(backing);
  void* hole = pool.Allocate(kMiB);
  void* wall = pool.Allocate(8192);
  pool.Free(hole, kMiB);
  pool.Trim();
  EXPECT_EQ(pool.stats().reserved_bytes, 8192u);
  // Whole pages fill, so the rest of the last one counts as cached.
  void* p = pool.Allocate(600 * 1024 + 64);
  EXPECT_EQ(p, hole);
  EXPECT_EQ(pool.stats().reserved_bytes, 8192u + 604 * 1024);
  EXPECT_TRUE(pool.CheckInvariants());
  pool.Free(p, 600 * 1024 + 64);
  EXPECT_EQ(pool.stats().reserved_bytes, 8192u + 604 * 1024);
  // The end of the hole that holds memory serves before the vacant one.
  EXPECT_EQ(pool.Allocate(100 * 1024), hole);
  pool.Free(wall, 8192);
  EXPECT_TRUE(pool.CheckInvariants());
}

TEST(PoolTest, VacantStretchesMeetWhenWhatPartedThemIsFreed) {
  MmapBacking backing;
  Pool pool(backing);
  void* blocks[4];
  for (void*& block : blocks) block = pool.Allocate(kMiB);
  pool.Free(blocks[0], kMiB);
  pool.Free(blocks[2], kMiB);
  pool.Trim();
  pool.Free(blocks[1], kMiB);
  EXPECT_EQ(pool.stats().reserved_bytes, kMiB);
  EXPECT_TRUE(pool.CheckInvariants());
  EXPECT_EQ(pool.Allocate(3 * kMiB), blocks[0]);
}

TEST(PoolTest, ReturnsOnlyChunksThatAreWhollyFree) {
  MallocBacking backing;
  Pool pool(backing);
  void* p = pool.Allocate(kMiB);
  void* q = pool.Allocate(100 * 1024);  // in a chunk with room for more
  void* r = pool.Allocate(100 * 1024);
  pool.Free(p, kMiB);
  pool.Free(q, 100 * 1024);
  pool.Trim();
  EXPECT_EQ(pool.stats().reserved_bytes, 256 * 1024u);
  pool.Free(r, 100 * 1024);
  pool.Trim();
  EXPECT_EQ(pool.stats().reserved_bytes, 0u);
  EXPECT_TRUE(pool.CheckInvariants());
}

TEST(PoolTest, FreeChunksGoBeforeNewOnesPassThePeak) {
  MallocBacking backing;
  Pool pool(backing);
  pool.Free(pool.Allocate(8 * kMiB), 8 * kMiB);
  void* p = pool.Allocate(9 * kMiB);
  EXPECT_EQ(pool.stats().reserved_high_water, 9 * kMiB);
  pool.Free(p, 9 * kMiB);
}

TEST(PoolTest, TakesAChunkOfTheExactSizeNearTheLimit) {
  MallocBacking backing;
  Pool pool(backing, {.limit_bytes = 10'240});
  void* p = pool.Allocate(10'000);
  EXPECT_NE(p, nullptr);
  EXPECT_LE(pool.stats().reserved_bytes, 10'240u);
  pool.Free(p, 10'000);
}

TEST(PoolTest, TickGivesBackWhatTwoPeriodsDidNotNeed) {
  MmapBacking backing;
  Pool pool(backing);
  pool.Free(pool.Allocate(32 * kMiB), 32 * kMiB);
  for (int period = 0; period < 2; ++period) {
    pool.Tick();
    EXPECT_EQ(pool.stats().reserved_bytes, 32 * kMiB);
    pool.Free(pool.Allocate(8 * kMiB), 8 * kMiB);
  }
  pool.Tick();
  EXPECT_EQ(pool.stats().reserved_bytes, 10 * kMiB);
  EXPECT_TRUE(pool.CheckInvariants());
}

TEST(PoolTest, TicksByItselfAfterSoManyFrees) {
  MmapBacking backing;
  Pool pool(backing, {.tick_free_count = 100});
  pool.Free(pool.Allocate(32 * kMiB), 32 * kMiB);
  for (int i = 0; i < 300; ++i) pool.Free(pool.Allocate(8192), 8192);
  EXPECT_LE(pool.stats().reserved_bytes, 2 * kMiB);
}

TEST(PoolTest, DetectorStaysWithin115PercentOfItsLiveBytes) {
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

TEST(PoolTest, RepeatedRunsDoNotCallTheBacking) {
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

TEST(PoolTest, DetectorRunsWithinItsLiveBytes) {
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

TEST(PoolTest, RunsSucceedFromSomeLimitOnAndFailCleanlyBelow) {
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
