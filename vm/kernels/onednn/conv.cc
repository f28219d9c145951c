// Conv by oneDNN. Channels-last tensors go through its direct kernels, whose
// weights are packed; constants that are packed as they ask for are used in
// place, others are reordered into scratch by every worker. Plain tensors go
// to the portable kernels (2 to 10 times faster than oneDNN there), but for
// 1x1 and for small images with many channels.
#include <algorithm>
#include <array>
#include <utility>

#include "vm/kernels/onednn/conv_shape.h"
#include "vm/kernels/onednn/library.h"
#include "vm/kernels/onednn/products.h"
#include "vm/kernels/portable/request.h"

namespace ebb::kernels::onednn {
namespace {

constexpr int64_t kSharedCost = 1 << 18;
// Multiply-adds per weight above which turning the weights over on every run
// is cheap.
constexpr int64_t kLeastReuse = 256;

std::unexpected<Error> LeaveToPortable() {
  return Fail(ErrorCode::kUnsupported, "onednn: better done by own code");
}

bool WorthIt(const ConvShape& shape) {
  if (shape.channels_last) return true;
  if (shape.group != 1) return false;
  if (shape.pointwise()) return true;
  const int64_t depth = shape.in_channels * shape.h.kernel * shape.w.kernel;
  return shape.h.output * shape.w.output <= 256 && depth >= 256 &&
         shape.out_channels >= 64;
}

// A slice: which primitive, and where its operands start (in elements).
struct Piece {
  std::size_t step = 0;
  int64_t in = 0, weights = 0, bias = 0, out = 0;
};

class Conv final : public Prepared {
 public:
  Conv(const ConvShape& shape, int threads) : shape_(shape), threads_(threads) {
    cost_ = shape.cost();
  }

  Status Init(const Request& request) {
    const Operand& w = InputOf(request, 1);
    const int spatial_rank = static_cast<int>(w.dims.size()) - 2;
    std::optional<MemoryDesc> packed;
    if (w.constant_data != nullptr && w.packing != nullptr) {
      packed = DescOfPackedWeights(shape_, *w.packing, spatial_rank);
      if (!packed.has_value()) return LeaveToPortable();
    }
    const SingleThread single;
    TRY(engine_, MakeEngine());
    RETURN_IF_ERROR(ChooseWeights(packed));
    RETURN_IF_ERROR(CutSlices());
    weights_bytes_ = 0;
    if (reorder_.has_value()) {
      weights_bytes_ = (BytesOf(weights_) + 63) / 64 * 64;
      step_bytes_ = std::max(step_bytes_, reorder_->scratch_bytes());
    }
    worker_bytes_ = weights_bytes_ + std::max<int64_t>(step_bytes_, 64);
    scratch_bytes_ = worker_bytes_ * threads_;
    slice_count_ = static_cast<int64_t>(pieces_.size());
    return {};
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    const SingleThread single;
    std::byte* own = args.scratch + args.worker * worker_bytes_;
    std::byte* scratch = own + weights_bytes_;
    // The library's arguments are not const; inputs are only read.
    auto* weights =
        const_cast<float*>(static_cast<const float*>(args.inputs[1]));
    if (reorder_.has_value()) {
      const std::array<void*, 2> data = {weights, own};
      const RunStatus status = reorder_->Run(args.worker, data, scratch);
      if (!status.ok()) return status;
      weights = reinterpret_cast<float*>(own);
    }
    for (int64_t s = args.slice_begin; s < args.slice_end; ++s) {
      const Piece& piece = pieces_[s];
      std::array<void*, 4> data = {
          const_cast<float*>(static_cast<const float*>(args.inputs[0])) +
              piece.in,
          weights + piece.weights,
          static_cast<float*>(args.outputs[0]) + piece.out, nullptr};
      if (shape_.has_bias) {
        data[3] =
            const_cast<float*>(static_cast<const float*>(args.inputs[2])) +
            piece.bias;
      }
      const RunStatus status = steps_[piece.step].Run(
          args.worker,
          std::span<void* const>(data.data(), shape_.has_bias ? 4 : 3),
          scratch);
      if (!status.ok()) return status;
    }
    return {};
  }

