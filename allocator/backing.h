// Where the bytes come from: the seam between the allocators and the system.
//
// Every Backing gives whole blocks (Allocate, Free); frees carry the size, so
// no implementation has to look it up. A Backing may also offer a reserved
// address range (Reserve), of which pages are committed and given back one by
// one; the pool prefers that, for in one range every neighbour can be merged.
//
// The owner of a Backing keeps it alive longer than every allocator on it. All
// Backings here may be shared by allocators in several threads: they hold no
// state that changes (the embedder's callbacks must allow it too).
//
//   MmapBacking backing({.range_bytes = std::size_t{1} << 30});
//   AddressRange range = backing.Reserve(SIZE_MAX);
//   if (backing.Commit(range.base, 4096)) range.base[0] = std::byte{1};
//   backing.Release(range);

#ifndef EBB_ALLOCATOR_BACKING_H_
#define EBB_ALLOCATOR_BACKING_H_

#include <cstddef>
#include <cstdint>

namespace ebb::allocator {

// Reserved addresses; `base` is null when there are none.
struct AddressRange {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  std::size_t page_bytes = 1;  // the unit of Commit and Decommit
};

class Backing {
 public:
  Backing() = default;
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;
  virtual ~Backing();

  // Returns `bytes` (more than zero) aligned to `align` (a power of two), or
  // nullptr.
  [[nodiscard]] virtual void* Allocate(std::size_t bytes,
                                       std::size_t align) noexcept = 0;
  // `bytes` is what was given to Allocate.
  virtual void Free(void* p, std::size_t bytes) noexcept = 0;

  // Reserves addresses, at most `max_bytes` of them, that hold no memory yet.
  // By default there are none and the other three are never called.
  [[nodiscard]] virtual AddressRange Reserve(std::size_t max_bytes) noexcept;
  // Makes the whole pages [p, p + bytes) of a range usable. Memory is taken
  // when it is first touched.
  [[nodiscard]] virtual bool Commit(void* p, std::size_t bytes) noexcept;
  // Gives the memory of the committed whole pages [p, p + bytes) back. They
  // stay usable: the next touch takes fresh memory.
  virtual void Decommit(void* p, std::size_t bytes) noexcept;
  // Ends the range with all that it holds.
  virtual void Release(AddressRange range) noexcept;
};

// Anonymous pages of the system. The default of the runtime.
class MmapBacking final : public Backing {
 public:
  struct Options {
    // Addresses per range, not memory. Halved until the system agrees.
    std::size_t range_bytes = std::size_t{1} << 36;
    // Asks for 2 MiB pages where one Commit covers them whole: the first touch
    // costs a twentieth, and no byte more becomes resident.
    bool huge_pages = true;
  };

  MmapBacking() noexcept : MmapBacking(Options{}) {}
  explicit MmapBacking(Options options) noexcept;

  void* Allocate(std::size_t bytes, std::size_t align) noexcept override;
  void Free(void* p, std::size_t bytes) noexcept override;
  AddressRange Reserve(std::size_t max_bytes) noexcept override;
  bool Commit(void* p, std::size_t bytes) noexcept override;
  void Decommit(void* p, std::size_t bytes) noexcept override;
  void Release(AddressRange range) noexcept override;

 private:
  const Options options_;
  const std::size_t page_bytes_;
};

// The C++ heap.
class MallocBacking final : public Backing {
 public:
  void* Allocate(std::size_t bytes, std::size_t align) noexcept override;
  void Free(void* p, std::size_t bytes) noexcept override;
};

// The embedder's functions. They must not throw.
class CallbackBacking final : public Backing {
 public:
  struct Callbacks {
    void* (*allocate)(void* user, std::size_t bytes, std::size_t align);
    void (*free)(void* user, void* p, std::size_t bytes);
    void* user;
  };

  explicit CallbackBacking(Callbacks callbacks) noexcept
      : callbacks_(callbacks) {}

  void* Allocate(std::size_t bytes, std::size_t align) noexcept override;
  void Free(void* p, std::size_t bytes) noexcept override;

 private:
  const Callbacks callbacks_;
};

}  // namespace ebb::allocator

#endif  // EBB_ALLOCATOR_BACKING_H_
