#include "vm/handle_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ebb::vm {

const Handle* HandleCache::Find(bytecode::SiteId site,
                                std::span<const int64_t> key) {
  auto& handles = sites_[site.index()];
  for (std::size_t i = 0; i < handles.size(); ++i) {
    const std::vector<int64_t>& known = handles[i]->key;
    if (known.size() != key.size() ||
        std::memcmp(known.data(), key.data(), key.size_bytes()) != 0) {
      continue;
    }
    ++hits_;
    if (i != 0) {
      const auto at = handles.begin() + static_cast<std::ptrdiff_t>(i);
      std::rotate(handles.begin(), at, at + 1);
    }
    return handles.front().get();
  }
  ++misses_;
  return nullptr;
}

const Handle* HandleCache::Insert(bytecode::SiteId site,
                                  std::unique_ptr<Handle> handle) {
  auto& handles = sites_[site.index()];
  if (!handles.empty() && (handles.size() >= per_site_ || size_ >= total_)) {
    handles.pop_back();
    --size_;
    ++evictions_;
  }
  handles.insert(handles.begin(), std::move(handle));
  ++size_;
  return handles.front().get();
}

void HandleCache::Clear() {
  for (auto& handles : sites_) {
    handles.clear();
    handles.shrink_to_fit();
  }
  size_ = 0;
}

}  // namespace ebb::vm
