// Plans and carving. What comes of them is tested through the pool.

#include "allocator/heap.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ebb::allocator {
namespace {

class HeapTest : public testing::Test {
 protected:
  Block* Allocate(Heap& heap, std::size_t bytes) {
    if (!store_.Prepare(2)) return nullptr;
    Block* block = heap.Carve(heap.MakePlan(bytes, UINT64_MAX));
    if (block != nullptr) store_.Insert(block);
    return block;
  }

  void Free(Heap& heap, Block* block) {
    heap.Free(store_.Remove(block->address));
  }

  BlockStore store_;
  MmapBacking pages_;
  MallocBacking blocks_;
};

TEST_F(HeapTest, PlanSaysWhatCarvingAdds) {
  Heap heap(pages_, store_, {});
  HeapPlan plan = heap.MakePlan(8192, UINT64_MAX);
  EXPECT_EQ(plan.hole, nullptr);
  EXPECT_EQ(plan.new_reserved_bytes, 8192u);
  Block* block = Allocate(heap, 8192);
  EXPECT_EQ(heap.reserved_bytes(), 8192u);
  Free(heap, block);

  // The tail serves; growth adds what it lacks.
  EXPECT_EQ(heap.MakePlan(4096, UINT64_MAX).new_reserved_bytes, 0u);
  plan = heap.MakePlan(12288, UINT64_MAX);
  EXPECT_EQ(plan.grow_bytes, 4096u);
  EXPECT_EQ(plan.new_reserved_bytes, 4096u);
  EXPECT_TRUE(heap.CheckInvariants());
}

TEST_F(HeapTest, MoreThanTheRangeIsNotPossible) {
  Heap heap(pages_, store_, {.range_bytes = std::size_t{16} << 20});
  EXPECT_TRUE(heap.MakePlan(std::size_t{16} << 20, UINT64_MAX).is_possible);
  EXPECT_FALSE(
      heap.MakePlan((std::size_t{16} << 20) + 64, UINT64_MAX).is_possible);
  EXPECT_FALSE(
      heap.MakePlan(SIZE_MAX & ~std::size_t{63}, UINT64_MAX).is_possible);
}

TEST_F(HeapTest, ChunksAreRoomyUnlessRoomIsShort) {
  Heap heap(blocks_, store_, {.least_chunk_bytes = 65536});
  EXPECT_EQ(heap.MakePlan(128, UINT64_MAX).grow_bytes, 65536u);
  EXPECT_EQ(heap.MakePlan(128, 4096).grow_bytes, 128u);
  EXPECT_EQ(heap.MakePlan(100'032, UINT64_MAX).grow_bytes, 100'032u);
}

TEST_F(HeapTest, GivesAboutAsMuchBackAsAsked) {
  Heap heap(pages_, store_, {});
  Block* hole = Allocate(heap, 40 * 4096);
  Block* wall = Allocate(heap, 4096);
  Free(heap, hole);
  heap.GiveBack(5 * 4096);
  EXPECT_EQ(heap.reserved_bytes(), 36u * 4096);
  heap.GiveBack(1);
  EXPECT_EQ(heap.reserved_bytes(), 35u * 4096);
  heap.GiveBack(UINT64_MAX);
  EXPECT_EQ(heap.reserved_bytes(), 4096u);
  EXPECT_TRUE(heap.CheckInvariants());
  Free(heap, wall);
  heap.GiveBack(UINT64_MAX);
  EXPECT_EQ(heap.reserved_bytes(), 0u);
  EXPECT_TRUE(heap.CheckInvariants());
}

TEST_F(HeapTest, FillsTheEndOfAHoleThatHoldsMemory) {
  Heap heap(pages_, store_, {});
  Block* hole = Allocate(heap, 40 * 4096);
  Allocate(heap, 4096);
  Free(heap, hole);
  heap.GiveBack(20 * 4096);  // leaves the low half
  const HeapPlan plan = heap.MakePlan(10 * 4096, UINT64_MAX);
  EXPECT_FALSE(plan.at_high_end);
  EXPECT_EQ(plan.new_reserved_bytes, 0u);
  // Half of this is beyond what the hole still holds.
  EXPECT_EQ(heap.MakePlan(30 * 4096, UINT64_MAX).new_reserved_bytes,
            10u * 4096);
}

}  // namespace
}  // namespace ebb::allocator
