// The kernel: iterates over the output in the order of its memory, a tile at
// a time, and has the inputs follow in that order.
#include "vm/kernels/portable/elementwise.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "vm/kernels/portable/elementwise_operation.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/rows.h"
#include "vm/kernels/portable/tile_io.h"

namespace ebb::kernels {
namespace {

// A walk with rows this long is cut at the ends of its rows, so that its tiles
// are read in place; shorter rows are gathered, many to a tile.
constexpr int64_t kMinRow = 128;

class ElementwiseKernel final : public Prepared {
 public:
  ElementwiseKernel(const Request& request, const TileOperation& operation);
  RunStatus Run(const RunArgs& args) const noexcept override;

 private:
  void ChooseTiles(int64_t max_tile);
  int64_t TileEnd(int64_t begin, int64_t end) const {
    const int64_t in_row = begin % row_;
    return std::min({begin + tile_, begin - in_row + row_, end});
  }

  TileFunction function_;
  TileParams params_;
  std::size_t input_count_ = 0;
  // Per tile input: the operand it comes from, and how it is read. An absent
  // optional input has no reader.
  std::array<std::size_t, kMaxTileInputs> source_{};
  std::array<bool, kMaxTileInputs> present_{};
  std::array<TileReader, kMaxTileInputs> readers_;
  TileWriter writer_;
  int64_t row_ = 1;
  int64_t tile_ = 1;
};

// Output dims in the order of their strides, slowest first; dims of one
// element are left out.
std::vector<std::size_t> MemoryOrder(const Operand& output) {
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < output.dims.size(); ++d) {
    if (output.dims[d] != 1) order.push_back(d);
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const int64_t a_stride = std::abs(output.strides[a]);
    const int64_t b_stride = std::abs(output.strides[b]);
    return a_stride != b_stride ? a_stride > b_stride : a < b;
  });
  return order;
}

// `operand` broadcast to the output's dims and visited in their order.
Walk WalkInOrder(const Operand& operand, DimSpan output_dims,
                 std::span<const std::size_t> order) {
  const std::size_t missing = output_dims.size() - operand.dims.size();
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
  for (const std::size_t d : order) {
    dims.push_back(output_dims[d]);
    const bool stretched = d < missing || operand.dims[d - missing] == 1;
    strides.push_back(stretched ? 0 : operand.strides[d - missing]);
  }
  return MakeWalk(dims, strides);
}

ElementwiseKernel::ElementwiseKernel(const Request& request,
                                     const TileOperation& operation)
    : function_(operation.function), params_(operation.params) {
  const Operand& output = OutputOf(request, 0);
  const std::vector<std::size_t> order = MemoryOrder(output);
  writer_ = TileWriter(WalkInOrder(output, output.dims, order), output.dtype,
                       operation.output);

  int64_t element_bytes = DTypeBits(output.dtype) / 8;
  int64_t bytes_moved = element_bytes * writer_.walk().count;
  input_count_ = std::min(request.inputs.size(), kMaxTileInputs);
  for (std::size_t i = 0; i < input_count_; ++i) {
    source_[i] = operation.swapped && i < 2 ? 1 - i : i;
    const Operand& operand = request.inputs[source_[i]];
    present_[i] = operand.present();
    if (!present_[i]) continue;
    readers_[i] = TileReader(WalkInOrder(operand, output.dims, order),
                             operand.dtype, operation.inputs[i]);
    const int64_t bytes = DTypeBits(operand.dtype) / 8;
    element_bytes = std::max(element_bytes, bytes);
    bytes_moved += bytes * CountOf(operand.dims);
  }
  ChooseTiles(element_bytes > 8 ? kTileElements / 2 : kTileElements);

  slice_count_ = CeilDiv(writer_.walk().count, kSliceElements);
  cost_ = bytes_moved * operation.weight;
}

void ElementwiseKernel::ChooseTiles(int64_t max_tile) {
  row_ = std::max<int64_t>(writer_.walk().count, 1);
  const auto consider = [&](const Walk& walk) {
    if (walk.IsDense() || walk.IsOneElement()) return;
    const int64_t stride = walk.row_stride();
    if ((stride == 0 || stride == 1) && walk.row_size() >= kMinRow) {
      row_ = std::min(row_, walk.row_size());
    }
  };
  consider(writer_.walk());
  for (std::size_t i = 0; i < input_count_; ++i) {
    if (present_[i]) consider(readers_[i].walk());
  }
  // Equal parts of a row, no stub at its end.
  tile_ = CeilDiv(row_, CeilDiv(row_, max_tile));
}

