#include "allocator/allocator.h"

#include <new>

#include "allocator/naive_allocator.h"
#include "allocator/pool.h"
#include "allocator/size_bucket_allocator.h"

namespace ebb::allocator {

Allocator::~Allocator() = default;

std::unique_ptr<Allocator> MakeAllocator(Kind kind, Backing& backing,
                                         uint64_t limit_bytes) {
  Allocator* made = nullptr;
  switch (kind) {
    case Kind::kPool:
      made = new (std::nothrow) Pool(backing, {.limit_bytes = limit_bytes});
      break;
    case Kind::kNaive:
      made = new (std::nothrow) NaiveAllocator(backing, limit_bytes);
      break;
    case Kind::kSizeBucket:
      made = new (std::nothrow) SizeBucketAllocator(backing, limit_bytes);
      break;
  }
  return std::unique_ptr<Allocator>(made);
}

}  // namespace ebb::allocator
