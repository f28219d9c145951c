// Free lists of exactly equal sizes, rounded up to 4 KiB pages.
//
// A freed block waits for a request of its own rounded size; blocks are never
// split, merged or given back, except all together: by Trim, by the destructor
// and before a request would fail. Simple, quick when the same sizes come
// again, and wasteful when they do not: the baseline that the benchmarks hold
// the pool against. The rounding counts as cached bytes.
//
// Not thread-safe. The free blocks hold their own list nodes, so no other
// memory is needed.
//
//   SizeBucketAllocator buckets(backing, /*limit_bytes=*/0);
//   void* p = buckets.Allocate(5000);  // takes 8192
//   buckets.Free(p, 5000);
//   p = buckets.Allocate(8000);        // the same block

#ifndef EBB_ALLOCATOR_SIZE_BUCKET_ALLOCATOR_H_
#define EBB_ALLOCATOR_SIZE_BUCKET_ALLOCATOR_H_

#include <memory>

#include "allocator/accounting.h"
#include "allocator/allocator.h"
#include "allocator/backing.h"

namespace ebb::allocator {

class SizeBucketAllocator final : public Allocator {
 public:
  static constexpr std::size_t kPageBytes = 4096;

  SizeBucketAllocator(Backing& backing, uint64_t limit_bytes) noexcept;
  ~SizeBucketAllocator() override;

  void* Allocate(std::size_t bytes) noexcept override;
  void Free(void* p, std::size_t bytes) noexcept override;
  void Trim() noexcept override;
  void ResetHighWater() noexcept override { accounting_.ResetHighWater(); }
  Stats stats() const noexcept override { return accounting_.stats(); }
  void set_limit_bytes(uint64_t limit) noexcept override;

 private:
  struct FreeBlock;
  class Buckets;

  bool WouldPassLimit(std::size_t bytes) const;

  Backing& backing_;
  uint64_t limit_bytes_;
  Accounting accounting_;
  std::unique_ptr<Buckets> buckets_;
};

}  // namespace ebb::allocator

#endif  // EBB_ALLOCATOR_SIZE_BUCKET_ALLOCATOR_H_
