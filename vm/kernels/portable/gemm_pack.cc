#include <algorithm>
#include <cstring>

#include "vm/kernels/portable/gemm.h"
#include "vm/kernels/portable/gemm_elements.h"
#include "vm/kernels/portable/target.h"

namespace ebb::kernels {
namespace {

// Lanes stand side by side in memory: rows are copied whole, and a row of the
// source is read once for all panels.
template <class T>
void PackRows(DType dtype, const void* data, int64_t offset,
              int64_t depth_stride, int64_t lanes, int64_t depth, int64_t width,
              T* panels) {
  const bool half = IsHalf(dtype);
  for (int64_t p = 0; p < depth; ++p) {
    const int64_t row = offset + p * depth_stride;
    T* to = panels + p * width;
    for (int64_t lane = 0; lane < lanes; lane += width) {
      const int64_t count = std::min(width, lanes - lane);
      if (half) {
        LoadRow<T>(dtype, data, row + lane, 1, count, to);
      } else {
        const T* from = static_cast<const T*>(data) + row + lane;
        for (int64_t i = 0; i < count; ++i) to[i] = from[i];
      }
      for (int64_t i = count; i < width; ++i) to[i] = T{0};
      to += depth * width;
    }
  }
}

// Transposes a chunk of `depth` elements of every lane of one panel. Four
// lanes at a time make the stores meet in the same cache lines.
template <class T>
EBB_ALWAYS_INLINE void TransposeLanes(const T* from, int64_t lane_stride,
                                      int64_t depth_stride, int64_t lanes,
                                      int64_t depth, int64_t width, T* panel) {
  int64_t lane = 0;
  for (; lane + 4 <= lanes; lane += 4) {
    const T* r0 = from + lane * lane_stride;
    const T* r1 = r0 + lane_stride;
    const T* r2 = r1 + lane_stride;
    const T* r3 = r2 + lane_stride;
    T* to = panel + lane;
    for (int64_t p = 0; p < depth; ++p) {
      to[0] = r0[p * depth_stride];
      to[1] = r1[p * depth_stride];
      to[2] = r2[p * depth_stride];
      to[3] = r3[p * depth_stride];
      to += width;
    }
  }
  for (; lane < lanes; ++lane) {
    const T* row = from + lane * lane_stride;
    for (int64_t p = 0; p < depth; ++p) {
      panel[p * width + lane] = row[p * depth_stride];
    }
  }
  for (; lane < width; ++lane) {
    for (int64_t p = 0; p < depth; ++p) panel[p * width + lane] = T{0};
  }
}

template <class T>
void PackLanes(const T* from, int64_t lane_stride, int64_t depth_stride,
               int64_t lanes, int64_t depth, int64_t width, T* panels) {
  for (int64_t lane = 0; lane < lanes; lane += width) {
    const int64_t count = std::min(width, lanes - lane);
    const T* at = from + lane * lane_stride;
    if (depth_stride == 1) {
      TransposeLanes(at, lane_stride, 1, count, depth, width, panels);
    } else {
      TransposeLanes(at, lane_stride, depth_stride, count, depth, width,
                     panels);
    }
    panels += depth * width;
  }
}

template <class T>
void PackHalfLanes(DType dtype, const void* data, int64_t offset,
                   int64_t lane_stride, int64_t depth_stride, int64_t lanes,
                   int64_t depth, int64_t width, T* panels) {
  constexpr int64_t kChunk = 256;
  T row[kChunk];
  for (int64_t lane = 0; lane < lanes; lane += width) {
    for (int64_t i = 0; i < width; ++i) {
      if (lane + i >= lanes) {
        for (int64_t p = 0; p < depth; ++p) panels[p * width + i] = T{0};
        continue;
      }
      const int64_t start = offset + (lane + i) * lane_stride;
      for (int64_t p = 0; p < depth; p += kChunk) {
        const int64_t count = std::min(kChunk, depth - p);
        LoadRow<T>(dtype, data, start + p * depth_stride, depth_stride, count,
                   row);
        for (int64_t q = 0; q < count; ++q) {
          panels[(p + q) * width + i] = row[q];
        }
      }
    }
    panels += depth * width;
  }
}

}  // namespace

template <class T>
void PackPanels(DType dtype, const void* data, int64_t offset,
                int64_t lane_stride, int64_t depth_stride, int64_t lanes,
                int64_t depth, int64_t width, T* panels) {
  if (lane_stride == 1) {
    PackRows(dtype, data, offset, depth_stride, lanes, depth, width, panels);
  } else if (IsHalf(dtype)) {
    PackHalfLanes(dtype, data, offset, lane_stride, depth_stride, lanes, depth,
                  width, panels);
  } else {
    PackLanes(static_cast<const T*>(data) + offset, lane_stride, depth_stride,
              lanes, depth, width, panels);
  }
}

#define EBB_INSTANTIATE(T)                                                   \
  template void PackPanels<T>(DType, const void*, int64_t, int64_t, int64_t, \
                              int64_t, int64_t, int64_t, T*);
EBB_INSTANTIATE(float)
EBB_INSTANTIATE(double)
EBB_INSTANTIATE(uint32_t)
EBB_INSTANTIATE(uint64_t)
#undef EBB_INSTANTIATE

}  // namespace ebb::kernels
