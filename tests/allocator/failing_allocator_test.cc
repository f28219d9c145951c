#include "allocator/failing_allocator.h"

#include <gtest/gtest.h>

#include "allocator/backing.h"

namespace ebb::allocator {
namespace {

TEST(FailingAllocatorTest, FailsTheChosenAllocationOnly) {
  MallocBacking backing;
  const auto inner = MakeAllocator(Kind::kNaive, backing, 0);
  FailingAllocator failing(*inner, 2);
  void* p = failing.Allocate(64);
  EXPECT_NE(p, nullptr);
  EXPECT_NE(failing.Allocate(0), nullptr);
  EXPECT_FALSE(failing.has_failed());
  EXPECT_EQ(failing.Allocate(64), nullptr);
  EXPECT_TRUE(failing.has_failed());
  void* q = failing.Allocate(64);
  EXPECT_NE(q, nullptr);
  EXPECT_EQ(failing.stats().failed_count, 1u);
  EXPECT_EQ(failing.stats().live_block_count, 2u);
  failing.Free(p, 64);
  failing.Free(q, 64);
  EXPECT_EQ(inner->stats().live_block_count, 0u);
}

TEST(FailingAllocatorTest, ZeroMeansNone) {
  MallocBacking backing;
  const auto inner = MakeAllocator(Kind::kPool, backing, 0);
  FailingAllocator failing(*inner, 0);
  for (int i = 0; i < 10; ++i) {
    void* p = failing.Allocate(64);
    ASSERT_NE(p, nullptr);
    failing.Free(p, 64);
  }
  EXPECT_FALSE(failing.has_failed());
}

}  // namespace
}  // namespace ebb::allocator
