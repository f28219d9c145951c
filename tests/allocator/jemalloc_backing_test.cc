#include "allocator/jemalloc_backing.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "allocator/pool.h"

namespace ebb::allocator {
namespace {

TEST(JemallocBackingTest, GivesAlignedWritableBlocks) {
  JemallocBacking backing;
  ASSERT_TRUE(backing.valid());
  for (std::size_t bytes : {1u, 64u, 5000u, 3u << 20}) {
    void* p = backing.Allocate(bytes, 64);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0u);
    std::memset(p, 1, bytes);
    backing.Free(p, bytes);
  }
}

TEST(JemallocBackingTest, RefusesWhatCannotBe) {
  JemallocBacking backing;
  EXPECT_EQ(backing.Allocate(SIZE_MAX / 2, 64), nullptr);
}

TEST(JemallocBackingTest, SeveralArenasStandSideBySide) {
  JemallocBacking first;
  JemallocBacking second;
  void* p = first.Allocate(1000, 64);
  void* q = second.Allocate(1000, 64);
  EXPECT_NE(p, q);
  first.Free(p, 1000);
  second.Free(q, 1000);
}

TEST(JemallocBackingTest, ServesThePool) {
  JemallocBacking backing;
  Pool pool(backing);
  std::vector<std::pair<void*, std::size_t>> buffers;
  for (std::size_t i = 1; i < 200; ++i) {
    const std::size_t bytes = i * i * 97 % 300'000 + 1;
    void* p = pool.Allocate(bytes);
    ASSERT_NE(p, nullptr);
    std::memset(p, static_cast<int>(i), bytes);
    buffers.emplace_back(p, bytes);
  }
  EXPECT_TRUE(pool.CheckInvariants());
  for (const auto& [p, bytes] : buffers) pool.Free(p, bytes);
  pool.Trim();
  EXPECT_TRUE(pool.CheckInvariants());
  EXPECT_EQ(pool.stats().reserved_bytes, 0u);
}

}  // namespace
}  // namespace ebb::allocator
