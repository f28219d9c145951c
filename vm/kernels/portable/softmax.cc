// Softmax and LogSoftmax along any axis: the largest element, the sum of the
// exponentials, the result. A row that fits a tile is exponentiated once, in
// the tile; a longer one in the output, or a second time when the output
// cannot hold the intermediate exactly (f16, bf16).
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/rows.h"
#include "vm/kernels/portable/softmax_loops.h"
#include "vm/kernels/portable/tile_io.h"

namespace ebb::kernels {
namespace {

class SoftmaxKernel final : public Prepared {
 public:
  SoftmaxKernel(const Operand& x, const Operand& y, int axis, DType computed,
                bool log)
      : functions_(FindSoftmaxFunctions(computed)),
        log_(log),
        reader_(MakeWalk(x.dims, x.strides), x.dtype, computed),
        writer_(MakeWalk(y.dims, y.strides), y.dtype, computed),
        axis_size_(x.dims.empty() ? 1 : x.dims[axis]),
        inner_(x.dims.empty() ? 1 : CountOf(x.dims.subspan(axis + 1))) {
    keeps_exp_ = y.dtype == computed && IsDenseOperand(y);
    const int64_t count = writer_.walk().count;
    if (count == 0) {
      slice_count_ = 0;
      return;
    }
    // Columns share a tile with their maxima and sums in cache.
    blocks_ = CeilDiv(inner_, kMaxColumns);
    width_ = CeilDiv(inner_, blocks_);
    blocks_ = CeilDiv(inner_, width_);
    units_ = count / (axis_size_ * inner_) * blocks_;
    per_slice_ = std::max<int64_t>(1, kSliceElements / (axis_size_ * width_));
    slice_count_ = CeilDiv(units_, per_slice_);
    cost_ = 8 * count * (DTypeBits(x.dtype) / 8);
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    const int64_t end = std::min(args.slice_end * per_slice_, units_);
    Buffers buffers;
    for (int64_t unit = args.slice_begin * per_slice_; unit < end; ++unit) {
      if (inner_ > 1) {
        RunColumns(args, unit, buffers);
      } else if (axis_size_ <= kTileElements) {
        RunShortRow(args, unit * axis_size_, buffers);
      } else {
        RunLongRow(args, unit * axis_size_, buffers);
      }
    }
    return {};
  }

 private:
  static constexpr int64_t kMaxColumns = 256;
  static constexpr double kLowest = -std::numeric_limits<double>::infinity();

  struct Buffers {
    TileSlot slot;
    TileBuffer raw;
    TileBuffer work;
    TileBuffer out;
    TileBuffer highest;
    double sum[kMaxColumns];
  };

  void RunShortRow(const RunArgs& args, int64_t first, Buffers& b) const {
    const int64_t n = axis_size_;
    const void* x = reader_.Read(args.inputs[0], first, n, b.slot, b.raw);
    void* out = writer_.Target(args.outputs[0], first, n, b.out);
    const double highest = functions_.row_max(x, n, kLowest);
    if (log_) {
      const double sum = functions_.row_exp(x, n, highest, nullptr);
      functions_.row_log(x, n, highest, std::log(sum), out);
    } else {
      const double sum = functions_.row_exp(x, n, highest, b.work.bytes);
      functions_.row_scale(b.work.bytes, n, 1 / sum, out);
    }
    writer_.Commit(args.outputs[0], first, n, b.out, b.raw);
  }

  // Calls f(tile, begin, n) for the tiles of a row.
  template <class F>
  void ForEachTile(const RunArgs& args, int64_t first, Buffers& b, F f) const {
    for (int64_t at = 0; at < axis_size_; at += kTileElements) {
      const int64_t n = std::min(kTileElements, axis_size_ - at);
      f(reader_.Read(args.inputs[0], first + at, n, b.slot, b.raw), first + at,
        n);
    }
  }

