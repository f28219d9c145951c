#include "allocator/pool.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "allocator/block.h"
#include "allocator/heap.h"

namespace ebb::allocator {
namespace {

// Chunks past the peak and idle memory are not worth a call up to these.
constexpr uint64_t kLeastOverheadBytes = uint64_t{2} << 20;
constexpr uint64_t kLeastIdleBytes = uint64_t{1} << 20;
// Small buffers are few: a sixteenth of the default range serves them.
constexpr std::size_t kSmallRangeBytes = std::size_t{1} << 32;
constexpr std::size_t kLeastChunkBytes = std::size_t{256} << 10;
constexpr std::size_t kLeastSmallChunkBytes = std::size_t{16} << 10;

}  // namespace

struct Pool::Heaps {
  explicit Heaps(Backing& backing)
      : small(backing, store,
              {.is_small = true,
               .range_bytes = kSmallRangeBytes,
               .least_chunk_bytes = kLeastSmallChunkBytes}),
        large(backing, store, {.least_chunk_bytes = kLeastChunkBytes}) {}

  BlockStore store;
  Heap small;
  Heap large;
};

Pool::Pool(Backing& backing, Options options) noexcept
    : options_(options), heaps_(new(std::nothrow) Heaps(backing)) {}

Pool::~Pool() = default;

uint64_t Pool::reserved_bytes() const noexcept {
  return heaps_->small.reserved_bytes() + heaps_->large.reserved_bytes();
}

// How far reserved bytes may rise before the limit.
uint64_t Pool::RoomBytes() const noexcept {
  if (options_.limit_bytes == 0) return UINT64_MAX;
  return options_.limit_bytes -
         std::min(options_.limit_bytes, reserved_bytes());
}

void* Pool::Allocate(std::size_t bytes) noexcept {
  if (bytes == 0) return EmptyBuffer();
  void* p = nullptr;
  if (heaps_ != nullptr) {
    p = AllocateFrom(bytes, bytes <= kSmallBytes);
    // A full range of small buffers is no reason to fail.
    if (p == nullptr && bytes <= kSmallBytes) p = AllocateFrom(bytes, false);
  }
  if (p == nullptr) accounting_.Failed();
  assert(IsValid());
  return p;
}

void* Pool::AllocateFrom(std::size_t bytes, bool is_small) noexcept {
  const std::size_t rounded = RoundToGranule(bytes);
  const uint64_t live_bytes = accounting_.live_bytes() + rounded;
  // Nothing is given up for what cannot be had anyway.
  if (options_.limit_bytes != 0 &&
      (rounded > options_.limit_bytes || live_bytes > options_.limit_bytes)) {
    return nullptr;
  }
  Heap& heap = is_small ? heaps_->small : heaps_->large;
  if (!heaps_->store.Prepare(2)) return nullptr;
  HeapPlan plan = heap.MakePlan(rounded, RoomBytes());
  if (!plan.is_possible) return nullptr;
  if (plan.new_reserved_bytes != 0 && !heap.has_range()) {
    MakeRoomForChunk(plan.new_reserved_bytes, live_bytes);
    accounting_.SetReserved(reserved_bytes());
    if (plan.new_reserved_bytes > RoomBytes()) return nullptr;
  }
  Block* block = heap.Carve(plan);
  if (block == nullptr) {
    // The backing refused. With everything free given back the hole of the
    // old plan may be gone, so it is planned anew, without room to spare.
    GiveBack(UINT64_MAX);
    plan = heap.MakePlan(rounded, rounded);
    block = heap.Carve(plan);
  }
  if (block != nullptr && !KeepLimit()) {
    heap.Free(std::exchange(block, nullptr));
    KeepLimit();
  }
  accounting_.SetReserved(reserved_bytes());
  if (block == nullptr) return nullptr;
  heaps_->store.Insert(block);
  if (plan.new_reserved_bytes != 0) accounting_.BackingAllocated();
  accounting_.Allocated(bytes, rounded, plan.new_reserved_bytes == 0);
  peak_bytes_ = std::max(peak_bytes_, live_bytes);
  period_peak_bytes_ = std::max(period_peak_bytes_, live_bytes);
  return reinterpret_cast<void*>(block->address);
}

// Chunks cannot merge, so free ones go before memory held passes the peak by
// much, and before it passes the limit.
void Pool::MakeRoomForChunk(uint64_t bytes, uint64_t live_bytes) noexcept {
  const uint64_t peak = std::max(peak_bytes_, live_bytes);
  uint64_t most = peak + std::max(peak / 8, kLeastOverheadBytes);
  if (options_.limit_bytes != 0) most = std::min(most, options_.limit_bytes);
  const uint64_t wanted = reserved_bytes() + bytes;
  if (wanted > most) GiveBack(wanted - most);
}

// Gives back what is held over the limit; false if it is not enough. Over a
// range this comes after carving: the new pages have not been touched yet, and
// the pages beside the buffer may go to make up for them.
bool Pool::KeepLimit() noexcept {
  const uint64_t limit = options_.limit_bytes;
  if (limit == 0 || reserved_bytes() <= limit) return true;
  GiveBack(reserved_bytes() - limit);
  return reserved_bytes() <= limit;
}

void Pool::GiveBack(uint64_t bytes) noexcept {
  const uint64_t before = reserved_bytes();
  heaps_->large.GiveBack(bytes);
  const uint64_t given = before - reserved_bytes();
  if (given < bytes) heaps_->small.GiveBack(bytes - given);
}

void Pool::Free(void* p, std::size_t bytes) noexcept {
  if (p == nullptr || bytes == 0) return;
  Block* block = heaps_->store.Remove(reinterpret_cast<std::uintptr_t>(p));
  assert(block != nullptr && block->bytes == RoundToGranule(bytes));
  if (block == nullptr) return;
  accounting_.Freed(bytes, block->bytes);
  (block->is_small ? heaps_->small : heaps_->large).Free(block);
  accounting_.SetReserved(reserved_bytes());
  if (++period_free_count_ == options_.tick_free_count) Tick();
  assert(IsValid());
}

void Pool::Tick() noexcept {
  if (heaps_ == nullptr) return;
  const uint64_t peak = std::max(period_peak_bytes_, last_period_peak_bytes_);
  const uint64_t keep = peak + std::max(peak / 4, kLeastIdleBytes);
  const uint64_t reserved = reserved_bytes();
  if (reserved > keep) GiveBack(reserved - keep);
  accounting_.SetReserved(reserved_bytes());
  last_period_peak_bytes_ = period_peak_bytes_;
  period_peak_bytes_ = accounting_.live_bytes();
  period_free_count_ = 0;
}

void Pool::Trim() noexcept {
  if (heaps_ == nullptr) return;
  GiveBack(UINT64_MAX);
  accounting_.SetReserved(reserved_bytes());
  peak_bytes_ = accounting_.live_bytes();
  assert(IsValid());
}

void Pool::set_limit_bytes(uint64_t limit) noexcept {
  options_.limit_bytes = limit;
  if (heaps_ == nullptr) return;
  KeepLimit();
  accounting_.SetReserved(reserved_bytes());
}

Stats Pool::stats() const noexcept {
  Stats stats = accounting_.stats();
  if (heaps_ != nullptr) {
    stats.backing_free_count =
        heaps_->small.backing_free_count() + heaps_->large.backing_free_count();
  }
  return stats;
}

bool Pool::IsValid() const noexcept {
  if (heaps_ == nullptr) return accounting_.live_block_count() == 0;
  return accounting_.reserved_bytes() == reserved_bytes() &&
         accounting_.live_bytes() <= reserved_bytes() &&
         accounting_.live_block_count() == heaps_->store.live_count();
}

bool Pool::CheckInvariants() const noexcept {
  if (!IsValid()) return false;
  if (heaps_ == nullptr) return true;
  uint64_t live_bytes = 0;
  heaps_->store.ForEachLive(
      [&](const Block& block) { live_bytes += block.bytes; });
  return live_bytes == accounting_.live_bytes() &&
         heaps_->small.CheckInvariants() && heaps_->large.CheckInvariants();
}

}  // namespace ebb::allocator
