// Resize by weighted sums: the input rows that a row of the output is made of
// are added up first, whole rows at a time, then the places of the row are
// taken from the sum. 16- and 32-bit floats are computed in f32, all else in
// f64; integers are truncated like the ONNX reference and ONNX Runtime do, but
// clamped to their range where those leave it open.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "vm/kernels/portable/convert.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/resize_plan.h"
#include "vm/kernels/portable/target.h"

namespace ebb::kernels {
namespace {

template <class Acc>
EBB_TARGET_CLONES void AddScaled(const Acc* in, Acc weight, int64_t count,
                                 Acc* out) {
  for (int64_t i = 0; i < count; ++i) out[i] += weight * in[i];
}

// Toward zero, but a whole number that the sum missed by its rounding stays.
double Truncate(double value) {
  const double whole = std::round(value);
  const double slack = 0x1p-40 * std::max(1.0, std::fabs(value));
  return std::fabs(value - whole) <= slack ? whole : std::trunc(value);
}

struct Range {
  double low, high;
};

// The range of an integer dtype in doubles that convert without overflow.
std::optional<Range> IntegerRange(DType dtype) {
  if (!IsInteger(dtype)) return std::nullopt;
  const int bits = DTypeBits(dtype);
  const int magnitude = IsSignedInteger(dtype) ? bits - 1 : bits;
  // 2^63 - 1 and 2^64 - 1 are no doubles; the ones below them are.
  const double high = magnitude > 53
                          ? std::nextafter(std::ldexp(1, magnitude), 0)
                          : std::ldexp(1, magnitude) - 1;
  return Range{IsSignedInteger(dtype) ? -std::ldexp(1, magnitude) : 0, high};
}

template <class Acc>
class ResizeWeighted final : public Prepared {
 public:
  ResizeWeighted(ResizePlan plan, ConvertFunction load, ConvertFunction store)
      : plan_(std::move(plan)),
        load_(load),
        store_(store),
        bytes_(DTypeBits(plan_.dtype) / 8),
        range_(IntegerRange(plan_.dtype)) {
    int64_t taps = 1;
    for (const ResizeTable& table : plan_.outer) taps *= table.taps;
    cost_ = plan_.rows *
            (taps * plan_.input_row() + plan_.row.taps * plan_.output_row());
    slice_count_ =
        plan_.output_row() == 0 ? 0 : CeilDiv(plan_.rows, plan_.rows_per_slice);
    const int64_t elements = 2 * plan_.input_row() + plan_.output_row();
    worker_bytes_ =
        CeilDiv(elements * static_cast<int64_t>(sizeof(Acc)), 64) * 64;
    scratch_bytes_ = worker_bytes_ * plan_.threads;
    weights_.assign(plan_.row.weights.begin(), plan_.row.weights.end());
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    auto* sum =
        reinterpret_cast<Acc*>(args.scratch + args.worker * worker_bytes_);
    Acc* loaded = sum + plan_.input_row();
    Acc* result = loaded + plan_.input_row();
    const int64_t begin = args.slice_begin * plan_.rows_per_slice;
    const int64_t end =
        std::min(args.slice_end * plan_.rows_per_slice, plan_.rows);
    for (int64_t r = begin; r < end; ++r) {
      if (SumRows(static_cast<const std::byte*>(args.inputs[0]), r, sum,
                  loaded)) {
        ResizeRow(sum, result);
      } else {
        std::fill(result, result + plan_.output_row(),
                  static_cast<Acc>(plan_.extrapolation));
      }
      Store(result, static_cast<std::byte*>(args.outputs[0]) +
                        r * plan_.output_row() * bytes_);
    }
    return {};
  }

 private:
  using Places = std::array<int64_t, kMaxRank>;

