#include "vm/kernels/portable/gemm.h"

#include <algorithm>
#include <cstring>

#include "vm/kernels/portable/gemm_elements.h"

namespace ebb::kernels {
namespace {

// A block of depth keeps a panel of B in the first cache, a block of A in the
// second; blocks of B are bounded because scratch counts for the peak.
constexpr int64_t kDepth = 320;
constexpr int64_t kABytes = 256 << 10;
constexpr int64_t kBBytes = 1 << 20;
constexpr int64_t kTileLimitBytes = 256 << 10;
// Up to this many rows B is read where it stands. Few rows of it at a time,
// each from end to end: that many streams the prefetcher follows, while down
// a narrow strip it cannot (1x4096x4096: 3 times slower).
constexpr int64_t kDirectRows = 48;
constexpr int64_t kDirectDepth = 16;
// Largest rows x columns of any micro-kernel, for a tile at an edge.
constexpr int64_t kEdgeElements = 512;

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Cuts `extent` into blocks of about equal size, at most `limit` each, that
// are multiples of `grain`.
int64_t BlockSize(int64_t extent, int64_t limit, int64_t grain) {
  limit = std::max(limit / grain * grain, grain);
  const int64_t blocks = std::max<int64_t>((extent + limit - 1) / limit, 1);
  return std::max(RoundUp((extent + blocks - 1) / blocks, grain), grain);
}

}  // namespace

template <class T>
struct GemmPlan<T>::Block {
  int64_t m, rows;
  int64_t n, columns;
  int64_t p, depth;
  T* c;  // Element [m, n].
  int64_t c_stride;
};

template <class T>
GemmPlan<T>::GemmPlan(const GemmSettings& settings) : settings_(settings) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  const int64_t m = std::max<int64_t>(settings.m, 1);
  const int64_t n = std::max<int64_t>(settings.n, 1);
  const int64_t k = std::max<int64_t>(settings.k, 1);
  const int64_t whole_m = std::max(settings.whole_m, m);
  kernel_ = &ChooseMicroKernel<T>(m, n);
  const bool widened_a = IsHalf(settings.a_dtype);
  const bool widened_b = IsHalf(settings.b_dtype);
  if (!widened_a && !widened_b && whole_m <= 2 && settings.b.row_stride == 1 &&
      settings.b.column_stride != 1) {
    mode_ = Mode::kDot;
  } else if (!widened_b && settings.b.column_stride == 1 &&
             whole_m <= kDirectRows) {
    mode_ = Mode::kDirectB;
  }
  a_in_place_ = kernel_->rows == 1 && !widened_a;

  k_block_ = BlockSize(k, mode_ == Mode::kDirectB ? kDirectDepth : kDepth, 1);
  m_block_ = BlockSize(m, kABytes / kBytes / k_block_, kernel_->rows);
  n_block_ = BlockSize(n, kBBytes / kBytes / k_block_, kernel_->columns);
  if (settings.tile_output) {
    n_block_ = BlockSize(n, std::min<int64_t>(n_block_, 512), kernel_->columns);
    m_block_ =
        BlockSize(m, std::min(m_block_, kTileLimitBytes / kBytes / n_block_),
                  kernel_->rows);
    tile_elements_ = RoundUp(m_block_ * n_block_, 64 / kBytes);
  }
  if (mode_ == Mode::kDot) {
    // Its rows of A are copied only when they have gaps.
    a_elements_ = RoundUp(k, 64 / kBytes);
  } else {
    a_elements_ = RoundUp(m_block_ * k_block_, 64 / kBytes);
    b_elements_ = RoundUp(
        (mode_ == Mode::kDirectB ? kernel_->columns : n_block_) * k_block_,
        64 / kBytes);
    offsets_.resize(k_block_);
    for (int64_t p = 0; p < k_block_; ++p) offsets_[p] = p * kernel_->columns;
  }
  if (mode_ == Mode::kDirectB) {
    plain_offsets_.resize(k_block_);
    for (int64_t p = 0; p < k_block_; ++p) {
      plain_offsets_[p] = p * settings.b.row_stride;
    }
  }
  scratch_bytes_ = (a_elements_ + b_elements_ + tile_elements_) * kBytes;
}

template <class T>
void GemmPlan<T>::Run(const GemmSlice<T>& slice, std::byte* scratch) const {
  T* at = reinterpret_cast<T*>(scratch);
  if (mode_ == Mode::kDot) {
    RunDot(slice, at);
  } else {
    RunBlocks(slice, at);
  }
}

template <class T>
void GemmPlan<T>::RunDot(const GemmSlice<T>& slice, T* scratch) const {
  const DotKernel<T> dot = DotKernelOf<T>();
  T* tile = scratch + a_elements_;
  for (int64_t i = slice.m_begin; i < slice.m_end; ++i) {
    const T* row = static_cast<const T*>(slice.a.data) + i * slice.a.row_stride;
    if (slice.a.column_stride != 1) {
      LoadRow<T>(settings_.a_dtype, slice.a.data, i * slice.a.row_stride,
                 slice.a.column_stride, settings_.k, scratch);
      row = scratch;
    }
    for (int64_t n = slice.n_begin; n < slice.n_end; n += n_block_) {
      const int64_t columns = std::min(n_block_, slice.n_end - n);
      T* c = settings_.tile_output ? tile : slice.c + i * slice.c_stride + n;
      dot(settings_.k, row,
          static_cast<const T*>(slice.b.data) + n * slice.b.column_stride,
          slice.b.column_stride, columns, c);
      if (slice.finish.run != nullptr) {
        slice.finish.run(slice.finish.context, c, slice.c_stride, i, 1, n,
                         columns);
      }
    }
  }
}

