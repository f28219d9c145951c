#include "vm/kernels/portable/conv_slab.h"

#include <algorithm>

#include "vm/kernels/portable/gemm_elements.h"
#include "vm/kernels/portable/request.h"

namespace ebb::kernels {
namespace {

// Elements j of a slab row that lie inside the input.
struct Inside {
  int64_t begin, end;
};

Inside InsideOf(int64_t first, int64_t step, int64_t extent, int64_t count) {
  // Input places are first + j * step.
  const int64_t begin = first >= 0 ? 0 : CeilDiv(-first, step);
  const int64_t end = first >= extent ? 0 : CeilDiv(extent - first, step);
  const int64_t low = std::min(begin, count);
  return {low, std::max(low, std::min(end, count))};
}

template <class T>
void FillRow(DType dtype, const void* input, int64_t offset, int64_t stride,
             Inside inside, int64_t count, T* row) {
  for (int64_t j = 0; j < inside.begin; ++j) row[j] = T{0};
  if (inside.begin < inside.end) {
    LoadRow<T>(dtype, input, offset + inside.begin * stride, stride,
               inside.end - inside.begin, row + inside.begin);
  }
  for (int64_t j = inside.end; j < count; ++j) row[j] = T{0};
}

// The same row of `channels` channels that stand side by side in memory.
template <class T>
void FillChannels(DType dtype, const void* input, int64_t offset,
                  int64_t stride, Inside inside, int64_t count,
                  int64_t channels, int64_t channel_elements, T* row) {
  constexpr int64_t kChunk = 64;
  T values[kChunk];
  for (int64_t c = 0; c < channels; c += kChunk) {
    const int64_t many = std::min(kChunk, channels - c);
    T* to = row + c * channel_elements;
    for (int64_t i = 0; i < many; ++i) {
      T* channel_row = to + i * channel_elements;
      for (int64_t j = 0; j < inside.begin; ++j) channel_row[j] = T{0};
      for (int64_t j = inside.end; j < count; ++j) channel_row[j] = T{0};
    }
    for (int64_t j = inside.begin; j < inside.end; ++j) {
      const T* from = values;
      if (IsHalf(dtype)) {
        LoadRow<T>(dtype, input, offset + c + j * stride, 1, many, values);
      } else {
        from = static_cast<const T*>(input) + offset + c + j * stride;
      }
      for (int64_t i = 0; i < many; ++i) to[i * channel_elements + j] = from[i];
    }
  }
}

}  // namespace

template <class T>
void FillSlab(const ConvProblem& problem, const ConvPlan<T>& plan,
              const ConvTile& tile, int64_t channel, int64_t count,
              const void* input, T* slab) {
  const auto& [zs, ys, xs] = plan.planes;
  const ConvAxes& step = problem.input_step;
  const int64_t base =
      tile.batch * problem.in.batch +
      (tile.group * problem.in_channels + channel) * problem.in.channel;
  const bool channels_last =
      problem.in.channel == 1 && problem.in.axes[2] != 1 && count > 1;
  const int64_t passes = channels_last ? 1 : count;
  const int64_t wide = plan.pitch;
  for (int64_t c = 0; c < passes; ++c) {
    T* plane = slab + c * plan.channel_elements;
    for (const int64_t z_start : zs.starts) {
      const int64_t z = tile.z * step[0] + z_start;
      const bool z_inside = z >= 0 && z < problem.input[0];
      for (const int64_t y_start : ys.starts) {
        for (const int64_t x_start : xs.starts) {
          const int64_t x = tile.x * step[2] + x_start;
          const int64_t stride = step[2] * problem.in.axes[2];
          const Inside columns = InsideOf(x, step[2], problem.input[2], wide);
          // Rows below the tile (a last, shorter one) are not looked at.
          const int64_t rows = tile.rows + ys.halo;
          for (int64_t r = 0; r < rows; ++r) {
            const int64_t y = (tile.y + r) * step[1] + y_start;
            T* row = plane + r * wide;
            const bool inside = z_inside && y >= 0 && y < problem.input[1];
            const Inside filled = inside ? columns : Inside{0, 0};
            const int64_t offset =
                base + c * problem.in.channel + z * problem.in.axes[0] +
                y * problem.in.axes[1] + x * problem.in.axes[2];
            if (channels_last) {
              FillChannels(problem.dtype, input, offset, stride, filled, wide,
                           count, plan.channel_elements, row);
            } else {
              FillRow(problem.dtype, input, offset, stride, filled, wide, row);
            }
          }
          plane += plan.plane_elements;
        }
      }
    }
  }
}

template <class T>
void StoreSums(const ConvProblem& problem, const ConvPhase& phase,
               const ConvPlan<T>& plan, const ConvTile& tile, int64_t m,
               int64_t count, const void* bias, T* sums, void* output) {
  const int64_t first = tile.group * problem.out_channels + m;
  const auto place = [&](int64_t r, int64_t j) {
    const std::array<int64_t, kConvAxes> q = {tile.z, tile.y + r, tile.x + j};
    int64_t offset =
        tile.batch * problem.out.batch + first * problem.out.channel;
    for (std::size_t a = 0; a < kConvAxes; ++a) {
      offset += (phase.begin[a] + q[a] * phase.step[a]) * problem.out.axes[a];
    }
    return offset;
  };
  const int64_t stride = phase.step[2] * problem.out.axes[2];
  for (int64_t i = 0; i < count && bias != nullptr; ++i) {
    T value;
    LoadRow<T>(problem.dtype, bias, first + i, 1, 1, &value);
    T* row = sums + i * plan.places;
    const int64_t visible = tile.rows * plan.pitch;
    for (int64_t j = 0; j < visible; ++j) row[j] += value;
  }
  if (problem.out.channel == 1 && stride != 1 && count > 1) {
    constexpr int64_t kChunk = 64;
    T values[kChunk];
    for (int64_t r = 0; r < tile.rows; ++r) {
      for (int64_t j = 0; j < tile.columns; ++j) {
        const T* from = sums + r * plan.pitch + j;
        for (int64_t i = 0; i < count; i += kChunk) {
          const int64_t many = std::min(kChunk, count - i);
          for (int64_t q = 0; q < many; ++q) {
            values[q] = from[(i + q) * plan.places];
          }
          StoreRow<T>(problem.dtype, values, many, output, place(r, j) + i, 1);
        }
      }
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t r = 0; r < tile.rows; ++r) {
      StoreRow<T>(problem.dtype, sums + i * plan.places + r * plan.pitch,
                  tile.columns, output, place(r, 0) + i * problem.out.channel,
                  stride);
    }
  }
}

#define EBB_INSTANTIATE(T)                                                  \
  template void FillSlab<T>(const ConvProblem&, const ConvPlan<T>&,         \
                            const ConvTile&, int64_t, int64_t, const void*, \
                            T*);                                            \
  template void StoreSums<T>(const ConvProblem&, const ConvPhase&,          \
                             const ConvPlan<T>&, const ConvTile&, int64_t,  \
                             int64_t, const void*, T*, void*);
EBB_INSTANTIATE(float)
EBB_INSTANTIATE(double)
#undef EBB_INSTANTIATE

}  // namespace ebb::kernels
