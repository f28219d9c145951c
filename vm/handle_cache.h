// Prepared kernels of a session: per operator site those of the last few
// combinations of shapes. A key describes the operands so fully (dtypes, dims,
// strides, contents of value inputs, addresses of constants) that an equal key
// needs no check at all.
//
// Bounded: `per_site` handles a site, `total` in all; past the total a site
// that has one gives its oldest up. Belongs to one session's thread.
#ifndef EBB_VM_HANDLE_CACHE_H_
#define EBB_VM_HANDLE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bytecode/module.h"
#include "bytecode/shape_rules/rule.h"
#include "vm/kernels/kernel.h"
#include "vm/tensor_view.h"

namespace ebb::vm {

// An operator made ready for operands that look as its key says.
struct Handle {
  struct Input {
    bool is_tensor = false;            // Else absent, or a list.
    const std::byte* fixed = nullptr;  // A constant's bytes in another form.
    bool may_be_output = false;        // Output 0 may lie exactly here.
    Extent extent;
  };

  std::vector<int64_t> key;
  kernels::PreparedPtr kernel;
  std::vector<Input> inputs;
  std::vector<Extent> outputs;
  std::vector<Shaped<int64_t>> results;  // As the shape rule says.
};

class HandleCache {
 public:
  HandleCache(std::size_t site_count, uint32_t per_site, uint32_t total)
      : sites_(site_count),
        per_site_(per_site == 0 ? 1 : per_site),
        total_(total) {}

  // nullptr when there is none. Valid until the next Insert.
  const Handle* Find(bytecode::SiteId site, std::span<const int64_t> key);
  const Handle* Insert(bytecode::SiteId site, std::unique_ptr<Handle> handle);
  void Clear();

  uint64_t size() const { return size_; }
  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }
  uint64_t evictions() const { return evictions_; }

 private:
  // Latest use first.
  std::vector<std::vector<std::unique_ptr<Handle>>> sites_;
  std::size_t per_site_;
  std::size_t total_;
  uint64_t size_ = 0;
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
  uint64_t evictions_ = 0;
};

}  // namespace ebb::vm

#endif  // EBB_VM_HANDLE_CACHE_H_
