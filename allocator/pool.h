// The pool: what a session hands its buffers round with.
//
// Best fit with immediate merging of neighbours, at 64-byte granularity and
// without size classes. Buffers up to kSmallBytes live in a heap of their own,
// so that a scalar that lives long never sits in the middle of a hole that a
// feature map needs. Records are kept out of line: what is handed out is
// exactly what was asked for, rounded up to 64 bytes.
//
// Memory stays with the pool between runs; a run that repeats calls neither the
// system nor the C++ heap. Memory goes back:
//  - on Trim, all that is free;
//  - before an allocation would pass the limit or after the backing refused
//    one, as much as is missing; over a range also the pages of holes, so
//    fragmentation alone does not make a run fail;
//  - over a backing without a range, whose chunks cannot merge: free chunks,
//    before a new one would make the memory held an eighth more than the
//    largest live size;
//  - on Tick, what the last two periods did not need. A period ends by itself
//    after Options::tick_free_count frees; no clock is read.
//
// Not thread-safe: one pool per session. The backing is borrowed.
//
//   Pool pool(backing, {.limit_bytes = 64 << 20});
//   void* p = pool.Allocate(1000);
//   assert(pool.stats().live_bytes == 1024);
//   pool.Free(p, 1000);

#ifndef EBB_ALLOCATOR_POOL_H_
#define EBB_ALLOCATOR_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "allocator/accounting.h"
#include "allocator/allocator.h"
#include "allocator/backing.h"

namespace ebb::allocator {

class Pool final : public Allocator {
 public:
  // Up to this size a buffer lies in the heap of small ones.
  static constexpr std::size_t kSmallBytes = 4096;

  struct Options {
    uint64_t limit_bytes = 0;  // 0: none
    // Frees after which a Tick happens by itself; 0: never.
    uint64_t tick_free_count = 8192;
  };

  explicit Pool(Backing& backing) noexcept : Pool(backing, Options{}) {}
  Pool(Backing& backing, Options options) noexcept;
  ~Pool() override;

  void* Allocate(std::size_t bytes) noexcept override;
  void Free(void* p, std::size_t bytes) noexcept override;
  void Trim() noexcept override;
  void ResetHighWater() noexcept override { accounting_.ResetHighWater(); }
  Stats stats() const noexcept override;
  void set_limit_bytes(uint64_t limit) noexcept override;

  // Ends a period: gives back what exceeds by a quarter the largest live size
  // of this period and the one before.
  void Tick() noexcept;

  // Checks that blocks tile their ranges and chunks, that no two free ones are
  // neighbours and that every counter equals its recomputed value. Linear in
  // the blocks, and always compiled: for tests and fuzzing.
  bool CheckInvariants() const noexcept;

 private:
  struct Heaps;

  void* AllocateFrom(std::size_t bytes, bool is_small) noexcept;
  void MakeRoomForChunk(uint64_t bytes, uint64_t live_bytes) noexcept;
  bool KeepLimit() noexcept;
  void GiveBack(uint64_t bytes) noexcept;
  uint64_t reserved_bytes() const noexcept;
  uint64_t RoomBytes() const noexcept;
  bool IsValid() const noexcept;

  Options options_;
  // The largest live size ever (since Trim), in this period and in the last.
  uint64_t peak_bytes_ = 0;
  uint64_t period_peak_bytes_ = 0;
  uint64_t last_period_peak_bytes_ = 0;
  uint64_t period_free_count_ = 0;
  Accounting accounting_;
  std::unique_ptr<Heaps> heaps_;
};

}  // namespace ebb::allocator

#endif  // EBB_ALLOCATOR_POOL_H_