  // False where the row lies outside.
  bool SumRows(const std::byte* in, int64_t row, Acc* sum, Acc* loaded) const {
    const std::size_t rank = plan_.outer.size();
    Places first;
    for (std::size_t d = rank; d-- > 0;) {
      const ResizeTable& table = plan_.outer[d];
      const int64_t place = row % table.output;
      row /= table.output;
      if (table.outside[place] != 0) return false;
      first[d] = place * table.taps;
    }
    const int64_t width = plan_.input_row();
    std::fill(sum, sum + width, Acc{0});
    Places tap{};
    while (true) {
      double weight = 1;
      int64_t offset = 0;
      for (std::size_t d = 0; d < rank; ++d) {
        const ResizeTable& table = plan_.outer[d];
        weight *= table.weights[first[d] + tap[d]];
        offset += table.indices[first[d] + tap[d]] * plan_.outer_strides[d];
      }
      // What does not count is not looked at: it may be NaN.
      if (weight != 0) {
        const Acc* from = loaded;
        if (load_ == nullptr) {
          from = reinterpret_cast<const Acc*>(in) + offset;
        } else {
          load_(in + offset * bytes_, loaded, width);
        }
        AddScaled(from, static_cast<Acc>(weight), width, sum);
      }
      std::size_t d = rank;
      while (d > 0 && ++tap[d - 1] == plan_.outer[d - 1].taps) tap[--d] = 0;
      if (d == 0) return true;
    }
  }

  void ResizeRow(const Acc* in, Acc* out) const {
    const ResizeTable& row = plan_.row;
    const int64_t inner = plan_.inner;
    const int64_t taps = row.taps;
    for (int64_t x = 0; x < row.output; ++x) {
      Acc* to = out + x * inner;
      if (row.outside[x] != 0) {
        std::fill(to, to + inner, static_cast<Acc>(plan_.extrapolation));
        continue;
      }
      const int64_t* indices = row.indices.data() + x * taps;
      const Acc* weights = weights_.data() + x * taps;
      if (inner == 1) {
        Acc sum{0};
        for (int64_t t = 0; t < taps; ++t) {
          if (weights[t] != 0) sum += weights[t] * in[indices[t]];
        }
        *to = sum;
        continue;
      }
      std::fill(to, to + inner, Acc{0});
      for (int64_t t = 0; t < taps; ++t) {
        if (weights[t] == 0) continue;
        AddScaled(in + indices[t] * inner, weights[t], inner, to);
      }
    }
  }

  void Store(Acc* result, std::byte* out) const {
    const int64_t count = plan_.output_row();
    if (range_.has_value()) {
      for (int64_t i = 0; i < count; ++i) {
        const double value = Truncate(static_cast<double>(result[i]));
        result[i] =
            static_cast<Acc>(std::clamp(value, range_->low, range_->high));
      }
    }
    if (store_ == nullptr) {
      std::copy(result, result + count, reinterpret_cast<Acc*>(out));
    } else {
      store_(result, out, count);
    }
  }

  ResizePlan plan_;
  ConvertFunction load_, store_;
  int64_t bytes_;
  std::optional<Range> range_;
  std::vector<Acc> weights_;  // Of the row.
  int64_t worker_bytes_ = 0;
};

}  // namespace

Expected<PreparedPtr> PrepareResizeWeighted(const Request& request,
                                            ResizePlan plan) {
  const DType dtype = plan.dtype;
  const bool single =
      IsFloat(dtype) && DTypeBits(dtype) <= 32 && DTypeBits(dtype) >= 16;
  const DType computed = single ? DType::kF32 : DType::kF64;
  ConvertFunction load = nullptr;
  ConvertFunction store = nullptr;
  if (dtype != computed) {
    load = FindConversion(dtype, computed);
    store = FindConversion(computed, dtype);
    if (load == nullptr || store == nullptr) return UnsupportedDTypes(request);
  }
  if (single) {
    return std::make_unique<ResizeWeighted<float>>(std::move(plan), load,
                                                   store);
  }
  return std::make_unique<ResizeWeighted<double>>(std::move(plan), load, store);
}

}  // namespace ebb::kernels
