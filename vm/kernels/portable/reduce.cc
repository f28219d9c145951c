// Reductions over any axes of a tensor of any strides. The kept dims come
// first in the order of visiting, then the reduced ones, so every output is a
// run of that order. Where memory is dense along a kept dim, that dim goes
// last instead and whole rows are added to a row of results.
#include "vm/kernels/portable/reduce.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/rows.h"
#include "vm/kernels/portable/tile_io.h"

namespace ebb::kernels {
namespace {

// Rows of f32 added in f32 before they go to the f64 totals.
constexpr int64_t kFlushRows = 16;
// Columns taken at a time, at least: a shorter piece of a row than 1 KiB of
// f32 wastes what the processor reads ahead.
constexpr int64_t kMinColumns = 256;

struct Geometry {
  Dims dims;  // In the order of visiting.
  Dims strides;
  int64_t reduced = 1;  // Elements that go into one output.
  int64_t columns = 1;  // Dense kept elements at the end; 1: none.
  int64_t outputs = 1;
};

Geometry MakeGeometry(const Operand& x, uint32_t mask) {
  Geometry g;
  Dims reduced_dims, reduced_strides;
  int64_t reduced_stride = INT64_MAX;
  for (std::size_t d = 0; d < x.dims.size(); ++d) {
    const bool reduced = ((mask >> d) & 1U) != 0;
    (reduced ? g.reduced : g.outputs) *= x.dims[d];
    if (x.dims[d] == 1) continue;
    (reduced ? reduced_dims : g.dims).push_back(x.dims[d]);
    (reduced ? reduced_strides : g.strides).push_back(x.strides[d]);
    if (reduced) {
      reduced_stride = std::min(reduced_stride, std::abs(x.strides[d]));
    }
  }
  // The kept dims at the end that are one dense run.
  std::size_t split = g.dims.size();
  int64_t expected = 1;
  while (split > 0 && g.strides[split - 1] == expected) {
    --split;
    expected *= g.dims[split];
  }
  if (split == g.dims.size() || reduced_stride <= 1) split = g.dims.size();
  for (std::size_t d = split; d < g.dims.size(); ++d) g.columns *= g.dims[d];
  g.dims.insert(g.dims.begin() + split, reduced_dims.begin(),
                reduced_dims.end());
  g.strides.insert(g.strides.begin() + split, reduced_strides.begin(),
                   reduced_strides.end());
  return g;
}

class ReduceKernel final : public Prepared {
 public:
  ReduceKernel(const Geometry& g, const ReduceFunctions& functions,
               DType stored, DType computed, bool mean)
      : functions_(functions),
        reader_(MakeWalk(g.dims, g.strides), stored, computed),
        writer_(MakeWalk(Dims{g.outputs}, Dims{1}), stored, computed),
        reduced_(g.reduced),
        columns_(g.columns),
        outputs_(g.outputs),
        divisor_(mean ? g.reduced : 1) {
    const int64_t per_output = std::max<int64_t>(reduced_, 1);
    if (outputs_ == 0) {
      slice_count_ = 0;
    } else if (columns_ > 1) {
      const int64_t width =
          std::clamp(kSliceElements / per_output, kMinColumns, kTileElements);
      blocks_ = CeilDiv(columns_, width);
      width_ = CeilDiv(columns_, blocks_);
      blocks_ = CeilDiv(columns_, width_);
      const int64_t units = outputs_ / columns_ * blocks_;
      per_slice_ = std::max<int64_t>(1, kSliceElements / (width_ * per_output));
      units_ = units;
      slice_count_ = CeilDiv(units, per_slice_);
    } else {
      units_ = outputs_;
      per_slice_ = std::max<int64_t>(1, kSliceElements / per_output);
      slice_count_ = CeilDiv(units_, per_slice_);
    }
    cost_ = (reader_.walk().count + outputs_) * (DTypeBits(stored) / 8);
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    const int64_t begin = args.slice_begin * per_slice_;
    const int64_t end = std::min(args.slice_end * per_slice_, units_);
    Buffers buffers;
    if (columns_ > 1) {
      for (int64_t unit = begin; unit < end; ++unit) {
        RunColumns(args, unit, buffers);
      }
    } else {
      for (int64_t at = begin; at < end;) {
        const int64_t n = std::min(end - at, OutputsPerTile());
        RunRows(args, at, n, buffers);
        at += n;
      }
    }
    return {};
  }

