// A backing for tests of what allocators ask of theirs.
//
// Passes everything on to another backing, which it borrows; counts the calls
// and refuses once `bytes_left` is used up.
//
//   WatchedBacking backing(pages);
//   backing.bytes_left = 0;  // out of memory from here on

#ifndef EBB_TESTS_ALLOCATOR_WATCHED_BACKING_H_
#define EBB_TESTS_ALLOCATOR_WATCHED_BACKING_H_

#include <cstddef>
#include <cstdint>

#include "allocator/backing.h"

namespace ebb::allocator {

class WatchedBacking final : public Backing {
 public:
  explicit WatchedBacking(Backing& inner) : inner_(inner) {}

  void* Allocate(std::size_t bytes, std::size_t align) noexcept override {
    ++call_count;
    if (bytes_left < bytes) return nullptr;
    bytes_left -= bytes;
    return inner_.Allocate(bytes, align);
  }
  void Free(void* p, std::size_t bytes) noexcept override {
    ++call_count;
    bytes_left += bytes;
    inner_.Free(p, bytes);
  }
  AddressRange Reserve(std::size_t max_bytes) noexcept override {
    return inner_.Reserve(max_bytes);
  }
  bool Commit(void* p, std::size_t bytes) noexcept override {
    ++call_count;
    return bytes_left >= bytes && inner_.Commit(p, bytes);
  }
  void Decommit(void* p, std::size_t bytes) noexcept override {
    ++call_count;
    inner_.Decommit(p, bytes);
  }
  void Release(AddressRange range) noexcept override { inner_.Release(range); }

  int call_count = 0;
  std::size_t bytes_left = SIZE_MAX / 2;

 private:
  Backing& inner_;
};

}  // namespace ebb::allocator

#endif  // EBB_TESTS_ALLOCATOR_WATCHED_BACKING_H_
