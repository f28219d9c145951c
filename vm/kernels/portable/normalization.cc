// LayerNormalization and InstanceNormalization: both normalise runs of the
// last dims, and differ in what scale and bias are broadcast along. The mean
// comes first and the variance is taken about it, which loses nothing where
// the mean is large.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "vm/kernels/portable/normalize_loops.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/rows.h"
#include "vm/kernels/portable/tile_io.h"

namespace ebb::kernels {
namespace {

bool IsNormalized(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 ||
         dtype == DType::kF32 || dtype == DType::kF64;
}

// Scale and bias line up with x at the last dim.
constexpr int64_t kAtTheEnd = -1;

// `operand` read under x's dims, its first dim being x's dim `at`; dims of one
// element and those it does not have are stretched.
Walk BroadcastWalk(const Operand& operand, DimSpan x_dims, int64_t at) {
  const auto x_rank = static_cast<int64_t>(x_dims.size());
  const auto rank = static_cast<int64_t>(operand.dims.size());
  // Negative when dims of one element stand before all of x's.
  const int64_t first = at == kAtTheEnd ? x_rank - rank : at;
  Dims strides(x_dims.size(), 0);
  for (int64_t d = 0; d < rank; ++d) {
    if (operand.dims[d] != 1) strides[first + d] = operand.strides[d];
  }
  return MakeWalk(x_dims, strides);
}

class NormalizeKernel final : public Prepared {
 public:
  // scale_at: the dim of x that scale and bias begin at.
  NormalizeKernel(const Request& request, int axis, int64_t scale_at,
                  DType computed)
      : functions_(FindNormalizeFunctions(computed)),
        epsilon_(
            static_cast<double>(request.attributes.Float("epsilon", 1e-5F))) {
    const Operand& x = request.inputs[0];
    const Operand& y = request.outputs[0];
    reader_ = TileReader(MakeWalk(x.dims, x.strides), x.dtype, computed);
    writer_ = TileWriter(MakeWalk(y.dims, y.strides), y.dtype, computed);
    const Operand& scale = request.inputs[1];
    scale_ = TileReader(BroadcastWalk(scale, x.dims, scale_at), scale.dtype,
                        computed);
    const Operand& bias = InputOf(request, 2);
    has_bias_ = bias.present();
    if (has_bias_) {
      bias_ = TileReader(BroadcastWalk(bias, x.dims, scale_at), bias.dtype,
                         computed);
    }
    rows_ = CountOf(x.dims.first(axis));
    row_ = CountOf(x.dims.subspan(axis));
    for (std::size_t i = 0; i < 2; ++i) {
      const Operand& statistic = OutputOf(request, 1 + i);
      if (!statistic.present()) continue;
      statistic_convert_[i] = FindConversion(DType::kF64, statistic.dtype);
      statistic_bytes_[i] = DTypeBits(statistic.dtype) / 8;
      statistic_walk_[i] = MakeWalk(statistic.dims, statistic.strides);
    }
    rows_per_slice_ =
        std::max<int64_t>(1, kSliceElements / std::max<int64_t>(row_, 1));
    slice_count_ = CeilDiv(rows_, rows_per_slice_);
    cost_ = 4 * rows_ * row_ * (DTypeBits(x.dtype) / 8);
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    const int64_t end = std::min(args.slice_end * rows_per_slice_, rows_);
    Buffers buffers;
    for (int64_t r = args.slice_begin * rows_per_slice_; r < end; ++r) {
      RunRow(args, r, buffers);
    }
    return {};
  }

 private:
  struct Buffers {
    TileSlot x;
    TileSlot scale;
    TileSlot bias;
    TileBuffer raw;
    TileBuffer out;
  };

  // Calls f(tile, begin, n) for the tiles of a row; a row that is one tile is
  // read once and given as `whole`.
  template <class F>
  void ForEachTile(const RunArgs& args, int64_t row, const void* whole,
                   Buffers& b, F f) const {
    const int64_t first = row * row_;
    if (whole != nullptr) return f(whole, first, row_);
    for (int64_t at = 0; at < row_; at += kTileElements) {
      const int64_t n = std::min(kTileElements, row_ - at);
      f(reader_.Read(args.inputs[0], first + at, n, b.x, b.raw), first + at, n);
    }
  }

