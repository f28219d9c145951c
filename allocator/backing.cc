#include "allocator/backing.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>

namespace ebb::allocator {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
// A range smaller than this would be no better than single blocks.
constexpr std::size_t kLeastRangeBytes = std::size_t{16} << 20;

std::uintptr_t RoundUp(std::uintptr_t value, std::size_t to) {
  return (value + to - 1) & ~std::uintptr_t{to - 1};
}

std::uintptr_t RoundDown(std::uintptr_t value, std::size_t to) {
  return value & ~std::uintptr_t{to - 1};
}

// Maps `bytes` aligned to `align` by mapping more and cutting both ends off.
void* MapAligned(std::size_t bytes, std::size_t align, std::size_t page_bytes,
                 int protection, int flags) {
  const std::size_t spare = align > page_bytes ? align - page_bytes : 0;
  if (bytes > SIZE_MAX - spare) return nullptr;
  void* mapped = mmap(nullptr, bytes + spare, protection,
                      MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const auto from = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t begin = RoundUp(from, std::max(align, page_bytes));
  const std::size_t head = begin - from;
  if (head != 0) munmap(mapped, head);
  if (spare != head) {
    munmap(reinterpret_cast<void*>(begin + bytes), spare - head);
  }
  return reinterpret_cast<void*>(begin);
}

}  // namespace

Backing::~Backing() = default;

AddressRange Backing::Reserve(std::size_t) noexcept { return {}; }

bool Backing::Commit(void*, std::size_t) noexcept { return false; }

void Backing::Decommit(void*, std::size_t) noexcept {}

void Backing::Release(AddressRange) noexcept {}

MmapBacking::MmapBacking(Options options) noexcept
    : options_(options),
      page_bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {}

void* MmapBacking::Allocate(std::size_t bytes, std::size_t align) noexcept {
  assert(bytes != 0 && std::has_single_bit(align));
  if (bytes > SIZE_MAX - page_bytes_) return nullptr;
  return MapAligned(RoundUp(bytes, page_bytes_), align, page_bytes_,
                    PROT_READ | PROT_WRITE, 0);
}

void MmapBacking::Free(void* p, std::size_t bytes) noexcept {
  munmap(p, RoundUp(bytes, page_bytes_));
}

AddressRange MmapBacking::Reserve(std::size_t max_bytes) noexcept {
  std::size_t bytes = std::min(max_bytes, options_.range_bytes);
  bytes = RoundDown(bytes, kHugePageBytes);
  while (bytes >= kLeastRangeBytes) {
    void* base = MapAligned(bytes, kHugePageBytes, page_bytes_, PROT_NONE,
                            MAP_NORESERVE);
    if (base != nullptr)
      return {static_cast<std::byte*>(base), bytes, page_bytes_};
    bytes = RoundDown(bytes / 2, kHugePageBytes);
  }
  return {};
}

bool MmapBacking::Commit(void* p, std::size_t bytes) noexcept {
  if (mprotect(p, bytes, PROT_READ | PROT_WRITE) != 0) return false;
  if (!options_.huge_pages) return true;
  const auto from = reinterpret_cast<std::uintptr_t>(p);
  const std::uintptr_t begin = RoundUp(from, kHugePageBytes);
  const std::uintptr_t end = RoundDown(from + bytes, kHugePageBytes);
  // Advice only: where the system has no huge pages, small ones serve.
  if (begin < end) {
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  }
  return true;
}

void MmapBacking::Decommit(void* p, std::size_t bytes) noexcept {
  // Not MADV_FREE: with that the resident size stays up until the system is
  // short of memory, and the resident size is what users see.
  madvise(p, bytes, MADV_DONTNEED);
}

void MmapBacking::Release(AddressRange range) noexcept {
  munmap(range.base, range.bytes);
}

void* MallocBacking::Allocate(std::size_t bytes, std::size_t align) noexcept {
  // One alignment for all blocks, so that Free needs only the size.
  assert(align <= 64);
  static_cast<void>(align);
  return ::operator new(bytes, std::align_val_t{64}, std::nothrow);
}

void MallocBacking::Free(void* p, std::size_t bytes) noexcept {
  ::operator delete(p, bytes, std::align_val_t{64});
}

void* CallbackBacking::Allocate(std::size_t bytes, std::size_t align) noexcept {
  return callbacks_.allocate(callbacks_.user, bytes, align);
}

void CallbackBacking::Free(void* p, std::size_t bytes) noexcept {
  callbacks_.free(callbacks_.user, p, bytes);
}

}  // namespace ebb::allocator