 private:
  struct Buffers {
    TileSlot slot;
    TileBuffer raw;
    TileBuffer partial;
    TileBuffer total;
    TileBuffer out;
  };

  // Short reductions share a tile.
  int64_t OutputsPerTile() const {
    return std::max<int64_t>(1, kTileElements / std::max<int64_t>(reduced_, 1));
  }

  void RunRows(const RunArgs& args, int64_t first, int64_t n,
               Buffers& b) const {
    functions_.clear_total(b.total.bytes, n);
    if (n > 1) {
      if (reduced_ > 0) {
        const void* tile = reader_.Read(args.inputs[0], first * reduced_,
                                        n * reduced_, b.slot, b.raw);
        functions_.rows(tile, n, reduced_, b.total.bytes);
      }
    } else {
      for (int64_t at = 0; at < reduced_; at += kTileElements) {
        const int64_t count = std::min(kTileElements, reduced_ - at);
        const void* tile = reader_.Read(args.inputs[0], first * reduced_ + at,
                                        count, b.slot, b.raw);
        functions_.rows(tile, 1, count, b.total.bytes);
      }
    }
    Write(args, first, n, b);
  }

  void RunColumns(const RunArgs& args, int64_t unit, Buffers& b) const {
    const int64_t outer = unit / blocks_;
    const int64_t column = unit % blocks_ * width_;
    const int64_t n = std::min(width_, columns_ - column);
    // Rows that are whole may be read several at once.
    const int64_t rows_per_tile =
        n == columns_ ? std::max<int64_t>(1, kTileElements / n) : 1;
    functions_.clear_total(b.total.bytes, n);
    functions_.clear_partial(b.partial.bytes, n);
    int64_t pending = 0;
    for (int64_t row = 0; row < reduced_;) {
      const int64_t rows =
          std::min({rows_per_tile, reduced_ - row, kFlushRows - pending});
      const void* tile = reader_.Read(
          args.inputs[0], (outer * reduced_ + row) * columns_ + column,
          rows * n, b.slot, b.raw);
      functions_.columns(tile, rows, n, b.partial.bytes);
      row += rows;
      pending += rows;
      if (pending == kFlushRows || row == reduced_) {
        functions_.flush(b.partial.bytes, b.total.bytes, n);
        functions_.clear_partial(b.partial.bytes, n);
        pending = 0;
      }
    }
    Write(args, outer * columns_ + column, n, b);
  }

  void Write(const RunArgs& args, int64_t first, int64_t n, Buffers& b) const {
    void* out = writer_.Target(args.outputs[0], first, n, b.out);
    functions_.finish(b.total.bytes, out, n, divisor_);
    writer_.Commit(args.outputs[0], first, n, b.out, b.raw);
  }

  ReduceFunctions functions_;
  TileReader reader_;
  TileWriter writer_;
  int64_t reduced_;
  int64_t columns_;
  int64_t outputs_;
  int64_t divisor_;
  int64_t blocks_ = 1;
  int64_t width_ = 1;
  int64_t units_ = 0;
  int64_t per_slice_ = 1;
};

DType ComputedIn(DType dtype) {
  switch (dtype) {
    case DType::kF16:
    case DType::kBF16:
      return DType::kF32;
    case DType::kBool:
      return DType::kU8;
    default:
      return dtype;
  }
}

Expected<PreparedPtr> PrepareReduce(const Request& request) {
  const Operand& x = InputOf(request, 0);
  const OperatorCode code = request.info.code;
  const DType computed = ComputedIn(x.dtype);
  const std::optional<ReduceFunctions> functions =
      FindReduction(code, computed);
  if (!functions.has_value()) return UnsupportedDTypes(request);
  TRY(const uint32_t mask,
      ReduceMask(ListOf(request, 1),
                 request.attributes.Int("noop_with_empty_axes", 0) != 0,
                 static_cast<int>(x.dims.size())));
  return std::make_unique<ReduceKernel>(MakeGeometry(x, mask), *functions,
                                        x.dtype, computed,
                                        code == OperatorCode::kReduceMean);
}

constexpr KernelRow kRow = {.prepare = PrepareReduce, .data_form = Form::kAny};

}  // namespace

const KernelRow kReduceSumKernel = kRow;
const KernelRow kReduceMeanKernel = kRow;
const KernelRow kReduceMaxKernel = kRow;
const KernelRow kReduceMinKernel = kRow;

}  // namespace ebb::kernels