  void RunRow(const RunArgs& args, int64_t row, Buffers& b) const {
    const void* whole = nullptr;
    if (row_ > 0 && row_ <= kTileElements) {
      whole = reader_.Read(args.inputs[0], row * row_, row_, b.x, b.raw);
    }
    // Nothing has the mean 0 and the variance 0.
    const double count = static_cast<double>(std::max<int64_t>(row_, 1));
    double sum = 0;
    ForEachTile(args, row, whole, b, [&](const void* x, int64_t, int64_t n) {
      sum += functions_.sum(x, n);
    });
    const double mean = sum / count;
    double squares = 0;
    ForEachTile(args, row, whole, b, [&](const void* x, int64_t, int64_t n) {
      squares += functions_.square_sum(x, n, mean);
    });
    const double factor = 1 / std::sqrt(squares / count + epsilon_);
    WriteStatistic(args, 0, row, mean);
    WriteStatistic(args, 1, row, factor);
    ForEachTile(
        args, row, whole, b, [&](const void* x, int64_t begin, int64_t n) {
          const void* scale =
              scale_.Read(args.inputs[1], begin, n, b.scale, b.raw);
          const void* bias =
              has_bias_ ? bias_.Read(args.inputs[2], begin, n, b.bias, b.raw)
                        : nullptr;
          void* out = writer_.Target(args.outputs[0], begin, n, b.out);
          functions_.out(x, n, mean, factor, scale, bias, out);
          writer_.Commit(args.outputs[0], begin, n, b.out, b.raw);
        });
  }

  // Outputs 1 and 2: one number a row.
  void WriteStatistic(const RunArgs& args, std::size_t i, int64_t row,
                      double value) const {
    if (statistic_convert_[i] == nullptr) return;
    int64_t left = 0;
    const int64_t offset = statistic_walk_[i].OffsetOf(row, left);
    statistic_convert_[i](&value,
                          static_cast<std::byte*>(args.outputs[1 + i]) +
                              offset * statistic_bytes_[i],
                          1);
  }

  NormalizeFunctions functions_;
  double epsilon_;
  TileReader reader_;
  TileWriter writer_;
  TileReader scale_;
  TileReader bias_;
  bool has_bias_ = false;
  int64_t rows_ = 0;
  int64_t row_ = 0;
  int64_t rows_per_slice_ = 1;
  std::array<ConvertFunction, 2> statistic_convert_{};
  std::array<int64_t, 2> statistic_bytes_{};
  std::array<Walk, 2> statistic_walk_;
};

Expected<PreparedPtr> PrepareNormalize(const Request& request, int axis,
                                       int64_t scale_at) {
  for (const auto& operands : {request.inputs, request.outputs}) {
    for (const Operand& operand : operands) {
      if (operand.present() && !IsNormalized(operand.dtype)) {
        return UnsupportedDTypes(request);
      }
    }
  }
  const DType computed =
      request.inputs[0].dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  return std::make_unique<NormalizeKernel>(request, axis, scale_at, computed);
}

Expected<PreparedPtr> PrepareLayerNormalization(const Request& request) {
  const DimSpan dims = InputOf(request, 0).dims;
  TRY(const int axis, NormalizeAxis(request.attributes.Int("axis", -1),
                                    static_cast<int>(dims.size())));
  return PrepareNormalize(request, axis, kAtTheEnd);
}

Expected<PreparedPtr> PrepareInstanceNormalization(const Request& request) {
  return PrepareNormalize(request, 2, 1);
}

constexpr KernelRow AnyForms(Expected<PreparedPtr> (*prepare)(const Request&)) {
  return {.prepare = prepare,
          .data_form = Form::kAny,
          .other_form = Form::kAny,
          .output_form = Form::kAny};
}

}  // namespace

const KernelRow kLayerNormalizationKernel = AnyForms(PrepareLayerNormalization);
const KernelRow kInstanceNormalizationKernel =
    AnyForms(PrepareInstanceNormalization);

}  // namespace ebb::kernels
