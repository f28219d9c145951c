#include "allocator/backing.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace ebb::allocator {
namespace {

bool IsAligned(const void* p, std::size_t align) {
  return reinterpret_cast<std::uintptr_t>(p) % align == 0;
}

TEST(BackingTest, BlocksHaveNoRangeByDefault) {
  MallocBacking backing;
  EXPECT_EQ(backing.Reserve(SIZE_MAX).base, nullptr);
  EXPECT_FALSE(backing.Commit(nullptr, 0));
}

TEST(MallocBackingTest, AlignsBlocks) {
  MallocBacking backing;
  void* p = backing.Allocate(100, 64);
  ASSERT_NE(p, nullptr);
  EXPECT_TRUE(IsAligned(p, 64));
  std::memset(p, 1, 100);
  backing.Free(p, 100);
}

TEST(MmapBackingTest, AlignsBlocksBeyondAPage) {
  MmapBacking backing;
  for (std::size_t align : {std::size_t{64}, std::size_t{1} << 16}) {
    void* p = backing.Allocate(5000, align);
    ASSERT_NE(p, nullptr);
    EXPECT_TRUE(IsAligned(p, align));
    std::memset(p, 1, 5000);
    backing.Free(p, 5000);
  }
}

TEST(MmapBackingTest, RefusesWhatTheAddressSpaceCannotHold) {
  MmapBacking backing;
  EXPECT_EQ(backing.Allocate(SIZE_MAX - 63, 64), nullptr);
  EXPECT_EQ(backing.Allocate(SIZE_MAX / 2, 64), nullptr);
}

TEST(MmapBackingTest, ReservesAtMostTheAskedAndTheConfigured) {
  MmapBacking backing({.range_bytes = std::size_t{1} << 28});
  for (std::size_t most : {std::size_t{1} << 26, SIZE_MAX}) {
    const AddressRange range = backing.Reserve(most);
    ASSERT_NE(range.base, nullptr);
    EXPECT_EQ(range.bytes, std::min(most, std::size_t{1} << 28));
    EXPECT_TRUE(IsAligned(range.base, std::size_t{2} << 20));
    backing.Release(range);
  }
}

TEST(MmapBackingTest, FallsBackToASmallerRange) {
  MmapBacking backing({.range_bytes = std::size_t{1} << 60});
  const AddressRange range = backing.Reserve(SIZE_MAX);
  ASSERT_NE(range.base, nullptr);
  EXPECT_LT(range.bytes, std::size_t{1} << 60);
  backing.Release(range);
}

TEST(MmapBackingTest, DecommittedPagesReadAsZeroAndStayUsable) {
  MmapBacking backing;
  const AddressRange range = backing.Reserve(std::size_t{1} << 26);
  ASSERT_NE(range.base, nullptr);
  const std::size_t bytes = 4 * range.page_bytes;
  ASSERT_TRUE(backing.Commit(range.base, bytes));
  std::memset(range.base, 1, bytes);
  backing.Decommit(range.base + range.page_bytes, range.page_bytes);
  EXPECT_EQ(range.base[0], std::byte{1});
  EXPECT_EQ(range.base[range.page_bytes], std::byte{0});
  EXPECT_EQ(range.base[2 * range.page_bytes], std::byte{1});
  range.base[range.page_bytes] = std::byte{2};
  EXPECT_EQ(range.base[range.page_bytes], std::byte{2});
  backing.Release(range);
}

TEST(MmapBackingTest, CommitsWholeHugePages) {
  MmapBacking backing;
  const AddressRange range = backing.Reserve(std::size_t{1} << 26);
  ASSERT_NE(range.base, nullptr);
  ASSERT_TRUE(backing.Commit(range.base, std::size_t{8} << 20));
  std::memset(range.base, 1, std::size_t{8} << 20);
  backing.Release(range);
}

TEST(CallbackBackingTest, PassesUserSizeAndAlignment) {
  struct Seen {
    std::size_t bytes = 0;
    std::size_t align = 0;
    std::size_t freed_bytes = 0;
  } seen;
  CallbackBacking backing({
      .allocate =
          [](void* user, std::size_t bytes, std::size_t align) {
            static_cast<Seen*>(user)->bytes = bytes;
            static_cast<Seen*>(user)->align = align;
            return std::aligned_alloc(align, bytes);
          },
      .free =
          [](void* user, void* p, std::size_t bytes) {
            static_cast<Seen*>(user)->freed_bytes = bytes;
            std::free(p);
          },
      .user = &seen,
  });
  void* p = backing.Allocate(128, 64);
  ASSERT_NE(p, nullptr);
  backing.Free(p, 128);
  EXPECT_EQ(seen.bytes, 128u);
  EXPECT_EQ(seen.align, 64u);
  EXPECT_EQ(seen.freed_bytes, 128u);
}

}  // namespace
}  // namespace ebb::allocator
