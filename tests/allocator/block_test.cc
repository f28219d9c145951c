#include "allocator/block.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace ebb::allocator {
namespace {

Block* Add(BlockStore& store, std::uintptr_t address) {
  EXPECT_TRUE(store.Prepare(1));
  Block* block = store.Take();
  block->address = address;
  store.Insert(block);
  return block;
}

TEST(BlockStoreTest, FindsLiveBlocksByAddress) {
  BlockStore store;
  std::set<Block*> blocks;
  for (std::uintptr_t i = 1; i <= 1000; ++i) blocks.insert(Add(store, 64 * i));
  EXPECT_EQ(blocks.size(), 1000u);
  EXPECT_EQ(store.live_count(), 1000u);
  for (std::uintptr_t i = 1000; i >= 1; --i) {
    Block* block = store.Remove(64 * i);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(block->address, 64 * i);
  }
  EXPECT_EQ(store.live_count(), 0u);
}

TEST(BlockStoreTest, FindsNothingAtOtherAddresses) {
  BlockStore store;
  EXPECT_EQ(store.Remove(64), nullptr);
  Add(store, 128);
  EXPECT_EQ(store.Remove(64), nullptr);
  EXPECT_NE(store.Remove(128), nullptr);
  EXPECT_EQ(store.Remove(128), nullptr);
}

TEST(BlockStoreTest, HandsTheSameBlocksRound) {
  BlockStore store;
  Block* first = Add(store, 64);
  store.PutBack(store.Remove(64));
  EXPECT_EQ(Add(store, 128), first);
}

TEST(BlockStoreTest, TakenBlocksHaveNoNeighboursAndNoVacantPages) {
  BlockStore store;
  Block* block = Add(store, 64);
  block->vacant_begin = 4096;
  block->vacant_end = 8192;
  block->next = block->previous = block;
  store.PutBack(store.Remove(64));
  block = Add(store, 64);
  EXPECT_EQ(block->vacant_bytes(), 0u);
  EXPECT_EQ(block->next, nullptr);
  EXPECT_EQ(block->previous, nullptr);
}

}  // namespace
}  // namespace ebb::allocator
