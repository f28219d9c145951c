// The counters behind Stats, kept the same way by every allocator. Internal.
//
// The allocator says what happened; the marks and the derived numbers follow.
// Reserved bytes are set before live bytes rise, so reserved >= live always.

#ifndef EBB_ALLOCATOR_ACCOUNTING_H_
#define EBB_ALLOCATOR_ACCOUNTING_H_

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "allocator/allocator.h"

namespace ebb::allocator {

// Rounds up to the granule. The largest sizes, which no backing could serve,
// saturate instead of wrapping round.
constexpr std::size_t RoundToGranule(std::size_t bytes) {
  constexpr std::size_t kMask = kGranuleBytes - 1;
  return bytes > SIZE_MAX - kMask ? SIZE_MAX & ~kMask
                                  : (bytes + kMask) & ~kMask;
}

// What a request of zero bytes gets.
inline void* EmptyBuffer() noexcept {
  alignas(kGranuleBytes) static std::byte empty[kGranuleBytes];
  return empty;
}

class Accounting {
 public:
  void SetReserved(uint64_t bytes) {
    stats_.reserved_bytes = bytes;
    stats_.reserved_high_water = std::max(stats_.reserved_high_water, bytes);
  }
  void Allocated(uint64_t requested_bytes, uint64_t live_bytes, bool reused) {
    ++stats_.allocate_count;
    ++stats_.live_block_count;
    if (reused) ++stats_.reuse_count;
    stats_.live_bytes += live_bytes;
    stats_.requested_bytes += requested_bytes;
    stats_.live_high_water =
        std::max(stats_.live_high_water, stats_.live_bytes);
    stats_.requested_high_water =
        std::max(stats_.requested_high_water, stats_.requested_bytes);
  }
  void Freed(uint64_t requested_bytes, uint64_t live_bytes) {
    assert(stats_.live_block_count != 0 && stats_.live_bytes >= live_bytes);
    ++stats_.free_count;
    --stats_.live_block_count;
    stats_.live_bytes -= live_bytes;
    stats_.requested_bytes -= requested_bytes;
  }
  void Failed() { ++stats_.failed_count; }
  void BackingAllocated() { ++stats_.backing_allocate_count; }
  void BackingFreed() { ++stats_.backing_free_count; }
  void ResetHighWater() {
    stats_.live_high_water = stats_.live_bytes;
    stats_.requested_high_water = stats_.requested_bytes;
    stats_.reserved_high_water = stats_.reserved_bytes;
  }

  uint64_t live_bytes() const { return stats_.live_bytes; }
  uint64_t reserved_bytes() const { return stats_.reserved_bytes; }
  uint64_t live_block_count() const { return stats_.live_block_count; }
  Stats stats() const {
    Stats result = stats_;
    result.cached_bytes = stats_.reserved_bytes - stats_.live_bytes;
    return result;
  }

 private:
  Stats stats_;
};

}  // namespace ebb::allocator

#endif  // EBB_ALLOCATOR_ACCOUNTING_H_