template <class T>
void GemmPlan<T>::RunBlocks(const GemmSlice<T>& slice, T* scratch) const {
  T* a_panels = scratch;
  T* b_panels = a_panels + a_elements_;
  T* tile = b_panels + b_elements_;
  // A tile in scratch must be finished before the next one is begun, so the
  // blocks of depth stand inside the blocks of rows; otherwise outside, and B
  // is packed once.
  const int64_t m_outer =
      settings_.tile_output ? m_block_ : slice.m_end - slice.m_begin;
  for (int64_t n = slice.n_begin; n < slice.n_end; n += n_block_) {
    const int64_t columns = std::min(n_block_, slice.n_end - n);
    for (int64_t mo = slice.m_begin; mo < slice.m_end; mo += m_outer) {
      const int64_t mo_end = std::min(mo + m_outer, slice.m_end);
      // One turn even without depth: the product is zero then.
      for (int64_t p = 0; p == 0 || p < settings_.k; p += k_block_) {
        const int64_t depth = std::min(k_block_, settings_.k - p);
        if (mode_ == Mode::kPackB) {
          PackPanels<T>(settings_.b_dtype, slice.b.data,
                        p * slice.b.row_stride + n * slice.b.column_stride,
                        slice.b.column_stride, slice.b.row_stride, columns,
                        depth, kernel_->columns, b_panels);
        }
        for (int64_t m = mo; m < mo_end; m += m_block_) {
          Block block{.m = m,
                      .rows = std::min(m_block_, mo_end - m),
                      .n = n,
                      .columns = columns,
                      .p = p,
                      .depth = depth,
                      .c = tile,
                      .c_stride = n_block_};
          if (!settings_.tile_output) {
            block.c = slice.c + m * slice.c_stride + n;
            block.c_stride = slice.c_stride;
          }
          RunBlock(slice, block, a_panels, b_panels, b_panels);
          if (p + depth >= settings_.k && slice.finish.run != nullptr) {
            slice.finish.run(slice.finish.context, block.c, block.c_stride, m,
                             block.rows, n, columns);
          }
        }
      }
    }
  }
}

template <class T>
const T* GemmPlan<T>::PackA(const GemmSlice<T>& slice, const Block& block,
                            T* panels) const {
  const int64_t offset =
      block.m * slice.a.row_stride + block.p * slice.a.column_stride;
  if (a_in_place_ && block.rows == 1 && slice.a.column_stride == 1) {
    return static_cast<const T*>(slice.a.data) + offset;
  }
  PackPanels<T>(settings_.a_dtype, slice.a.data, offset, slice.a.row_stride,
                slice.a.column_stride, block.rows, block.depth, kernel_->rows,
                panels);
  return panels;
}

template <class T>
void GemmPlan<T>::RunBlock(const GemmSlice<T>& slice, const Block& block,
                           T* a_panels, const T* b_panels,
                           T* edge_panel) const {
  const T* a = PackA(slice, block, a_panels);
  const int64_t rows = kernel_->rows;
  const int64_t columns = kernel_->columns;
  const bool accumulate = block.p > 0;
  for (int64_t j = 0; j < block.columns; j += columns) {
    const int64_t wide = std::min(columns, block.columns - j);
    const T* b = b_panels + j * block.depth;
    const int64_t* offsets = offsets_.data();
    if (mode_ == Mode::kDirectB) {
      const int64_t at = block.p * slice.b.row_stride + block.n + j;
      if (wide == columns) {
        b = static_cast<const T*>(slice.b.data) + at;
        offsets = plain_offsets_.data();
      } else {
        PackPanels<T>(settings_.b_dtype, slice.b.data, at, 1,
                      slice.b.row_stride, wide, block.depth, columns,
                      edge_panel);
        b = edge_panel;
      }
    }
    for (int64_t i = 0; i < block.rows; i += rows) {
      const int64_t high = std::min(rows, block.rows - i);
      T* c = block.c + i * block.c_stride + j;
      const T* panel = a + i * block.depth;
      if (high == rows && wide == columns) {
        kernel_->run(block.depth, panel, b, offsets, c, block.c_stride,
                     accumulate);
        continue;
      }
      T edge[kEdgeElements];
      kernel_->run(block.depth, panel, b, offsets, edge, columns, false);
      for (int64_t r = 0; r < high; ++r) {
        for (int64_t q = 0; q < wide; ++q) {
          T& to = c[r * block.c_stride + q];
          to = accumulate ? to + edge[r * columns + q] : edge[r * columns + q];
        }
      }
    }
  }
}

template class GemmPlan<float>;
template class GemmPlan<double>;
template class GemmPlan<uint32_t>;
template class GemmPlan<uint64_t>;

}  // namespace ebb::kernels
