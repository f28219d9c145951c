#include "allocator/size_bucket_allocator.h"

#include <gtest/gtest.h>

namespace ebb::allocator {
namespace {

TEST(SizeBucketAllocatorTest, ReusesABlockOfTheSameRoundedSize) {
  MallocBacking backing;
  SizeBucketAllocator allocator(backing, 0);
  void* p = allocator.Allocate(5000);
  allocator.Free(p, 5000);
  EXPECT_EQ(allocator.Allocate(8192), p);
  EXPECT_EQ(allocator.stats().reuse_count, 1u);
  allocator.Free(p, 8192);
}

TEST(SizeBucketAllocatorTest, TakesTheBlockLastFreedFirst) {
  MallocBacking backing;
  SizeBucketAllocator allocator(backing, 0);
  void* p = allocator.Allocate(4096);
  void* q = allocator.Allocate(4096);
  allocator.Free(p, 4096);
  allocator.Free(q, 4096);
  EXPECT_EQ(allocator.Allocate(4096), q);
  EXPECT_EQ(allocator.Allocate(4096), p);
  allocator.Free(p, 4096);
  allocator.Free(q, 4096);
}

TEST(SizeBucketAllocatorTest, NeverSplitsOrMerges) {
  MallocBacking backing;
  SizeBucketAllocator allocator(backing, 0);
  void* p = allocator.Allocate(4096);
  void* q = allocator.Allocate(4096);
  allocator.Free(p, 4096);
  allocator.Free(q, 4096);
  // 8 KiB are free, in two blocks that cannot serve this.
  void* larger = allocator.Allocate(8192);
  EXPECT_EQ(allocator.stats().reserved_bytes, 16384u);
  allocator.Free(larger, 8192);
  // 8 KiB are free in one block, which is not cut for this.
  void* third[3];
  for (void*& block : third) block = allocator.Allocate(4096);
  EXPECT_EQ(allocator.stats().reserved_bytes, 20480u);
  for (void* block : third) allocator.Free(block, 4096);
}

TEST(SizeBucketAllocatorTest, CountsRoundingAsCached) {
  MallocBacking backing;
  SizeBucketAllocator allocator(backing, 0);
  void* p = allocator.Allocate(4);
  EXPECT_EQ(allocator.stats().live_bytes, 64u);
  EXPECT_EQ(allocator.stats().cached_bytes, 4032u);
  allocator.Free(p, 4);
}

TEST(SizeBucketAllocatorTest, GivesFreeBlocksBackBeforeItFails) {
  MallocBacking backing;
  SizeBucketAllocator allocator(backing, 8192);
  void* p = allocator.Allocate(4096);
  allocator.Free(p, 4096);
  void* larger = allocator.Allocate(8192);
  EXPECT_NE(larger, nullptr);
  EXPECT_EQ(allocator.stats().reserved_high_water, 8192u);
  allocator.Free(larger, 8192);
}

TEST(SizeBucketAllocatorTest, LowerLimitGivesFreeBlocksBackAtOnce) {
  MallocBacking backing;
  SizeBucketAllocator allocator(backing, 0);
  allocator.Free(allocator.Allocate(8192), 8192);
  allocator.set_limit_bytes(4096);
  EXPECT_EQ(allocator.stats().reserved_bytes, 0u);
}

}  // namespace
}  // namespace ebb::allocator
