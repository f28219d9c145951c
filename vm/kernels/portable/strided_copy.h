// Copies a tensor between any two sets of strides: what Transpose, Slice,
// Concat, Split, Expand, Tile and the making of dense copies come down to. The
// dims are put in the order of the target's memory and merged; runs that are
// dense on both sides become memcpy, and where source and target disagree on
// the fastest dim the copy goes by blocks that stay in cache, transposed in
// registers. Immutable after construction; slices are independent.
//
//   StridedCopy copy(4, dims, to_strides, from_strides);
//   copy.Run(from, to, 0, copy.slice_count());
#ifndef EBB_VM_KERNELS_PORTABLE_STRIDED_COPY_H_
#define EBB_VM_KERNELS_PORTABLE_STRIDED_COPY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "vm/kernels/portable/walk.h"

namespace ebb::kernels {

class StridedCopy {
 public:
  StridedCopy() = default;
  // `element_bytes` is 1, 2, 4, 8 or 16; strides count elements, and a source
  // stride may be 0. At most kMaxWalkRank dims.
  StridedCopy(int element_bytes, std::span<const int64_t> dims,
              std::span<const int64_t> to_strides,
              std::span<const int64_t> from_strides);

  void Run(const std::byte* from, std::byte* to, int64_t slice_begin,
           int64_t slice_end) const;

  int64_t slice_count() const { return slice_count_; }
  int64_t bytes() const { return count_ * element_bytes_; }

 private:
  struct Dim {
    int64_t size;
    int64_t to;
    int64_t from;
  };
  void ChooseTransposed();
  template <class T>
  void RunRows(const T* from, T* to, int64_t begin, int64_t end) const;
  template <class T>
  void RunBlocks(const T* from, T* to, int64_t begin, int64_t end) const;

  int element_bytes_ = 1;
  int rank_ = 0;
  int64_t count_ = 0;
  int64_t slice_count_ = 0;
  // The last two dims are copied by blocks: the target is dense along the
  // last, the source along the one before.
  bool transposed_ = false;
  std::array<Dim, kMaxWalkRank> dims_;
};

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_STRIDED_COPY_H_
