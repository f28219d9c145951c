#include "allocator/naive_allocator.h"

namespace ebb::allocator {

void* NaiveAllocator::Allocate(std::size_t bytes) noexcept {
  if (bytes == 0) return EmptyBuffer();
  const std::size_t rounded = RoundToGranule(bytes);
  const uint64_t reserved = accounting_.reserved_bytes();
  const bool over_limit =
      limit_bytes_ != 0 &&
      (rounded > limit_bytes_ || reserved > limit_bytes_ - rounded);
  void* p = over_limit ? nullptr : backing_.Allocate(rounded, kGranuleBytes);
  if (p == nullptr) {
    accounting_.Failed();
    return nullptr;
  }
  accounting_.BackingAllocated();
  accounting_.SetReserved(reserved + rounded);
  accounting_.Allocated(bytes, rounded, /*reused=*/false);
  return p;
}

void NaiveAllocator::Free(void* p, std::size_t bytes) noexcept {
  if (p == nullptr || bytes == 0) return;
  const std::size_t rounded = RoundToGranule(bytes);
  backing_.Free(p, rounded);
  accounting_.BackingFreed();
  accounting_.Freed(bytes, rounded);
  accounting_.SetReserved(accounting_.reserved_bytes() - rounded);
}

}  // namespace ebb::allocator
