// Pools one output row at a time: first the input rows that the window covers
// become one row (lanes side by side, so this is vector code for any window),
// then the window's columns are taken from it. Sums and maxima are separable,
// so a k x k window costs 2k steps instead of k * k.
//
// Channels-last tensors are the same with `inner` channels per column.
#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "vm/kernels/portable/pool_window.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/scalar.h"
#include "vm/kernels/portable/target.h"

namespace ebb::kernels {
namespace {

// A NaN in the window is its maximum, and stays it. A window without elements
// has the lowest value there is, minus infinity for floats.
template <class Acc>
EBB_ALWAYS_INLINE Acc Greater(Acc a, Acc b) {
  if constexpr (std::is_floating_point_v<Acc>) {
    return b > a || b != b ? b : a;
  } else {
    return b > a ? b : a;
  }
}

template <bool kMax, class Acc>
EBB_ALWAYS_INLINE Acc Combine(Acc a, Acc b) {
  if constexpr (kMax) {
    return Greater(a, b);
  } else {
    return static_cast<Acc>(a + b);
  }
}

template <bool kMax, class T, class Acc>
EBB_TARGET_CLONES void AddRow(const T* in, int64_t stride, int64_t count,
                              Acc* sums) {
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) {
      sums[i] = Combine<kMax>(sums[i], static_cast<Acc>(Widen(in[i])));
    }
  } else {
    for (int64_t i = 0; i < count; ++i) {
      sums[i] = Combine<kMax>(sums[i], static_cast<Acc>(Widen(in[i * stride])));
    }
  }
}

// Adds columns `stride` apart to `count` results.
template <bool kMax, class Acc>
EBB_TARGET_CLONES void AddColumns(const Acc* in, int64_t stride, int64_t count,
                                  Acc* out) {
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) out[i] = Combine<kMax>(out[i], in[i]);
  } else if (stride == 2) {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = Combine<kMax>(out[i], in[2 * i]);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = Combine<kMax>(out[i], in[i * stride]);
    }
  }
}

template <class T, class Acc>
EBB_TARGET_CLONES void StoreResults(const Acc* in, int64_t count, T* out,
                                    int64_t stride) {
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) out[i] = ConvertElement<T>(in[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      out[i * stride] = ConvertElement<T>(in[i]);
    }
  }
}

template <class Acc>
constexpr Acc kIdentityOfMax =
    std::is_floating_point_v<Acc> ? -std::numeric_limits<Acc>::infinity()
                                  : std::numeric_limits<Acc>::lowest();

template <bool kMax, class T, class Acc>
class PoolRows final : public Prepared {
 public:
  PoolRows(const PoolWindow& window, bool padded, int threads)
      : window_(window), padded_(padded) {
    const auto& x = window_.axes[2];
    const bool channels_last = window_.channels > 1 &&
                               window_.in.channel == 1 &&
                               window_.in.axes[2] == window_.channels;
    inner_ = channels_last ? window_.channels : 1;
    rows_ = window_.batch * (window_.channels / std::max<int64_t>(inner_, 1)) *
            window_.axes[0].output * window_.axes[1].output;
    const int64_t row_elements = x.output * inner_;
    const int64_t work =
        x.input * inner_ * window_.axes[0].kernel * window_.axes[1].kernel +
        row_elements * x.kernel;
    cost_ = rows_ * work;
    if (rows_ * row_elements == 0) {
      slice_count_ = 0;
      return;
    }
    rows_per_slice_ = std::max<int64_t>(1, kSliceElements / work);
    slice_count_ = CeilDiv(rows_, rows_per_slice_);
    columns_elements_ = x.input * inner_;
    worker_bytes_ = CeilDiv((columns_elements_ + row_elements) *
                                static_cast<int64_t>(sizeof(Acc)),
                            64) *
                    64;
    scratch_bytes_ = worker_bytes_ * threads;
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    const int64_t end = std::min(args.slice_end * rows_per_slice_, rows_);
    for (int64_t r = args.slice_begin * rows_per_slice_; r < end; ++r) {
      RunRow(args, r);
    }
    return {};
  }

