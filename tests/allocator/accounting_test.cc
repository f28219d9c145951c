#include "allocator/accounting.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ebb::allocator {
namespace {

TEST(AccountingTest, RoundsUpToTheGranule) {
  EXPECT_EQ(RoundToGranule(1), 64u);
  EXPECT_EQ(RoundToGranule(64), 64u);
  EXPECT_EQ(RoundToGranule(65), 128u);
}

TEST(AccountingTest, TheLargestSizesDoNotWrapRound) {
  EXPECT_EQ(RoundToGranule(SIZE_MAX), SIZE_MAX - 63);
  EXPECT_EQ(RoundToGranule(SIZE_MAX - 63), SIZE_MAX - 63);
}

TEST(AccountingTest, EmptyBufferIsAligned) {
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(EmptyBuffer()) % kGranuleBytes,
            0u);
}

TEST(AccountingTest, MarksKeepTheLargestValues) {
  Accounting accounting;
  accounting.SetReserved(4096);
  accounting.Allocated(100, 128, /*reused=*/false);
  accounting.Freed(100, 128);
  accounting.SetReserved(0);
  const Stats stats = accounting.stats();
  EXPECT_EQ(stats.reserved_high_water, 4096u);
  EXPECT_EQ(stats.live_high_water, 128u);
  EXPECT_EQ(stats.requested_high_water, 100u);
  EXPECT_EQ(stats.reserved_bytes, 0u);
  EXPECT_EQ(stats.live_bytes, 0u);
}

TEST(AccountingTest, CachedIsReservedLessLive) {
  Accounting accounting;
  accounting.SetReserved(4096);
  accounting.Allocated(100, 128, /*reused=*/true);
  EXPECT_EQ(accounting.stats().cached_bytes, 4096u - 128u);
  EXPECT_EQ(accounting.stats().reuse_count, 1u);
}

}  // namespace
}  // namespace ebb::allocator
