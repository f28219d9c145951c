#include "vm/kernels/portable/strided_copy.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>

#include "vm/kernels/portable/element.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/transpose_block.h"

namespace ebb::kernels {
namespace {

// A block of 128 x 128 elements is a slice's worth, and its rows on both
// sides are whole cache lines.
constexpr int64_t kBlock = 128;

template <class T>
void CopyRun(const T* from, int64_t from_stride, T* to, int64_t to_stride,
             int64_t n) {
  if (to_stride == 1 && from_stride == 1) {
    std::memcpy(to, from, n * sizeof(T));
  } else if (to_stride == 1 && from_stride == 0) {
    std::fill_n(to, n, *from);
  } else if (to_stride == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * from_stride];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
  }
}

}  // namespace

StridedCopy::StridedCopy(int element_bytes, std::span<const int64_t> dims,
                         std::span<const int64_t> to_strides,
                         std::span<const int64_t> from_strides)
    : element_bytes_(element_bytes), count_(1) {
  assert(dims.size() <= kMaxWalkRank);
  for (const int64_t dim : dims) count_ *= dim;
  if (count_ == 0) return;

  std::array<Dim, kMaxWalkRank> kept;
  int kept_count = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] != 1) {
      kept[kept_count++] = {dims[d], to_strides[d], from_strides[d]};
    }
  }
  // No two dims that are left share a stride of the target.
  std::sort(kept.begin(), kept.begin() + kept_count,
            [](const Dim& a, const Dim& b) {
              return std::abs(a.to) > std::abs(b.to);
            });
  for (int d = 0; d < kept_count; ++d) {
    const Dim& dim = kept[d];
    if (rank_ > 0) {
      Dim& last = dims_[rank_ - 1];
      if (last.to == dim.to * dim.size && last.from == dim.from * dim.size) {
        last = {last.size * dim.size, dim.to, dim.from};
        continue;
      }
    }
    dims_[rank_++] = dim;
  }
  slice_count_ = CeilDiv(count_, kSliceElements);
  ChooseTransposed();
}

void StridedCopy::ChooseTransposed() {
  if (rank_ < 2) return;
  const Dim& last = dims_[rank_ - 1];
  if (last.to != 1 || last.from == 1 || last.from == 0) return;
  for (int d = 0; d < rank_ - 1; ++d) {
    if (dims_[d].from != 1) continue;
    std::rotate(dims_.begin() + d, dims_.begin() + d + 1,
                dims_.begin() + rank_ - 1);
    transposed_ = true;
    const Dim& i = dims_[rank_ - 2];
    const Dim& j = dims_[rank_ - 1];
    slice_count_ = count_ / (i.size * j.size) * CeilDiv(i.size, kBlock) *
                   CeilDiv(j.size, kBlock);
    return;
  }
}

template <class T>
void StridedCopy::RunRows(const T* from, T* to, int64_t begin,
                          int64_t end) const {
  // A scalar: one row of one element.
  const Dim row = rank_ == 0 ? Dim{1, 1, 1} : dims_[rank_ - 1];
  std::array<int64_t, kMaxWalkRank> index;
  int64_t rest = begin / row.size;
  int64_t column = begin % row.size;
  for (int d = rank_ - 1; d-- > 0;) {
    index[d] = rest % dims_[d].size;
    rest /= dims_[d].size;
    from += index[d] * dims_[d].from;
    to += index[d] * dims_[d].to;
  }
  for (int64_t left = end - begin; left > 0;) {
    const int64_t run = std::min(left, row.size - column);
    CopyRun(from + column * row.from, row.from, to + column * row.to, row.to,
            run);
    left -= run;
    column = 0;
    for (int d = rank_ - 1; d-- > 0;) {
      from += dims_[d].from;
      to += dims_[d].to;
      if (++index[d] < dims_[d].size) break;
      from -= dims_[d].size * dims_[d].from;
      to -= dims_[d].size * dims_[d].to;
      index[d] = 0;
    }
  }
}

template <class T>
void StridedCopy::RunBlocks(const T* from, T* to, int64_t begin,
                            int64_t end) const {
  const Dim& i = dims_[rank_ - 2];
  const Dim& j = dims_[rank_ - 1];
  const int64_t i_blocks = CeilDiv(i.size, kBlock);
  const int64_t j_blocks = CeilDiv(j.size, kBlock);
  for (int64_t slice = begin; slice < end; ++slice) {
    const int64_t j0 = slice % j_blocks * kBlock;
    const int64_t i0 = slice / j_blocks % i_blocks * kBlock;
    int64_t rest = slice / j_blocks / i_blocks;
    const T* block_from = from + i0 + j0 * j.from;
    T* block_to = to + i0 * i.to + j0;
    for (int d = rank_ - 2; d-- > 0;) {
      const int64_t at = rest % dims_[d].size;
      rest /= dims_[d].size;
      block_from += at * dims_[d].from;
      block_to += at * dims_[d].to;
    }
    TransposeBlock(block_from, j.from, block_to, i.to,
                   std::min(kBlock, i.size - i0),
                   std::min(kBlock, j.size - j0));
  }
}

void StridedCopy::Run(const std::byte* from, std::byte* to, int64_t slice_begin,
                      int64_t slice_end) const {
  WithElementType(element_bytes_, [&]<class T>(T) {
    const T* source = reinterpret_cast<const T*>(from);
    T* target = reinterpret_cast<T*>(to);
    if (transposed_) {
      RunBlocks(source, target, slice_begin, slice_end);
    } else {
      RunRows(source, target, slice_begin * kSliceElements,
              std::min(slice_end * kSliceElements, count_));
    }
  });
}

}  // namespace ebb::kernels