 private:
  void RunRow(const RunArgs& args, int64_t row) const {
    const auto& [az, ay, ax] = window_.axes;
    const int64_t y = row % ay.output;
    const int64_t z = row / ay.output % az.output;
    const int64_t outer = row / ay.output / az.output;
    const int64_t groups = window_.channels / inner_;
    const int64_t channel = outer % groups;
    const int64_t batch = outer / groups;
    auto* columns =
        reinterpret_cast<Acc*>(args.scratch + args.worker * worker_bytes_);
    Acc* results = columns + columns_elements_;

    const Acc identity = kMax ? kIdentityOfMax<Acc> : Acc{0};
    std::fill(columns, columns + columns_elements_, identity);
    std::fill(results, results + ax.output * inner_, identity);
    const PoolTaps tz = TapsInside(az, z);
    const PoolTaps ty = TapsInside(ay, y);
    const T* in = static_cast<const T*>(args.inputs[0]) +
                  batch * window_.in.batch + channel * window_.in.channel;
    for (int64_t i = tz.begin; i < tz.end; ++i) {
      for (int64_t j = ty.begin; j < ty.end; ++j) {
        const int64_t iz = z * az.stride - az.pad_begin + i * az.dilation;
        const int64_t iy = y * ay.stride - ay.pad_begin + j * ay.dilation;
        AddRow<kMax, T, Acc>(
            in + iz * window_.in.axes[0] + iy * window_.in.axes[1],
            inner_ == 1 ? window_.in.axes[2] : 1, columns_elements_, columns);
      }
    }
    AddWindowColumns(columns, results);
    if constexpr (!kMax) Divide(tz, ty, z, y, results);
    T* out = static_cast<T*>(args.outputs[0]) + batch * window_.out.batch +
             channel * window_.out.channel + z * window_.out.axes[0] +
             y * window_.out.axes[1];
    if (inner_ == 1) {
      StoreResults(results, ax.output, out, window_.out.axes[2]);
      return;
    }
    for (int64_t x = 0; x < ax.output; ++x) {
      StoreResults(results + x * inner_, inner_, out + x * window_.out.axes[2],
                   window_.out.channel);
    }
  }

  void AddWindowColumns(const Acc* columns, Acc* results) const {
    const WindowAxis& ax = window_.axes[2];
    if (inner_ != 1 || ax.output == 1) {
      for (int64_t x = 0; x < ax.output; ++x) {
        const PoolTaps taps = TapsInside(ax, x);
        for (int64_t t = taps.begin; t < taps.end; ++t) {
          const int64_t at = x * ax.stride - ax.pad_begin + t * ax.dilation;
          AddColumns<kMax, Acc>(columns + at * inner_, 1, inner_,
                                results + x * inner_);
        }
      }
      return;
    }
    for (int64_t t = 0; t < ax.kernel; ++t) {
      // Output places whose tap t lies inside the input.
      const int64_t first = t * ax.dilation - ax.pad_begin;
      if (first >= ax.input) break;
      const int64_t begin = first >= 0 ? 0 : CeilDiv(-first, ax.stride);
      const int64_t end =
          std::min(CeilDiv(ax.input - first, ax.stride), ax.output);
      if (begin >= end) continue;
      AddColumns<kMax, Acc>(columns + begin * ax.stride + first, ax.stride,
                            end - begin, results + begin);
    }
  }

  // Sums become means.
  void Divide(const PoolTaps& tz, const PoolTaps& ty, int64_t z, int64_t y,
              Acc* results) const {
    const auto& [az, ay, ax] = window_.axes;
    const int64_t rows = padded_
                             ? TapsWithPadding(az, z) * TapsWithPadding(ay, y)
                             : tz.count() * ty.count();
    for (int64_t x = 0; x < ax.output; ++x) {
      const int64_t columns =
          padded_ ? TapsWithPadding(ax, x) : TapsInside(ax, x).count();
      const Acc count = static_cast<Acc>(rows * columns);
      Acc* result = results + x * inner_;
      for (int64_t i = 0; i < inner_; ++i) result[i] /= count;
    }
  }

  PoolWindow window_;
  bool padded_;
  int64_t inner_ = 1;
  int64_t rows_ = 0;
  int64_t rows_per_slice_ = 1;
  int64_t columns_elements_ = 0;
  int64_t worker_bytes_ = 0;
};

template <class T, class Acc>
PreparedPtr Make(const PoolWindow& window, PoolKind kind, int threads) {
  if (kind == PoolKind::kMax) {
    return std::make_unique<PoolRows<true, T, Acc>>(window, false, threads);
  }
  if constexpr (std::is_floating_point_v<Acc>) {
    return std::make_unique<PoolRows<false, T, Acc>>(
        window, kind == PoolKind::kAveragePadded, threads);
  }
  return nullptr;
}

}  // namespace

Expected<PreparedPtr> PreparePoolRows(const Request& request,
                                      const PoolWindow& window, PoolKind kind) {
  const int threads = request.threads;
  PreparedPtr prepared;
  switch (window.dtype) {
    case DType::kF32:
      prepared = Make<float, float>(window, kind, threads);
      break;
    case DType::kF64:
      prepared = Make<double, double>(window, kind, threads);
      break;
    case DType::kF16:
      prepared = Make<F16, float>(window, kind, threads);
      break;
    case DType::kBF16:
      prepared = Make<BF16, float>(window, kind, threads);
      break;
    case DType::kI8:
      prepared = Make<int8_t, int8_t>(window, kind, threads);
      break;
    case DType::kU8:
      prepared = Make<uint8_t, uint8_t>(window, kind, threads);
      break;
    default:
      break;
  }
  if (prepared == nullptr) return UnsupportedDTypes(request);
  return prepared;
}

}  // namespace ebb::kernels
