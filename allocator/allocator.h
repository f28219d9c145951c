// The seam between a VM session and the memory it hands round.
//
// An Allocator serves 64-byte aligned buffers out of a Backing, which it
// borrows and which must outlive it. Frees carry the size that was asked for.
// Every number in Stats is exact at any moment, and
// `reserved_bytes == live_bytes + cached_bytes` always holds.
//
// Not thread-safe by design: one session, one thread, one allocator. Several
// allocators may share one Backing; see backing.h for which ones allow that.
//
//   MmapBacking backing;
//   auto pool = MakeAllocator(Kind::kPool, backing, /*limit_bytes=*/32 << 20);
//   void* p = pool->Allocate(1000);  // nullptr past the limit
//   pool->Free(p, 1000);

#ifndef EBB_ALLOCATOR_ALLOCATOR_H_
#define EBB_ALLOCATOR_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ebb::allocator {

class Backing;

// Alignment of every buffer, and the unit in which live bytes are counted: a
// cache line, and the widest vector register.
inline constexpr std::size_t kGranuleBytes = 64;

// All bytes, exact.
struct Stats {
  uint64_t live_bytes = 0;       // handed out now, rounded up to the granule
  uint64_t requested_bytes = 0;  // the same before rounding
  uint64_t cached_bytes = 0;     // held by the allocator, not handed out
  uint64_t reserved_bytes = 0;   // live + cached, always
  // Marks since the last ResetHighWater.
  uint64_t live_high_water = 0;
  uint64_t requested_high_water = 0;
  uint64_t reserved_high_water = 0;
  // Counts since construction. Zero-byte requests are not counted: they
  // take nothing.
  uint64_t allocate_count = 0;
  uint64_t free_count = 0;
  uint64_t backing_allocate_count = 0;  // times the backing gave memory
  uint64_t backing_free_count = 0;      // times memory went back to it
  uint64_t reuse_count = 0;   // allocations that needed nothing from it
  uint64_t failed_count = 0;  // allocations that returned nullptr
  uint64_t live_block_count = 0;
};

class Allocator {
 public:
  Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
  // Gives everything back to the backing. Every buffer must be freed before.
  virtual ~Allocator();

  // Returns 64-byte aligned memory with unspecified contents, or nullptr past
  // the limit or when the backing refuses (after giving back what is cached
  // and trying again). Zero bytes are legal and cost nothing: the result is a
  // shared non-null sentinel that must not be dereferenced.
  [[nodiscard]] virtual void* Allocate(std::size_t bytes) noexcept = 0;

  // `bytes` is what was given to Allocate. A null `p` is ignored.
  virtual void Free(void* p, std::size_t bytes) noexcept = 0;

  // Gives every free page or block back to the backing.
  virtual void Trim() noexcept = 0;

  // Sets the three high-water marks to the current values.
  virtual void ResetHighWater() noexcept = 0;

  virtual Stats stats() const noexcept = 0;

  // Hard limit on reserved bytes; 0 means none. A limit below what is reserved
  // now gives cached memory back at once and otherwise only refuses growth.
  virtual void set_limit_bytes(uint64_t limit) noexcept = 0;
};

enum class Kind : uint8_t {
  kPool,        // best fit with coalescing: what a session should use
  kNaive,       // the backing for every buffer
  kSizeBucket,  // free lists of equal sizes, never merged: a baseline
};

// Returns null only when there is no memory for the allocator itself.
// `backing` must outlive the result.
std::unique_ptr<Allocator> MakeAllocator(Kind kind, Backing& backing,
                                         uint64_t limit_bytes);

}  // namespace ebb::allocator

#endif  // EBB_ALLOCATOR_ALLOCATOR_H_
