#include "allocator/jemalloc_backing.h"

#include <jemalloc/jemalloc.h>
#include <sys/types.h>

#include <cassert>
#include <cstdio>

#include "allocator/allocator.h"

namespace ebb::allocator {
namespace {

void SetArenaOption(unsigned arena, const char* option, ssize_t value) {
  char name[64];
  std::snprintf(name, sizeof(name), "arena.%u.%s", arena, option);
  mallctl(name, nullptr, nullptr, &value, sizeof(value));
}

}  // namespace

JemallocBacking::JemallocBacking() noexcept {
  std::size_t size = sizeof(arena_);
  valid_ = mallctl("arenas.create", &arena_, &size, nullptr, 0) == 0;
  if (!valid_) return;
  SetArenaOption(arena_, "dirty_decay_ms", 0);
  SetArenaOption(arena_, "muzzy_decay_ms", 0);
}

JemallocBacking::~JemallocBacking() {
  if (!valid_) return;
  char name[64];
  std::snprintf(name, sizeof(name), "arena.%u.destroy", arena_);
  mallctl(name, nullptr, nullptr, nullptr, 0);
}

void* JemallocBacking::Allocate(std::size_t bytes, std::size_t align) noexcept {
  // One alignment for all blocks, so that Free can name the size class.
  assert(align <= kGranuleBytes);
  static_cast<void>(align);
  if (!valid_) return nullptr;
  // Without the thread's cache: blocks here are big and rare.
  return mallocx(bytes, MALLOCX_ALIGN(kGranuleBytes) | MALLOCX_ARENA(arena_) |
                            MALLOCX_TCACHE_NONE);
}

void JemallocBacking::Free(void* p, std::size_t bytes) noexcept {
  sdallocx(p, bytes, MALLOCX_ALIGN(kGranuleBytes) | MALLOCX_TCACHE_NONE);
}

}  // namespace ebb::allocator
