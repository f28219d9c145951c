// The backing for every buffer: nothing is kept, nothing is reused.
//
// The baseline for memory (reserved = live at every moment) and for time (the
// backing pays for each buffer). Not thread-safe.
//
//   NaiveAllocator naive(backing, /*limit_bytes=*/0);
//   void* p = naive.Allocate(100);  // backing.Allocate(128, 64)

#ifndef EBB_ALLOCATOR_NAIVE_ALLOCATOR_H_
#define EBB_ALLOCATOR_NAIVE_ALLOCATOR_H_

#include "allocator/accounting.h"
#include "allocator/allocator.h"
#include "allocator/backing.h"

namespace ebb::allocator {

class NaiveAllocator final : public Allocator {
 public:
  NaiveAllocator(Backing& backing, uint64_t limit_bytes) noexcept
      : backing_(backing), limit_bytes_(limit_bytes) {}

  void* Allocate(std::size_t bytes) noexcept override;
  void Free(void* p, std::size_t bytes) noexcept override;
  void Trim() noexcept override {}
  void ResetHighWater() noexcept override { accounting_.ResetHighWater(); }
  Stats stats() const noexcept override { return accounting_.stats(); }
  void set_limit_bytes(uint64_t limit) noexcept override {
    limit_bytes_ = limit;
  }

 private:
  Backing& backing_;
  uint64_t limit_bytes_;
  Accounting accounting_;
};

}  // namespace ebb::allocator

#endif  // EBB_ALLOCATOR_NAIVE_ALLOCATOR_H_
