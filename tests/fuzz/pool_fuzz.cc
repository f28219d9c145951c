// The pool under any sequence of commands: two bytes each, what and how much.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "allocator/pool.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ebb::allocator;
  if (size == 0) return 0;
  MmapBacking pages;
  MallocBacking blocks;
  Backing& backing = data[0] % 2 == 0 ? static_cast<Backing&>(pages) : blocks;
  Pool pool(backing, {.limit_bytes = data[0] / 2 * 65536u});
  std::vector<std::pair<void*, size_t>> live;
  for (size_t i = 1; i + 1 < size; i += 2) {
    const size_t bytes = size_t{data[i + 1]} << (data[i] % 16);
    if (data[i] < 128) {
      if (void* p = pool.Allocate(bytes)) live.emplace_back(p, bytes);
    } else if (data[i] < 250 && !live.empty()) {
      std::swap(live[data[i + 1] % live.size()], live.back());
      pool.Free(live.back().first, live.back().second);
      live.pop_back();
    } else {
      data[i] % 2 == 0 ? pool.Trim() : pool.Tick();
    }
    if (!pool.CheckInvariants()) std::abort();
  }
  for (auto [p, bytes] : live) pool.Free(p, bytes);
  return 0;
}
