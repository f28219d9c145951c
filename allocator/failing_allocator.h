// Fails on purpose: wraps an allocator and makes one chosen allocation return
// nullptr. With it a test walks every out-of-memory path of its subject.
//
// The wrapped allocator is borrowed. Not thread-safe.
//
//   for (uint64_t n = 1;; ++n) {  // until a run succeeds
//     FailingAllocator failing(*pool, n);
//     if (Run(failing)) break;
//   }

#ifndef EBB_ALLOCATOR_FAILING_ALLOCATOR_H_
#define EBB_ALLOCATOR_FAILING_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>

#include "allocator/allocator.h"

namespace ebb::allocator {

class FailingAllocator final : public Allocator {
 public:
  // The `fail_at`-th call of Allocate from now fails, counted from 1 and
  // without those of zero bytes; 0 means none.
  FailingAllocator(Allocator& inner, uint64_t fail_at) noexcept
      : inner_(inner), fail_at_(fail_at) {}

  void* Allocate(std::size_t bytes) noexcept override {
    if (bytes != 0 && ++call_count_ == fail_at_) {
      ++failed_count_;
      return nullptr;
    }
    return inner_.Allocate(bytes);
  }
  void Free(void* p, std::size_t bytes) noexcept override {
    inner_.Free(p, bytes);
  }
  void Trim() noexcept override { inner_.Trim(); }
  void ResetHighWater() noexcept override { inner_.ResetHighWater(); }
  Stats stats() const noexcept override {
    Stats result = inner_.stats();
    result.failed_count += failed_count_;
    return result;
  }
  void set_limit_bytes(uint64_t limit) noexcept override {
    inner_.set_limit_bytes(limit);
  }

  // Whether the chosen allocation has been reached.
  bool has_failed() const noexcept { return failed_count_ != 0; }

 private:
  Allocator& inner_;
  const uint64_t fail_at_;
  uint64_t call_count_ = 0;
  uint64_t failed_count_ = 0;
};

}  // namespace ebb::allocator

#endif  // EBB_ALLOCATOR_FAILING_ALLOCATOR_H_
