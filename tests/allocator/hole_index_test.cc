#include "allocator/hole_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace ebb::allocator {
namespace {

Block MakeBlock(std::uintptr_t address, std::size_t bytes) {
  Block block;
  block.address = address;
  block.bytes = bytes;
  return block;
}

TEST(HoleIndexTest, FindsNothingWhenEmpty) {
  HoleIndex holes;
  EXPECT_EQ(holes.FindBest(64), nullptr);
  EXPECT_EQ(holes.LargestBefore(nullptr), nullptr);
}

TEST(HoleIndexTest, OfEqualSizesTheLowestServes) {
  HoleIndex holes;
  Block high = MakeBlock(8192, 128);
  Block low = MakeBlock(4096, 128);
  holes.Insert(high);
  holes.Insert(low);
  EXPECT_EQ(holes.FindBest(64), &low);
  holes.Remove(low);
  EXPECT_EQ(holes.FindBest(64), &high);
}

TEST(HoleIndexTest, KeepsTheLargestSizesInOrder) {
  HoleIndex holes;
  Block huge = MakeBlock(64, std::size_t{1} << 40);
  Block larger = MakeBlock(128, std::size_t{1} << 45);
  holes.Insert(larger);
  holes.Insert(huge);
  EXPECT_EQ(holes.FindBest(std::size_t{1} << 33), &huge);
  EXPECT_EQ(holes.FindBest((std::size_t{1} << 40) + 64), &larger);
  EXPECT_EQ(holes.FindBest(std::size_t{1} << 46), nullptr);
}

TEST(HoleIndexTest, AgreesWithALinearSearch) {
  std::mt19937 random(1);
  std::vector<Block> blocks(400);
  std::vector<Block*> inside;
  HoleIndex holes;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::size_t magnitude = std::size_t{64} << (random() % 20);
    const std::size_t bytes = (random() % magnitude / 64 + 1) * 64;
    blocks[i] = MakeBlock(64 * (i + 1), bytes);
    holes.Insert(blocks[i]);
    inside.push_back(&blocks[i]);
  }
  const auto before = [](const Block* a, const Block* b) {
    return std::pair(a->bytes, a->address) < std::pair(b->bytes, b->address);
  };
  while (!inside.empty()) {
    std::sort(inside.begin(), inside.end(), before);
    const std::size_t bytes = (random() % 100'000 / 64 + 1) * 64;
    const auto expected =
        std::find_if(inside.begin(), inside.end(),
                     [&](const Block* block) { return block->bytes >= bytes; });
    EXPECT_EQ(holes.FindBest(bytes),
              expected == inside.end() ? nullptr : *expected);
    const Block* last = nullptr;
    for (std::size_t i = inside.size(); i-- > 0;) {
      last = holes.LargestBefore(last);
      ASSERT_EQ(last, inside[i]);
    }
    EXPECT_EQ(holes.LargestBefore(last), nullptr);
    const std::size_t gone = random() % inside.size();
    holes.Remove(*inside[gone]);
    inside.erase(inside.begin() + static_cast<std::ptrdiff_t>(gone));
  }
}

}  // namespace
}  // namespace ebb::allocator
