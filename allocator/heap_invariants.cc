// The checks behind Heap::CheckInvariants, apart from the code they check.

#include "allocator/heap.h"

namespace ebb::allocator {

bool Heap::CheckBlock(const Block& block) const noexcept {
  if (block.bytes == 0 || (block.address | block.bytes) % 64 != 0) return false;
  if (block.is_small != options_.is_small) return false;
  if (const Block* next = block.next; next != nullptr) {
    if (next->previous != &block || next->address != block.end()) return false;
    if (block.is_free && next->is_free) return false;
  } else if (has_range() && (&block != last_ || block.end() != top_)) {
    return false;
  }
  if (const Block* previous = block.previous; previous != nullptr) {
    if (previous->next != &block) return false;
  } else if (has_range() && block.address != base()) {
    return false;
  }
  if (block.vacant_bytes() == 0) return true;
  return block.is_free && block.address <= block.vacant_begin &&
         block.vacant_begin < block.vacant_end &&
         block.vacant_end <= block.end() &&
         (block.vacant_begin | block.vacant_end) % range_.page_bytes == 0;
}

// Blocks that agree with their neighbours, with one that begins at the base and
// one that ends at the top, tile the range if their sizes add up to it.
bool Heap::CheckInvariants() const noexcept {
  bool is_valid = true;
  uint64_t total_bytes = 0;
  uint64_t vacant_bytes = 0;
  const auto visit = [&](const Block& block) {
    is_valid = is_valid && CheckBlock(block);
    total_bytes += block.bytes;
    vacant_bytes += block.vacant_bytes();
  };
  store_.ForEachLive([&](const Block& block) {
    if (block.is_small != options_.is_small) return;
    is_valid = is_valid && !block.is_free;
    visit(block);
  });
  holes_.ForEach([&](const Block& block) {
    is_valid = is_valid && block.is_free && !IsTop(block);
    visit(block);
  });
  if (tail_ != nullptr) {
    is_valid = is_valid && tail_->is_free && IsTop(*tail_) && tail_ == last_;
    visit(*tail_);
  }
  if (has_range()) is_valid = is_valid && total_bytes == top_ - base();
  return is_valid && total_bytes - vacant_bytes == reserved_bytes_;
}

}  // namespace ebb::allocator