 private:
  ConvPart WholePart() const {
    return {.batch = shape_.batch,
            .channels = shape_.out_channels,
            .rows = shape_.h.output,
            .input_rows = shape_.h.input,
            .pad_top = shape_.h.pad_begin,
            .pad_bottom = PadBottom(shape_.h.output, shape_.h.input)};
  }

  // Rows below the input's end that output rows [0, rows) reach.
  int64_t PadBottom(int64_t rows, int64_t input_rows) const {
    return (rows - 1) * shape_.h.stride - shape_.h.pad_begin +
           (shape_.h.kernel - 1) * shape_.h.dilation + 1 - input_rows;
  }

  // Sets weights_ (the form that the primitives take) and reorder_.
  Status ChooseWeights(const std::optional<MemoryDesc>& packed) {
    const ConvPart whole = WholePart();
    const MemoryDesc given = packed.value_or(DescOfPlainWeights(shape_, whole));
    weights_ = given;
    if (DescribeConv(engine_.get(), shape_, whole, given).has_value() &&
        (packed.has_value() || !shape_.channels_last)) {
      return {};
    }
    if (!shape_.channels_last) return LeaveToPortable();
    TRY(const Owned<dnnl_primitive_desc> wanted,
        DescribeConv(engine_.get(), shape_, whole, std::nullopt));
    weights_ = QueryDesc(wanted.get(), dnnl_query_weights_md);
    if (SameLayout(weights_, given)) return {};
    // Constants that are packed stay with this kernel whatever the shape:
    // unpacking them would take memory that no plan knows of.
    const int64_t reuse =
        shape_.batch * shape_.h.output * shape_.w.output / threads_;
    if (!packed.has_value() && reuse < kLeastReuse) return LeaveToPortable();
    TRY(const Owned<dnnl_primitive_desc> reorder,
        DescribeReorder(engine_.get(), given, weights_));
    const std::array<Step::Argument, 2> arguments = {
        Step::Argument{DNNL_ARG_FROM, given},
        Step::Argument{DNNL_ARG_TO, weights_}};
    TRY(reorder_,
        Step::Make(engine_.get(), reorder.get(), arguments, threads_));
    return {};
  }

  // The primitive of a part, made when it is first needed.
  Expected<std::size_t> StepOf(const ConvPart& part) {
    const auto at = std::find(parts_.begin(), parts_.end(), part);
    if (at != parts_.end()) {
      return static_cast<std::size_t>(at - parts_.begin());
    }
    const MemoryDesc weights = part.channels == shape_.out_channels
                                   ? weights_
                                   : DescOfPlainWeights(shape_, part);
    TRY(const Owned<dnnl_primitive_desc> description,
        DescribeConv(engine_.get(), shape_, part, weights));
    std::vector<Step::Argument> arguments = {
        {DNNL_ARG_SRC, DescOfInput(shape_, part)},
        {DNNL_ARG_WEIGHTS, weights},
        {DNNL_ARG_DST, DescOfOutput(shape_, part)}};
    if (shape_.has_bias) {
      arguments.push_back({DNNL_ARG_BIAS, DescOfBias(part)});
    }
    TRY(Step step,
        Step::Make(engine_.get(), description.get(), arguments, threads_));
    step_bytes_ = std::max(step_bytes_, step.scratch_bytes());
    steps_.push_back(std::move(step));
    parts_.push_back(part);
    return steps_.size() - 1;
  }

  Status CutSlices() {
    const ConvPart whole = WholePart();
    const bool shared = threads_ > 1 && shape_.cost() >= kSharedCost;
    if (!shared) {
      TRY(const std::size_t step, StepOf(whole));
      pieces_.push_back({.step = step});
      return {};
    }
    const int64_t wanted = CeilDiv(2 * threads_, shape_.batch);
    for (int64_t n = 0; n < shape_.batch; ++n) {
      const Piece image{.in = n * shape_.in_strides[0],
                        .out = n * shape_.out_strides[0]};
      RETURN_IF_ERROR(shape_.channels_last ? CutRows(image, wanted)
                                           : CutChannels(image, wanted));
    }
    return {};
  }

