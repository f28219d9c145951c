#include "allocator/naive_allocator.h"

#include <gtest/gtest.h>

namespace ebb::allocator {
namespace {

TEST(NaiveAllocatorTest, HoldsNothingBack) {
  MallocBacking backing;
  NaiveAllocator allocator(backing, 0);
  void* p = allocator.Allocate(1000);
  EXPECT_EQ(allocator.stats().reserved_bytes, 1024u);
  EXPECT_EQ(allocator.stats().cached_bytes, 0u);
  allocator.Free(p, 1000);
  EXPECT_EQ(allocator.stats().reserved_bytes, 0u);
}

TEST(NaiveAllocatorTest, AsksTheBackingForEveryBuffer) {
  MallocBacking backing;
  NaiveAllocator allocator(backing, 0);
  for (int i = 0; i < 3; ++i) allocator.Free(allocator.Allocate(64), 64);
  const Stats stats = allocator.stats();
  EXPECT_EQ(stats.backing_allocate_count, 3u);
  EXPECT_EQ(stats.backing_free_count, 3u);
  EXPECT_EQ(stats.reuse_count, 0u);
}

TEST(NaiveAllocatorTest, ReachesTheLimitExactly) {
  MallocBacking backing;
  NaiveAllocator allocator(backing, 256);
  void* p = allocator.Allocate(100);
  void* q = allocator.Allocate(128);
  EXPECT_NE(q, nullptr);
  EXPECT_EQ(allocator.Allocate(1), nullptr);
  allocator.Free(p, 100);
  allocator.Free(q, 128);
}

}  // namespace
}  // namespace ebb::allocator
