// What every kind of allocator promises.

#include "allocator/allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "allocator/backing.h"

namespace ebb::allocator {
namespace {

class AnyAllocator : public testing::TestWithParam<Kind> {
 protected:
  MallocBacking backing_;
  std::unique_ptr<Allocator> allocator_ =
      MakeAllocator(GetParam(), backing_, 0);
};

TEST_P(AnyAllocator, StartsEmpty) {
  const Stats stats = allocator_->stats();
  EXPECT_EQ(stats.reserved_bytes, 0u);
  EXPECT_EQ(stats.live_block_count, 0u);
  EXPECT_EQ(stats.allocate_count, 0u);
}

TEST_P(AnyAllocator, AlignsEveryBufferTo64Bytes) {
  std::vector<void*> buffers;
  for (std::size_t bytes = 1; bytes < 300; ++bytes) {
    buffers.push_back(allocator_->Allocate(bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffers.back()) % 64, 0u);
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    allocator_->Free(buffers[i], i + 1);
  }
}

TEST_P(AnyAllocator, GivesWritableMemory) {
  void* p = allocator_->Allocate(100'000);
  ASSERT_NE(p, nullptr);
  std::memset(p, 7, 100'000);
  allocator_->Free(p, 100'000);
}

TEST_P(AnyAllocator, CountsLiveBytesByTheGranule) {
  void* p = allocator_->Allocate(65);
  void* q = allocator_->Allocate(64);
  Stats stats = allocator_->stats();
  EXPECT_EQ(stats.live_bytes, 192u);
  EXPECT_EQ(stats.requested_bytes, 129u);
  EXPECT_EQ(stats.live_block_count, 2u);
  EXPECT_EQ(stats.reserved_bytes, stats.live_bytes + stats.cached_bytes);

  allocator_->Free(p, 65);
  allocator_->Free(q, 64);
  stats = allocator_->stats();
  EXPECT_EQ(stats.live_bytes, 0u);
  EXPECT_EQ(stats.requested_bytes, 0u);
  EXPECT_EQ(stats.live_high_water, 192u);
  EXPECT_EQ(stats.requested_high_water, 129u);
  EXPECT_EQ(stats.allocate_count, 2u);
  EXPECT_EQ(stats.free_count, 2u);
  EXPECT_EQ(stats.reserved_bytes, stats.cached_bytes);
}

TEST_P(AnyAllocator, ResetHighWaterSetsMarksToCurrentValues) {
  void* p = allocator_->Allocate(1000);
  void* q = allocator_->Allocate(9000);
  allocator_->Free(q, 9000);
  allocator_->ResetHighWater();
  const Stats stats = allocator_->stats();
  EXPECT_EQ(stats.live_high_water, 1024u);
  EXPECT_EQ(stats.requested_high_water, 1000u);
  EXPECT_EQ(stats.reserved_high_water, stats.reserved_bytes);
  allocator_->Free(p, 1000);
}

TEST_P(AnyAllocator, ZeroBytesCostNothing) {
  void* p = allocator_->Allocate(0);
  EXPECT_NE(p, nullptr);
  allocator_->Free(p, 0);
  const Stats stats = allocator_->stats();
  EXPECT_EQ(stats.reserved_high_water, 0u);
  EXPECT_EQ(stats.allocate_count, 0u);
}

TEST_P(AnyAllocator, IgnoresFreeOfNull) {
  allocator_->Free(nullptr, 100);
  EXPECT_EQ(allocator_->stats().free_count, 0u);
}

TEST_P(AnyAllocator, ReturnsNullPastTheLimit) {
  allocator_->set_limit_bytes(16384);
  void* p = allocator_->Allocate(12288);
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(allocator_->Allocate(8192), nullptr);
  Stats stats = allocator_->stats();
  EXPECT_EQ(stats.failed_count, 1u);
  EXPECT_EQ(stats.live_block_count, 1u);
  EXPECT_LE(stats.reserved_high_water, 16384u);

  allocator_->set_limit_bytes(0);
  void* q = allocator_->Allocate(8192);
  EXPECT_NE(q, nullptr);
  allocator_->Free(q, 8192);
  allocator_->Free(p, 12288);
}

TEST_P(AnyAllocator, RefusesTheLargestSizes) {
  allocator_->set_limit_bytes(uint64_t{1} << 30);
  EXPECT_EQ(allocator_->Allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(allocator_->Allocate(SIZE_MAX - 64), nullptr);
  EXPECT_EQ(allocator_->Allocate(SIZE_MAX / 2), nullptr);
  EXPECT_EQ(allocator_->stats().failed_count, 3u);
  EXPECT_EQ(allocator_->stats().reserved_bytes, 0u);
}

TEST_P(AnyAllocator, TrimGivesAllThatIsFreeBack) {
  void* p = allocator_->Allocate(1 << 20);
  allocator_->Free(p, 1 << 20);
  allocator_->Trim();
  const Stats stats = allocator_->stats();
  EXPECT_EQ(stats.reserved_bytes, 0u);
  EXPECT_EQ(stats.backing_allocate_count, stats.backing_free_count);
}

TEST_P(AnyAllocator, ServesAgainAfterTrim) {
  for (int round = 0; round < 3; ++round) {
    void* p = allocator_->Allocate(50'000);
    ASSERT_NE(p, nullptr);
    std::memset(p, 1, 50'000);
    allocator_->Free(p, 50'000);
    allocator_->Trim();
  }
}

std::string NameOf(const testing::TestParamInfo<Kind>& parameter) {
  switch (parameter.param) {
    case Kind::kPool:
      return "Pool";
    case Kind::kNaive:
      return "Naive";
    case Kind::kSizeBucket:
      return "SizeBucket";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(Kinds, AnyAllocator,
                         testing::Values(Kind::kPool, Kind::kNaive,
                                         Kind::kSizeBucket),
                         NameOf);

}  // namespace
}  // namespace ebb::allocator
