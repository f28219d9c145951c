// One heap of the pool: blocks over a range or over chunks. Internal.
//
// The heap knows where buffers go; the pool above decides whether they may.
// So an allocation takes two steps: Plan says where the buffer would lie and by
// how much that would raise the reserved bytes, Carve does it.
//
// Over a backing with a range the heap is one contiguous extent that grows at
// the top. The free block that touches the top, the tail, is kept out of the
// index of holes: it serves only what no hole can, and growth adds only what it
// lacks. Over other backings the heap takes chunks; blocks of different chunks
// never merge, and a chunk that is wholly free can go back.
//
// Invariants: blocks tile the range or their chunk; no two free blocks are
// neighbours; reserved bytes = all blocks - vacant pages.
// Measured reasons for the policy are in heap.cc.

#ifndef EBB_ALLOCATOR_HEAP_H_
#define EBB_ALLOCATOR_HEAP_H_

#include <cstddef>
#include <cstdint>

#include "allocator/backing.h"
#include "allocator/block.h"
#include "allocator/hole_index.h"

namespace ebb::allocator {

// Where a buffer would go.
struct HeapPlan {
  std::size_t bytes = 0;
  bool is_possible = true;     // false: more than the range has
  Block* hole = nullptr;       // null: a new chunk, or the bare top
  bool at_high_end = false;    // of the hole
  std::size_t grow_bytes = 0;  // new bytes at the top, or a chunk
  // What Carve would add to reserved_bytes().
  std::size_t new_reserved_bytes = 0;
};

class Heap {
 public:
  struct Options {
    bool is_small = false;               // marks the blocks
    std::size_t range_bytes = SIZE_MAX;  // most to reserve
    std::size_t least_chunk_bytes = 0;   // where there is no range
  };

  Heap(Backing& backing, BlockStore& store, Options options) noexcept;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap();

  // `bytes` is a multiple of the granule. `room_bytes` is how much reserved
  // bytes may still rise: a new chunk is cut down to what is asked for when a
  // roomier one would not fit.
  HeapPlan MakePlan(std::size_t bytes, uint64_t room_bytes) noexcept;
  // Returns the live block, or null when the backing refuses. The plan's hole
  // must be as it was, and the store prepared for two blocks.
  Block* Carve(const HeapPlan& plan) noexcept;
  // Takes a live block, already out of the store's table, and merges it with
  // its free neighbours.
  void Free(Block* block) noexcept;

  // Gives about `bytes` of cached memory back, less if there is not as much:
  // first the tail, then the largest holes, whole pages or whole chunks of
  // them.
  void GiveBack(uint64_t bytes) noexcept;

  bool has_range() const { return range_.base != nullptr; }
  uint64_t reserved_bytes() const { return reserved_bytes_; }
  uint64_t backing_free_count() const { return backing_free_count_; }

  // Checks everything the header promises, in time linear in the blocks.
  // The live blocks are given by `store`.
  bool CheckInvariants() const noexcept;

 private:
  std::uintptr_t base() const {
    return reinterpret_cast<std::uintptr_t>(range_.base);
  }
  bool IsTop(const Block& block) const {
    return has_range() && block.end() == top_;
  }

  void ChooseEnd(HeapPlan& plan) const noexcept;
  Block* Split(const HeapPlan& plan) noexcept;
  Block* GrowTop(const HeapPlan& plan) noexcept;
  Block* TakeChunk(const HeapPlan& plan) noexcept;
  bool CommitUpTo(std::uintptr_t end) noexcept;

  void Index(Block* block) noexcept;
  void Unindex(Block* block) noexcept;
  void JoinVacant(Block* block, const Block& other) noexcept;
  void CutTail(uint64_t bytes) noexcept;
  void Vacate(Block* hole, uint64_t bytes) noexcept;
  void ReturnChunk(Block* chunk) noexcept;
  bool CheckBlock(const Block& block) const noexcept;

  Backing& backing_;
  BlockStore& store_;
  const Options options_;
  AddressRange range_;
  std::uintptr_t top_ = 0;            // end of the extent in use
  std::uintptr_t committed_end_ = 0;  // at or above top_
  HoleIndex holes_;                   // free blocks except the tail
  Block* tail_ = nullptr;             // the free block at the top, if any
  Block* last_ = nullptr;             // the block at the top
  uint64_t reserved_bytes_ = 0;
  uint64_t backing_free_count_ = 0;
};

}  // namespace ebb::allocator

#endif  // EBB_ALLOCATOR_HEAP_H_