  // Channels-last images are cut into rows: each part is dense by itself.
  Status CutRows(const Piece& image, int64_t wanted) {
    const WindowAxis& h = shape_.h;
    const int64_t rows = CeilDiv(h.output, wanted);
    for (int64_t y = 0; y < h.output; y += rows) {
      ConvPart part{.batch = 1, .channels = shape_.out_channels};
      part.rows = std::min(rows, h.output - y);
      const int64_t first = y * h.stride - h.pad_begin;
      const int64_t last = (y + part.rows - 1) * h.stride - h.pad_begin +
                           (h.kernel - 1) * h.dilation;
      const int64_t begin = std::clamp<int64_t>(first, 0, h.input - 1);
      const int64_t end = std::clamp<int64_t>(last + 1, begin + 1, h.input);
      part.input_rows = end - begin;
      part.pad_top = begin - first;
      part.pad_bottom = last + 1 - end;
      TRY(const std::size_t step, StepOf(part));
      Piece piece = image;
      piece.step = step;
      piece.in += begin * shape_.in_strides[2];
      piece.out += y * shape_.out_strides[2];
      pieces_.push_back(piece);
    }
    return {};
  }

  // Plain images are cut into output channels, for the same reason.
  Status CutChannels(const Piece& image, int64_t wanted) {
    const int64_t channels =
        std::min(CeilDiv(CeilDiv(shape_.out_channels, wanted), 16) * 16,
                 shape_.out_channels);
    for (int64_t m = 0; m < shape_.out_channels; m += channels) {
      ConvPart part = WholePart();
      part.batch = 1;
      part.channels = std::min(channels, shape_.out_channels - m);
      TRY(const std::size_t step, StepOf(part));
      Piece piece = image;
      piece.step = step;
      piece.weights =
          m * shape_.in_channels * shape_.h.kernel * shape_.w.kernel;
      piece.bias = m;
      piece.out += m * shape_.out_strides[1];
      pieces_.push_back(piece);
    }
    return {};
  }

  ConvShape shape_;
  int threads_;
  Owned<dnnl_engine> engine_;
  MemoryDesc weights_{};
  std::optional<Step> reorder_;
  std::vector<ConvPart> parts_;  // What each step does.
  std::vector<Step> steps_;
  std::vector<Piece> pieces_;  // One a slice.
  int64_t step_bytes_ = 0;
  int64_t weights_bytes_ = 0;
  int64_t worker_bytes_ = 0;
};

}  // namespace

Expected<PreparedPtr> PrepareConv(const Request& request) {
  TRY(const ConvShape shape, MakeConvShape(request));
  if (!WorthIt(shape)) return LeaveToPortable();
  auto made = std::make_unique<Conv>(shape, request.threads);
  RETURN_IF_ERROR(made->Init(request));
  return PreparedPtr(std::move(made));
}

std::optional<Packing> WantedConvPacking(const Request& request) {
  const Expected<ConvShape> shape = MakeConvShape(request);
  if (!shape.has_value() || !shape->channels_last) return std::nullopt;
  const SingleThread single;
  const Expected<Owned<dnnl_engine>> engine = MakeEngine();
  if (!engine.has_value()) return std::nullopt;
  const ConvPart whole{.batch = 1,
                       .channels = shape->out_channels,
                       .rows = shape->h.output,
                       .input_rows = shape->h.input,
                       .pad_top = shape->h.pad_begin,
                       .pad_bottom = (shape->h.output - 1) * shape->h.stride -
                                     shape->h.pad_begin +
                                     (shape->h.kernel - 1) * shape->h.dilation +
                                     1 - shape->h.input};
  const auto description =
      DescribeConv(engine->get(), *shape, whole, std::nullopt);
  if (!description.has_value()) return std::nullopt;
  return PackingOfWeights(*shape,
                          QueryDesc(description->get(), dnnl_query_weights_md),
                          static_cast<int>(request.inputs[1].dims.size()) - 2);
}

}  // namespace ebb::kernels::onednn
