// The pool's records of its memory, kept away from the memory. Internal.
//
// A Block describes one stretch of addresses, live or free. Blocks come from a
// BlockStore, which takes them from the C++ heap by the slab, hands them round
// for ever, and finds the live block that begins at an address. Once grown to
// the largest number of blocks needed, it takes nothing more from anywhere.

#ifndef EBB_ALLOCATOR_BLOCK_H_
#define EBB_ALLOCATOR_BLOCK_H_

#include <boost/intrusive/set.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace ebb::allocator {

struct Block : boost::intrusive::set_base_hook<
                   boost::intrusive::link_mode<boost::intrusive::normal_link>,
                   boost::intrusive::optimize_size<true>> {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  // Of a free block: the whole pages in it that hold no memory, one stretch or
  // none (begin == end). They do not count as reserved.
  std::uintptr_t vacant_begin = 0;
  std::uintptr_t vacant_end = 0;
  // Neighbours in the same range or chunk, in order of address, without gaps.
  Block* previous = nullptr;
  Block* next = nullptr;
  // The store's chain: of equal hash when live, of spare blocks when unused.
  Block* link = nullptr;
  bool is_free = false;
  bool is_small = false;  // belongs to the heap of small buffers

  std::uintptr_t end() const { return address + bytes; }
  std::size_t vacant_bytes() const { return vacant_end - vacant_begin; }
};

class BlockStore {
 public:
  BlockStore() = default;
  BlockStore(const BlockStore&) = delete;
  BlockStore& operator=(const BlockStore&) = delete;
  ~BlockStore();

  // Makes sure that `count` calls of Take and an Insert cannot fail.
  [[nodiscard]] bool Prepare(std::size_t count) noexcept {
    return spare_count_ >= count && live_count_ < bucket_count_ ? true
                                                                : Grow(count);
  }
  // A block with no content; Prepare has made sure of it.
  Block* Take() noexcept;
  void PutBack(Block* block) noexcept;

  // The live blocks by address.
  void Insert(Block* block) noexcept;
  // Takes the live block that begins at `address` out; null if there is none.
  Block* Remove(std::uintptr_t address) noexcept;

  std::size_t live_count() const { return live_count_; }
  template <typename Visitor>
  void ForEachLive(Visitor&& visit) const {
    for (std::size_t i = 0; i < bucket_count_; ++i) {
      for (Block* block = buckets_[i]; block != nullptr; block = block->link) {
        visit(*block);
      }
    }
  }

 private:
  struct Slab;

  bool Grow(std::size_t count) noexcept;
  Block*& BucketOf(std::uintptr_t address) const;

  Slab* slabs_ = nullptr;
  Block* spare_ = nullptr;
  std::size_t spare_count_ = 0;
  Block** buckets_ = nullptr;
  std::size_t bucket_count_ = 0;  // 0 or a power of two
  unsigned bucket_shift_ = 0;     // 64 - log2(bucket_count_)
  std::size_t live_count_ = 0;
};

}  // namespace ebb::allocator

#endif  // EBB_ALLOCATOR_BLOCK_H_
