// The policy, and why. Replaying the buffers of eight networks, by liveness,
// with and without in-place results, gives these ratios of extent to live bytes
// (geometric mean, worst):
//
//   best fit, tail among the holes                    1.163  1.500
//   first fit, tail among the holes or last           1.148  1.479
//   best fit, tail last                               1.148  1.479
//   best fit, tail last, small in big at the high end 1.116  1.387  <- here
//
// Tail last keeps the one stretch that can grow. The high end keeps a buffer
// much smaller than its hole (under half) away from the next big request,
// which then goes to the low end. The factor hardly matters from 2 to 8.

#include "allocator/heap.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace ebb::allocator {
namespace {

// Pages become usable in steps, to save calls; only touched ones are resident.
constexpr std::size_t kCommitStepBytes = std::size_t{64} << 10;
constexpr std::size_t kChunkAlignBytes = 64;

std::uintptr_t RoundUp(std::uintptr_t value, std::size_t to) {
  return (value + to - 1) & ~std::uintptr_t{to - 1};
}

std::uintptr_t RoundDown(std::uintptr_t value, std::size_t to) {
  return value & ~std::uintptr_t{to - 1};
}

void* ToPointer(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

void SetVacant(Block* block, std::uintptr_t begin, std::uintptr_t end) {
  const bool is_empty = begin >= end;
  block->vacant_begin = is_empty ? 0 : begin;
  block->vacant_end = is_empty ? 0 : end;
}

bool IsWholeChunk(const Block& block) {
  return block.previous == nullptr && block.next == nullptr;
}

void LinkAfter(Block* block, Block* added) {
  added->previous = block;
  added->next = block->next;
  if (added->next != nullptr) added->next->previous = added;
  block->next = added;
}

void Unlink(Block* block) {
  if (block->previous != nullptr) block->previous->next = block->next;
  if (block->next != nullptr) block->next->previous = block->previous;
}

}  // namespace

Heap::Heap(Backing& backing, BlockStore& store, Options options) noexcept
    : backing_(backing),
      store_(store),
      options_(options),
      range_(backing.Reserve(options.range_bytes)),
      top_(base()),
      committed_end_(base()) {}

Heap::~Heap() {
  if (has_range()) {
    backing_.Release(range_);
  } else {
    GiveBack(UINT64_MAX);
  }
}

HeapPlan Heap::MakePlan(std::size_t bytes, uint64_t room_bytes) noexcept {
  HeapPlan plan;
  plan.bytes = bytes;
  plan.hole = holes_.FindBest(bytes);
  if (plan.hole == nullptr && tail_ != nullptr && tail_->bytes >= bytes) {
    plan.hole = tail_;
  }
  if (plan.hole != nullptr) {
    ChooseEnd(plan);
    return plan;
  }
  if (has_range()) {
    const std::size_t have = tail_ == nullptr ? 0 : tail_->bytes;
    plan.hole = tail_;
    plan.grow_bytes = bytes - have;
    plan.is_possible = plan.grow_bytes <= base() + range_.bytes - top_;
    plan.new_reserved_bytes = plan.grow_bytes;
    if (tail_ != nullptr) plan.new_reserved_bytes += tail_->vacant_bytes();
    return plan;
  }
  plan.grow_bytes = std::max(bytes, options_.least_chunk_bytes);
  if (plan.grow_bytes > room_bytes) plan.grow_bytes = bytes;
  plan.new_reserved_bytes = plan.grow_bytes;
  return plan;
}

// Fewest vacant pages to fill first; then by size, as told at the top.
void Heap::ChooseEnd(HeapPlan& plan) const noexcept {
  const Block& hole = *plan.hole;
  plan.at_high_end = plan.hole != tail_ && hole.bytes / 2 > plan.bytes;
  if (hole.vacant_bytes() == 0) return;

  const std::uintptr_t low_end =
      RoundUp(hole.address + plan.bytes, range_.page_bytes);
  const std::uintptr_t high_begin =
      RoundDown(hole.end() - plan.bytes, range_.page_bytes);
  const std::size_t low_cost =
      std::clamp(low_end, hole.vacant_begin, hole.vacant_end) -
      hole.vacant_begin;
  const std::size_t high_cost =
      hole.vacant_end -
      std::clamp(high_begin, hole.vacant_begin, hole.vacant_end);
  if (plan.hole != tail_ && low_cost != high_cost) {
    plan.at_high_end = high_cost < low_cost;
  }
  plan.new_reserved_bytes = plan.at_high_end ? high_cost : low_cost;
}

Block* Heap::Carve(const HeapPlan& plan) noexcept {
  assert(plan.is_possible);
  Block* block = nullptr;
  if (plan.grow_bytes == 0) {
    block = Split(plan);
  } else {
    block = has_range() ? GrowTop(plan) : TakeChunk(plan);
  }
  if (block == nullptr) return nullptr;
  reserved_bytes_ += plan.new_reserved_bytes;
  block->is_free = false;
  block->is_small = options_.is_small;
  return block;
}

Block* Heap::Split(const HeapPlan& plan) noexcept {
  Block* hole = plan.hole;
  if (hole->bytes == plan.bytes) {
    Unindex(hole);
    SetVacant(hole, 0, 0);
    return hole;
  }
  Unindex(hole);
  Block* block = store_.Take();
  block->bytes = plan.bytes;
  hole->bytes -= plan.bytes;
  if (plan.at_high_end) {
    block->address = hole->end();
    LinkAfter(hole, block);
    SetVacant(hole, hole->vacant_begin,
              std::min(hole->vacant_end,
                       RoundDown(block->address, range_.page_bytes)));
  } else {
    block->address = hole->address;
    hole->address += plan.bytes;
    block->previous = hole->previous;
    block->next = hole;
    if (block->previous != nullptr) block->previous->next = block;
    hole->previous = block;
    SetVacant(
        hole,
        std::max(hole->vacant_begin, RoundUp(block->end(), range_.page_bytes)),
        hole->vacant_end);
  }
  Index(hole);
  return block;
}

bool Heap::CommitUpTo(std::uintptr_t end) noexcept {
  if (end <= committed_end_) return true;
  const std::uintptr_t new_end =
      std::min(RoundUp(end, std::max(kCommitStepBytes, range_.page_bytes)),
               base() + range_.bytes);
  if (!backing_.Commit(ToPointer(committed_end_), new_end - committed_end_)) {
    return false;
  }
  committed_end_ = new_end;
  return true;
}

Block* Heap::GrowTop(const HeapPlan& plan) noexcept {
  if (!CommitUpTo(top_ + plan.grow_bytes)) return nullptr;
  Block* block = std::exchange(tail_, nullptr);
  if (block == nullptr) {
    block = store_.Take();
    block->address = top_;
    block->bytes = 0;
    if (last_ != nullptr) LinkAfter(last_, block);
    last_ = block;
  }
  SetVacant(block, 0, 0);
  block->bytes += plan.grow_bytes;
  top_ += plan.grow_bytes;
  return block;
}

Block* Heap::TakeChunk(const HeapPlan& plan) noexcept {
  void* chunk = backing_.Allocate(plan.grow_bytes, kChunkAlignBytes);
  if (chunk == nullptr) return nullptr;
  Block* block = store_.Take();
  block->address = reinterpret_cast<std::uintptr_t>(chunk);
  block->bytes = plan.bytes;
  if (plan.grow_bytes != plan.bytes) {
    Block* rest = store_.Take();
    rest->address = block->end();
    rest->bytes = plan.grow_bytes - plan.bytes;
    rest->is_small = options_.is_small;
    LinkAfter(block, rest);
    Index(rest);
  }
  return block;
}

void Heap::Free(Block* block) noexcept {
  assert(!block->is_free && block->vacant_bytes() == 0);
  if (Block* next = block->next; next != nullptr && next->is_free) {
    Unindex(next);
    JoinVacant(block, *next);
    block->bytes += next->bytes;
    Unlink(next);
    if (last_ == next) last_ = block;
    store_.PutBack(next);
  }
  if (Block* previous = block->previous;
      previous != nullptr && previous->is_free) {
    Unindex(previous);
    JoinVacant(previous, *block);
    previous->bytes += block->bytes;
    Unlink(block);
    if (last_ == block) last_ = previous;
    store_.PutBack(block);
    block = previous;
  }
  Index(block);
}

void Heap::Index(Block* block) noexcept {
  block->is_free = true;
  if (IsTop(*block)) {
    tail_ = block;
  } else {
    holes_.Insert(*block);
  }
}

void Heap::Unindex(Block* block) noexcept {
  if (block == tail_) {
    tail_ = nullptr;
  } else {
    holes_.Remove(*block);
  }
}

// A block has one vacant stretch, so where two meet the pages between them go
// too. That is rare: it needs a trim below a buffer that outlived it.
void Heap::JoinVacant(Block* block, const Block& other) noexcept {
  if (other.vacant_bytes() == 0) return;
  if (block->vacant_bytes() == 0) {
    SetVacant(block, other.vacant_begin, other.vacant_end);
    return;
  }
  const std::uintptr_t gap_begin =
      std::min(block->vacant_end, other.vacant_end);
  const std::uintptr_t gap_end =
      std::max(block->vacant_begin, other.vacant_begin);
  if (gap_begin < gap_end) {
    backing_.Decommit(ToPointer(gap_begin), gap_end - gap_begin);
    ++backing_free_count_;
    reserved_bytes_ -= gap_end - gap_begin;
  }
  SetVacant(block, std::min(block->vacant_begin, other.vacant_begin),
            std::max(block->vacant_end, other.vacant_end));
}

void Heap::GiveBack(uint64_t bytes) noexcept {
  const uint64_t before = reserved_bytes_;
  const auto missing = [&] {
    const uint64_t given = before - reserved_bytes_;
    return bytes - std::min(bytes, given);
  };
  if (tail_ != nullptr) CutTail(missing());
  Block* hole = holes_.LargestBefore(nullptr);
  while (hole != nullptr && missing() != 0) {
    Block* next = holes_.LargestBefore(hole);
    if (has_range()) {
      Vacate(hole, missing());
    } else if (IsWholeChunk(*hole)) {
      holes_.Remove(*hole);
      ReturnChunk(hole);
    }
    hole = next;
  }
}

// Moves the top down by about `bytes`, at most by the tail.
void Heap::CutTail(uint64_t bytes) noexcept {
  if (bytes == 0) return;
  Block* tail = tail_;
  const std::size_t cut_bytes = std::min<uint64_t>(bytes, tail->bytes);
  const std::uintptr_t new_top =
      std::max(tail->address, RoundDown(top_ - cut_bytes, range_.page_bytes));
  // The page that the new top lies in stays: the block below may need it.
  const std::uintptr_t begin = RoundUp(new_top, range_.page_bytes);
  const std::uintptr_t end = RoundUp(top_, range_.page_bytes);
  if (begin < end) backing_.Decommit(ToPointer(begin), end - begin);
  ++backing_free_count_;

  reserved_bytes_ -= tail->bytes - tail->vacant_bytes();
  tail->bytes = new_top - tail->address;
  SetVacant(tail, tail->vacant_begin, std::min(tail->vacant_end, new_top));
  reserved_bytes_ += tail->bytes - tail->vacant_bytes();
  top_ = new_top;
  if (tail->bytes != 0) return;
  last_ = tail->previous;
  Unlink(tail);
  store_.PutBack(tail);
  tail_ = nullptr;
}

// Widens the vacant stretch of the hole by about `bytes`, first downwards (it
// begins at the high end), then upwards.
void Heap::Vacate(Block* hole, uint64_t bytes) noexcept {
  const std::size_t unit_bytes = range_.page_bytes;
  const std::uintptr_t low = RoundUp(hole->address, unit_bytes);
  const std::uintptr_t high = RoundDown(hole->end(), unit_bytes);
  if (low >= high) return;
  const bool has_vacant = hole->vacant_bytes() != 0;
  const std::uintptr_t begin = has_vacant ? hole->vacant_begin : high;
  const std::uintptr_t end = has_vacant ? hole->vacant_end : high;

  std::uintptr_t new_begin = begin;
  if (begin > low) {
    const auto down = std::min<uint64_t>(bytes, begin - low);
    new_begin = std::max(low, RoundDown(begin - down, unit_bytes));
    bytes -= std::min<uint64_t>(bytes, begin - new_begin);
  }
  std::uintptr_t new_end = end;
  if (end < high && bytes != 0) {
    const auto up = std::min<uint64_t>(bytes, high - end);
    new_end = std::min(high, RoundUp(end + up, unit_bytes));
  }
  const std::size_t given = (begin - new_begin) + (new_end - end);
  if (given == 0) return;
  if (new_begin < begin) {
    backing_.Decommit(ToPointer(new_begin), begin - new_begin);
  }
  if (end < new_end) backing_.Decommit(ToPointer(end), new_end - end);
  ++backing_free_count_;
  reserved_bytes_ -= given;
  SetVacant(hole, new_begin, new_end);
}

void Heap::ReturnChunk(Block* chunk) noexcept {
  backing_.Free(ToPointer(chunk->address), chunk->bytes);
  ++backing_free_count_;
  reserved_bytes_ -= chunk->bytes;
  store_.PutBack(chunk);
}

}  // namespace ebb::allocator