  void RunLongRow(const RunArgs& args, int64_t first, Buffers& b) const {
    void* output = args.outputs[0];
    double highest = kLowest;
    ForEachTile(args, first, b, [&](const void* x, int64_t, int64_t n) {
      highest = functions_.row_max(x, n, highest);
    });
    const bool keep = keeps_exp_ && !log_;
    double sum = 0;
    ForEachTile(args, first, b, [&](const void* x, int64_t begin, int64_t n) {
      void* e = keep ? writer_.Target(output, begin, n, b.out) : nullptr;
      sum += functions_.row_exp(x, n, highest, e);
    });
    if (keep) {
      for (int64_t at = 0; at < axis_size_; at += kTileElements) {
        const int64_t n = std::min(kTileElements, axis_size_ - at);
        void* out = writer_.Target(output, first + at, n, b.out);
        functions_.row_scale(out, n, 1 / sum, out);
      }
      return;
    }
    const double log_sum = std::log(sum);
    ForEachTile(args, first, b, [&](const void* x, int64_t begin, int64_t n) {
      void* out = writer_.Target(output, begin, n, b.out);
      if (log_) {
        functions_.row_log(x, n, highest, log_sum, out);
      } else {
        functions_.row_exp_scale(x, n, highest, 1 / sum, out);
      }
      writer_.Commit(output, begin, n, b.out, b.raw);
    });
  }

  void RunColumns(const RunArgs& args, int64_t unit, Buffers& b) const {
    const int64_t column = unit % blocks_ * width_;
    const int64_t n = std::min(width_, inner_ - column);
    const int64_t first = unit / blocks_ * axis_size_ * inner_ + column;
    const auto read = [&](int64_t at) {
      return reader_.Read(args.inputs[0], first + at * inner_, n, b.slot,
                          b.raw);
    };
    functions_.column_clear(b.highest.bytes, b.sum, n);
    for (int64_t at = 0; at < axis_size_; ++at) {
      functions_.column_max(read(at), n, b.highest.bytes);
    }
    const bool keep = keeps_exp_ && !log_;
    const auto target = [&](int64_t at) {
      return writer_.Target(args.outputs[0], first + at * inner_, n, b.out);
    };
    for (int64_t at = 0; at < axis_size_; ++at) {
      functions_.column_exp(read(at), n, b.highest.bytes, b.sum,
                            keep ? target(at) : nullptr);
    }
    functions_.column_factor(b.sum, n, log_, b.work.bytes);
    for (int64_t at = 0; at < axis_size_; ++at) {
      void* out = target(at);
      if (keep) {
        functions_.column_scale(out, n, b.work.bytes, out);
        continue;
      }
      functions_.column_out(read(at), n, b.highest.bytes, b.work.bytes, log_,
                            out);
      writer_.Commit(args.outputs[0], first + at * inner_, n, b.out, b.raw);
    }
  }

  SoftmaxFunctions functions_;
  bool log_;
  TileReader reader_;
  TileWriter writer_;
  bool keeps_exp_ = false;
  int64_t axis_size_;
  int64_t inner_;
  int64_t blocks_ = 1;
  int64_t width_ = 1;
  int64_t units_ = 0;
  int64_t per_slice_ = 1;
};

Expected<PreparedPtr> PrepareSoftmax(const Request& request) {
  const Operand& x = InputOf(request, 0);
  DType computed = x.dtype;
  switch (x.dtype) {
    case DType::kF16:
    case DType::kBF16:
      computed = DType::kF32;
      break;
    case DType::kF32:
    case DType::kF64:
      break;
    default:
      return UnsupportedDTypes(request);
  }
  int axis = 0;
  if (!x.dims.empty()) {
    TRY(axis, NormalizeAxis(request.attributes.Int("axis", -1),
                            static_cast<int>(x.dims.size())));
  }
  return std::make_unique<SoftmaxKernel>(
      x, OutputOf(request, 0), axis, computed,
      request.info.code == OperatorCode::kLogSoftmax);
}

constexpr KernelRow kRow = {.prepare = PrepareSoftmax,
                            .data_form = Form::kAny,
                            .output_form = Form::kAny};

}  // namespace

const KernelRow kSoftmaxKernel = kRow;
const KernelRow kLogSoftmaxKernel = kRow;

}  // namespace ebb::kernels
