// Blocks from an arena of jemalloc that nothing else uses.
//
// A library target of its own: Debian's jemalloc takes over the malloc of every
// program that links it, so an embedder opts in. Freed blocks go back to the
// system at once (no decay), since the pool above does the caching.
//
// Thread-safe. When no arena can be made, `valid()` is false and every
// Allocate returns nullptr.
//
//   JemallocBacking backing;
//   auto pool = MakeAllocator(Kind::kPool, backing, 0);

#ifndef EBB_ALLOCATOR_JEMALLOC_BACKING_H_
#define EBB_ALLOCATOR_JEMALLOC_BACKING_H_

#include <cstddef>

#include "allocator/backing.h"

namespace ebb::allocator {

class JemallocBacking final : public Backing {
 public:
  JemallocBacking() noexcept;
  // Ends the arena; no block may be live.
  ~JemallocBacking() override;

  bool valid() const noexcept { return valid_; }

  void* Allocate(std::size_t bytes, std::size_t align) noexcept override;
  void Free(void* p, std::size_t bytes) noexcept override;

 private:
  unsigned arena_ = 0;
  bool valid_ = false;
};

}  // namespace ebb::allocator

#endif  // EBB_ALLOCATOR_JEMALLOC_BACKING_H_
