#include "allocator/block.h"

#include <bit>
#include <cassert>
#include <new>

namespace ebb::allocator {
namespace {

constexpr std::size_t kBlocksPerSlab = 64;
constexpr std::size_t kFirstBucketCount = 64;

}  // namespace

struct BlockStore::Slab {
  Slab* next;
  Block blocks[kBlocksPerSlab];
};

BlockStore::~BlockStore() {
  while (slabs_ != nullptr) delete std::exchange(slabs_, slabs_->next);
  ::operator delete(buckets_);
}

Block*& BlockStore::BucketOf(std::uintptr_t address) const {
  // Fibonacci hashing: addresses are multiples of the granule, and the high
  // bits of the product depend on all bits above it.
  const uint64_t hash = uint64_t{address} * 0x9E3779B97F4A7C15u;
  return buckets_[hash >> bucket_shift_];
}

bool BlockStore::Grow(std::size_t count) noexcept {
  while (spare_count_ < count) {
    Slab* slab = new (std::nothrow) Slab;
    if (slab == nullptr) return false;
    slab->next = slabs_;
    slabs_ = slab;
    for (Block& block : slab->blocks) PutBack(&block);
  }
  if (live_count_ < bucket_count_) return true;

  const std::size_t new_count =
      bucket_count_ == 0 ? kFirstBucketCount : 2 * bucket_count_;
  auto* new_buckets = static_cast<Block**>(
      ::operator new(new_count * sizeof(Block*), std::nothrow));
  if (new_buckets == nullptr) return false;
  for (std::size_t i = 0; i < new_count; ++i) new_buckets[i] = nullptr;
  Block** old_buckets = std::exchange(buckets_, new_buckets);
  const std::size_t old_count = std::exchange(bucket_count_, new_count);
  bucket_shift_ = 64u - static_cast<unsigned>(std::countr_zero(new_count));
  live_count_ = 0;
  for (std::size_t i = 0; i < old_count; ++i) {
    while (Block* block = old_buckets[i]) {
      old_buckets[i] = block->link;
      Insert(block);
    }
  }
  ::operator delete(old_buckets);
  return true;
}

Block* BlockStore::Take() noexcept {
  assert(spare_ != nullptr);
  Block* block = std::exchange(spare_, spare_->link);
  --spare_count_;
  block->vacant_begin = block->vacant_end = 0;
  block->previous = block->next = block->link = nullptr;
  return block;
}

void BlockStore::PutBack(Block* block) noexcept {
  block->link = spare_;
  spare_ = block;
  ++spare_count_;
}

void BlockStore::Insert(Block* block) noexcept {
  Block*& bucket = BucketOf(block->address);
  block->link = bucket;
  bucket = block;
  ++live_count_;
}

Block* BlockStore::Remove(std::uintptr_t address) noexcept {
  if (bucket_count_ == 0) return nullptr;
  for (Block** link = &BucketOf(address); *link != nullptr;
       link = &(*link)->link) {
    Block* block = *link;
    if (block->address != address) continue;
    *link = block->link;
    block->link = nullptr;
    --live_count_;
    return block;
  }
  return nullptr;
}

}  // namespace ebb::allocator
