#include "allocator/size_bucket_allocator.h"

#include <boost/intrusive/set.hpp>
#include <new>

namespace ebb::allocator {
namespace {

namespace intrusive = boost::intrusive;

// Rounds up to pages; what cannot be rounded no backing could serve.
std::size_t RoundToPages(std::size_t bytes) {
  constexpr std::size_t kMask = SizeBucketAllocator::kPageBytes - 1;
  return bytes > SIZE_MAX - kMask ? SIZE_MAX & ~kMask
                                  : (bytes + kMask) & ~kMask;
}

}  // namespace

// Lies in the free block itself.
struct SizeBucketAllocator::FreeBlock
    : intrusive::set_base_hook<intrusive::link_mode<intrusive::normal_link>> {
  explicit FreeBlock(std::size_t size) : bytes(size) {}
  std::size_t bytes;
};

struct SizeOf {
  using type = std::size_t;
  template <typename Block>
  type operator()(const Block& block) const {
    return block.bytes;
  }
};

// All the free lists, the one of a size being a run of equal keys.
class SizeBucketAllocator::Buckets
    : public intrusive::multiset<FreeBlock, intrusive::key_of_value<SizeOf>> {};

SizeBucketAllocator::SizeBucketAllocator(Backing& backing,
                                         uint64_t limit_bytes) noexcept
    : backing_(backing),
      limit_bytes_(limit_bytes),
      buckets_(new(std::nothrow) Buckets) {}

SizeBucketAllocator::~SizeBucketAllocator() { Trim(); }

bool SizeBucketAllocator::WouldPassLimit(std::size_t bytes) const {
  return limit_bytes_ != 0 &&
         (bytes > limit_bytes_ ||
          accounting_.reserved_bytes() > limit_bytes_ - bytes);
}

void* SizeBucketAllocator::Allocate(std::size_t bytes) noexcept {
  if (bytes == 0) return EmptyBuffer();
  const std::size_t block_bytes = RoundToPages(bytes);
  const std::size_t rounded = RoundToGranule(bytes);
  if (buckets_ != nullptr) {
    if (auto found = buckets_->find(block_bytes); found != buckets_->end()) {
      void* p = &*found;
      buckets_->erase(found);
      accounting_.Allocated(bytes, rounded, /*reused=*/true);
      return p;
    }
  }
  if (WouldPassLimit(block_bytes)) Trim();
  void* p = nullptr;
  if (!WouldPassLimit(block_bytes)) {
    p = backing_.Allocate(block_bytes, kGranuleBytes);
    if (p == nullptr) {
      Trim();
      p = backing_.Allocate(block_bytes, kGranuleBytes);
    }
  }
  if (p == nullptr) {
    accounting_.Failed();
    return nullptr;
  }
  accounting_.BackingAllocated();
  accounting_.SetReserved(accounting_.reserved_bytes() + block_bytes);
  accounting_.Allocated(bytes, rounded, /*reused=*/false);
  return p;
}

void SizeBucketAllocator::Free(void* p, std::size_t bytes) noexcept {
  if (p == nullptr || bytes == 0) return;
  const std::size_t block_bytes = RoundToPages(bytes);
  accounting_.Freed(bytes, RoundToGranule(bytes));
  if (buckets_ == nullptr) {
    backing_.Free(p, block_bytes);
    accounting_.BackingFreed();
    accounting_.SetReserved(accounting_.reserved_bytes() - block_bytes);
    return;
  }
  // Before its equals, so the block last freed is taken first.
  buckets_->insert_before(buckets_->lower_bound(block_bytes),
                          *new (p) FreeBlock(block_bytes));
}

void SizeBucketAllocator::Trim() noexcept {
  if (buckets_ == nullptr) return;
  while (!buckets_->empty()) {
    FreeBlock& block = *buckets_->begin();
    buckets_->erase(buckets_->begin());
    const std::size_t block_bytes = block.bytes;
    block.~FreeBlock();
    backing_.Free(&block, block_bytes);
    accounting_.BackingFreed();
    accounting_.SetReserved(accounting_.reserved_bytes() - block_bytes);
  }
}

void SizeBucketAllocator::set_limit_bytes(uint64_t limit) noexcept {
  limit_bytes_ = limit;
  if (limit != 0 && accounting_.reserved_bytes() > limit) Trim();
}

}  // namespace ebb::allocator
