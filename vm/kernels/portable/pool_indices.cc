// MaxPool that also tells where each maximum stands: the flat index into a
// dense input of the logical dims, row-major or, with storage_order 1, with
// the spatial dims column-major. Of equal values the first in row-major order
// counts; a window without elements gives -1 and the lowest value.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "vm/kernels/portable/pool_window.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/scalar.h"

namespace ebb::kernels {
namespace {

template <class T>
T LowestOf() {
  if constexpr (std::is_same_v<T, F16>) {
    return F16{0xfc00};
  } else if constexpr (std::is_same_v<T, BF16>) {
    return BF16{0xff80};
  } else if constexpr (std::is_floating_point_v<T>) {
    return -std::numeric_limits<T>::infinity();
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

template <class T>
class PoolIndices final : public Prepared {
 public:
  PoolIndices(const PoolWindow& window, const PoolTensor& indices,
              bool column_major)
      : window_(window), indices_(indices) {
    const auto& [az, ay, ax] = window_.axes;
    if (column_major) {
      flat_ = {1, az.input, az.input * ay.input};
    } else {
      flat_ = {ay.input * ax.input, ax.input, 1};
    }
    rows_ = window_.batch * window_.channels * az.output * ay.output;
    const int64_t work =
        std::max<int64_t>(ax.output * az.kernel * ay.kernel * ax.kernel, 1);
    cost_ = rows_ * work;
    rows_per_slice_ = std::max<int64_t>(1, kSliceElements / work);
    slice_count_ = ax.output == 0 ? 0 : CeilDiv(rows_, rows_per_slice_);
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    const int64_t end = std::min(args.slice_end * rows_per_slice_, rows_);
    for (int64_t r = args.slice_begin * rows_per_slice_; r < end; ++r) {
      RunRow(args, r);
    }
    return {};
  }

 private:
  struct Best {
    T value = LowestOf<T>();
    int64_t index = -1;
  };

  void RunRow(const RunArgs& args, int64_t row) const {
    const auto& [az, ay, ax] = window_.axes;
    const int64_t y = row % ay.output;
    const int64_t z = row / ay.output % az.output;
    const int64_t outer = row / ay.output / az.output;
    const int64_t channel = outer % window_.channels;
    const int64_t batch = outer / window_.channels;
    const auto place = [&](const PoolTensor& tensor, int64_t x) {
      return batch * tensor.batch + channel * tensor.channel +
             z * tensor.axes[0] + y * tensor.axes[1] + x * tensor.axes[2];
    };
    const T* in = static_cast<const T*>(args.inputs[0]) +
                  batch * window_.in.batch + channel * window_.in.channel;
    const int64_t base = outer * az.input * ay.input * ax.input;
    for (int64_t x = 0; x < ax.output; ++x) {
      Best best = Scan(in, z, y, x);
      if (best.index >= 0) best.index += base;
      static_cast<T*>(args.outputs[0])[place(window_.out, x)] = best.value;
      static_cast<int64_t*>(args.outputs[1])[place(indices_, x)] = best.index;
    }
  }

  Best Scan(const T* in, int64_t z, int64_t y, int64_t x) const {
    const auto& [az, ay, ax] = window_.axes;
    const PoolTaps tz = TapsInside(az, z);
    const PoolTaps ty = TapsInside(ay, y);
    const PoolTaps tx = TapsInside(ax, x);
    Best best;
    for (int64_t i = tz.begin; i < tz.end; ++i) {
      const int64_t iz = z * az.stride - az.pad_begin + i * az.dilation;
      for (int64_t j = ty.begin; j < ty.end; ++j) {
        const int64_t iy = y * ay.stride - ay.pad_begin + j * ay.dilation;
        for (int64_t k = tx.begin; k < tx.end; ++k) {
          const int64_t ix = x * ax.stride - ax.pad_begin + k * ax.dilation;
          const T value = in[iz * window_.in.axes[0] + iy * window_.in.axes[1] +
                             ix * window_.in.axes[2]];
          const auto wide = Widen(value);
          const auto highest = Widen(best.value);
          // The first NaN stays; the second comparison is false for it.
          const bool greater =
              wide > highest || (wide != wide && highest == highest);
          if (best.index >= 0 && !greater) continue;
          best = {value, iz * flat_[0] + iy * flat_[1] + ix * flat_[2]};
        }
      }
    }
    return best;
  }

  PoolWindow window_;
  PoolTensor indices_;
  std::array<int64_t, kPoolAxes> flat_{};
  int64_t rows_ = 0;
  int64_t rows_per_slice_ = 1;
};

}  // namespace

Expected<PreparedPtr> PreparePoolIndices(const Request& request,
                                         const PoolWindow& window) {
  const Operand& operand = OutputOf(request, 1);
  PoolTensor indices{.batch = operand.strides[0],
                     .channel = operand.strides[1]};
  const std::size_t spatial = operand.strides.size() - 2;
  for (std::size_t a = 0; a < spatial; ++a) {
    indices.axes[kPoolAxes - spatial + a] = operand.strides[2 + a];
  }
  const bool column_major = request.attributes.Int("storage_order", 0) != 0;
  const auto make = [&]<class T>(T) -> PreparedPtr {
    return std::make_unique<PoolIndices<T>>(window, indices, column_major);
  };
  switch (window.dtype) {
    case DType::kF32:
      return make(float{});
    case DType::kF64:
      return make(double{});
    case DType::kF16:
      return make(F16{});
    case DType::kBF16:
      return make(BF16{});
    case DType::kI8:
      return make(int8_t{});
    case DType::kU8:
      return make(uint8_t{});
    default:
      return UnsupportedDTypes(request);
  }
}

}  // namespace ebb::kernels