RunStatus ElementwiseKernel::Run(const RunArgs& args) const noexcept {
  TileSlot slots[kMaxTileInputs];
  TileBuffer out_buffer;
  TileBuffer raw;
  const void* tiles[kMaxTileInputs] = {};
  const int64_t end =
      std::min(args.slice_end * kSliceElements, writer_.walk().count);
  for (int64_t begin = args.slice_begin * kSliceElements; begin < end;) {
    const int64_t n = TileEnd(begin, end) - begin;
    for (std::size_t i = 0; i < input_count_; ++i) {
      if (!present_[i]) continue;
      tiles[i] =
          readers_[i].Read(args.inputs[source_[i]], begin, n, slots[i], raw);
    }
    void* out = writer_.Target(args.outputs[0], begin, n, out_buffer);
    function_(tiles, out, n, params_);
    writer_.Commit(args.outputs[0], begin, n, out_buffer, raw);
    begin += n;
  }
  return {};
}

Expected<PreparedPtr> PrepareElementwise(const Request& request) {
  const std::optional<TileOperation> operation = FindTileOperation(request);
  if (!operation.has_value()) return UnsupportedDTypes(request);
  return std::make_unique<ElementwiseKernel>(request, *operation);
}

// The statistics have one dim, which is dim 1 of the data: dims of one element
// behind it make them broadcast like anything else.
Expected<PreparedPtr> PrepareBatchNormalization(const Request& request) {
  const std::size_t rank = InputOf(request, 0).dims.size();
  std::vector<Operand> inputs(request.inputs.begin(), request.inputs.end());
  std::array<Dims, kMaxTileInputs> dims;
  std::array<Dims, kMaxTileInputs> strides;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    dims[i].assign(rank - 1, 1);
    strides[i].assign(rank - 1, 1);
    dims[i][0] = inputs[i].dims[0];
    strides[i][0] = inputs[i].strides[0];
    inputs[i].dims = dims[i];
    inputs[i].strides = strides[i];
  }
  return PrepareElementwise(Request{.info = request.info,
                                    .attributes = request.attributes,
                                    .inputs = inputs,
                                    .outputs = request.outputs,
                                    .backend = request.backend,
                                    .threads = request.threads});
}

constexpr KernelRow AnyForms(Expected<PreparedPtr> (*prepare)(const Request&)) {
  return {.prepare = prepare,
          .data_form = Form::kAny,
          .other_form = Form::kAny,
          .output_form = Form::kAny};
}
constexpr KernelRow kRow = AnyForms(PrepareElementwise);

}  // namespace

const KernelRow kNegKernel = kRow;
const KernelRow kAbsKernel = kRow;
const KernelRow kSqrtKernel = kRow;
const KernelRow kExpKernel = kRow;
const KernelRow kLogKernel = kRow;
const KernelRow kErfKernel = kRow;
const KernelRow kReciprocalKernel = kRow;
const KernelRow kReluKernel = kRow;
const KernelRow kLeakyReluKernel = kRow;
const KernelRow kSigmoidKernel = kRow;
const KernelRow kHardSigmoidKernel = kRow;
const KernelRow kHardSwishKernel = kRow;
const KernelRow kTanhKernel = kRow;
const KernelRow kGeluKernel = kRow;
const KernelRow kNotKernel = kRow;
const KernelRow kClipKernel = kRow;
const KernelRow kCastKernel = kRow;
const KernelRow kAddKernel = kRow;
const KernelRow kSubKernel = kRow;
const KernelRow kMulKernel = kRow;
const KernelRow kDivKernel = kRow;
const KernelRow kPowKernel = kRow;
const KernelRow kMinKernel = kRow;
const KernelRow kMaxKernel = kRow;
const KernelRow kPReluKernel = kRow;
const KernelRow kAndKernel = kRow;
const KernelRow kOrKernel = kRow;
const KernelRow kEqualKernel = kRow;
const KernelRow kGreaterKernel = kRow;
const KernelRow kLessKernel = kRow;
const KernelRow kGreaterOrEqualKernel = kRow;
const KernelRow kLessOrEqualKernel = kRow;
const KernelRow kWhereKernel = kRow;
const KernelRow kBatchNormalizationKernel = AnyForms(PrepareBatchNormalization);

}  // namespace ebb::kernels
