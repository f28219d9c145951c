// The pool at its limit and when its backing refuses.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "allocator/backing.h"
#include "allocator/pool.h"
#include "tests/allocator/watched_backing.h"

namespace ebb::allocator {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(PoolLimitTest, ReachesTheLimitExactly) {
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

TEST(PoolLimitTest, PagesOfHolesServeElsewhereAtTheLimit) {
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

TEST(PoolLimitTest, TailOfOneHeapServesTheOtherAtTheLimit) {
  MmapBacking backing;
  Pool pool(backing, {.limit_bytes = kMiB});
  pool.Free(pool.Allocate(kMiB), kMiB);
  void* small = pool.Allocate(100);
  EXPECT_NE(small, nullptr);
  EXPECT_LE(pool.stats().reserved_bytes, kMiB);
  EXPECT_TRUE(pool.CheckInvariants());
}

TEST(PoolLimitTest, KeepsCachedMemoryWhenARequestCannotFitAnyway) {
  MmapBacking backing;
  Pool pool(backing, {.limit_bytes = 4 * kMiB});
  pool.Free(pool.Allocate(2 * kMiB), 2 * kMiB);
  EXPECT_EQ(pool.Allocate(5 * kMiB), nullptr);
  EXPECT_EQ(pool.stats().cached_bytes, 2 * kMiB);
}

TEST(PoolLimitTest, LowerLimitGivesCachedMemoryBackAtOnce) {
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

TEST(PoolLimitTest, FreesMemoryAndTriesAgainWhenTheBackingRefuses) {
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

TEST(PoolLimitTest, FailsWhenTheRangeCannotGrow) {
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

TEST(PoolLimitTest, FailsWhenPagesAreRefused) {
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

TEST(PoolLimitTest, TakesAChunkOfTheExactSizeNearTheLimit) {
  MallocBacking backing;
  Pool pool(backing, {.limit_bytes = 10'240});
  void* p = pool.Allocate(10'000);
  EXPECT_NE(p, nullptr);
  EXPECT_LE(pool.stats().reserved_bytes, 10'240u);
  pool.Free(p, 10'000);
}

TEST(PoolLimitTest, ServesASmallBufferFromTheLargeRangeWhenItsOwnIsRefused) {
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

}  // namespace
}  // namespace ebb::allocator
