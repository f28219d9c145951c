#include "allocator/pool.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "allocator/backing.h"

namespace ebb::allocator {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

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

}  // namespace
}  // namespace ebb::allocator
