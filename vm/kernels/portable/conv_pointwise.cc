// Convolution by 1x1 with stride 1 and no padding: a matrix product over the
// pixels, without a slab. The pixels of input and output must each be one
// evenly spaced run; the output's channels or pixels must be dense.
#include <algorithm>
#include <utility>

#include "vm/kernels/portable/conv_problem.h"
#include "vm/kernels/portable/gemm.h"
#include "vm/kernels/portable/gemm_constant.h"
#include "vm/kernels/portable/gemm_elements.h"
#include "vm/kernels/portable/request.h"

namespace ebb::kernels {
namespace {

constexpr int64_t kSharedCost = 1 << 18;

// Distance of neighbouring pixels when all of them are one run.
std::optional<int64_t> PixelStride(const ConvAxes& strides,
                                   const ConvAxes& dims) {
  std::optional<int64_t> stride;
  int64_t next = 0;
  for (std::size_t a = kConvAxes; a-- > 0;) {
    if (dims[a] == 1) continue;
    if (!stride.has_value()) {
      stride = strides[a];
    } else if (strides[a] != next) {
      return std::nullopt;
    }
    next = strides[a] * dims[a];
  }
  return stride.value_or(1);
}

struct Layout {
  int64_t in_pixel = 0;
  int64_t out_pixel = 0;
  int64_t pixels = 0;
  bool channels_last = false;  // Of the output.
};

template <class T>
struct Bias {
  const ConvProblem* problem;
  const void* bias;
  int64_t first;  // Output channel of the group.
  void* out;
  int64_t out_offset;
  Layout layout;
};

// Rows are output channels, or pixels when channels are last.
template <class T>
void FinishBlock(const void* context, T* block, int64_t stride, int64_t m,
                 int64_t rows, int64_t n, int64_t columns) {
  const auto& b = *static_cast<const Bias<T>*>(context);
  const DType dtype = b.problem->dtype;
  const bool last = b.layout.channels_last;
  constexpr int64_t kChunk = 256;
  T values[kChunk];
  for (int64_t j = 0; j < columns && b.bias != nullptr; j += kChunk) {
    const int64_t count = std::min(kChunk, columns - j);
    if (last) {
      LoadRow<T>(dtype, b.bias, b.first + n + j, 1, count, values);
    }
    for (int64_t i = 0; i < rows; ++i) {
      T* row = block + i * stride + j;
      if (last) {
        for (int64_t q = 0; q < count; ++q) row[q] += values[q];
      } else {
        T value;
        LoadRow<T>(dtype, b.bias, b.first + m + i, 1, 1, &value);
        for (int64_t q = 0; q < count; ++q) row[q] += value;
      }
    }
  }
  if (!IsHalf(dtype)) return;
  const int64_t row_stride = last ? b.layout.out_pixel : b.problem->out.channel;
  for (int64_t i = 0; i < rows; ++i) {
    StoreRow<T>(dtype, block + i * stride, columns, b.out,
                b.out_offset + (m + i) * row_stride + n, 1);
  }
}

template <class T>
class ConvPointwise final : public Prepared {
 public:
  ConvPointwise(const Request& request, const ConvProblem& problem,
                const Layout& layout)
      : problem_(problem),
        layout_(layout),
        weights_(InputOf(request, 1)),
        plan_(Settings(1, 1)) {
    cost_ = problem.Cost();
    m_ = layout.channels_last ? layout.pixels : problem.out_channels;
    n_ = layout.channels_last ? problem.out_channels : layout.pixels;
    m_slice_ = m_;
    n_slice_ = n_;
    const int64_t outer = problem.batch * problem.groups;
    const int64_t wanted = CeilDiv(2 * problem.threads, outer);
    if (problem.threads > 1 && wanted > 1 && cost_ >= kSharedCost) {
      const bool rows = m_ > n_;
      plan_ = GemmPlan<T>(Settings(m_, n_));
      const int64_t grain = rows ? plan_.row_grain() : plan_.column_grain();
      int64_t& slice = rows ? m_slice_ : n_slice_;
      slice = std::min(CeilDiv(CeilDiv(slice, wanted), grain) * grain, slice);
    }
    m_slices_ = CeilDiv(m_, m_slice_);
    n_slices_ = CeilDiv(n_, n_slice_);
    plan_ = GemmPlan<T>(Settings(m_slice_, n_slice_));
    slice_count_ = outer * m_slices_ * n_slices_;
    scratch_bytes_ = plan_.scratch_bytes() * problem.threads;
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    std::byte* scratch = args.scratch + args.worker * plan_.scratch_bytes();
    for (int64_t s = args.slice_begin; s < args.slice_end; ++s) {
      RunSlice(args, s, scratch);
    }
    return {};
  }

 private:
  GemmSettings Settings(int64_t m, int64_t n) const {
    return {
        .m = m,
        .n = n,
        .k = problem_.in_channels,
        .a_dtype = problem_.dtype,
        .b_dtype = problem_.dtype,
        .b = layout_.channels_last
                 ? MatrixView{nullptr, 1, problem_.weight_out}
                 : MatrixView{nullptr, problem_.in.channel, layout_.in_pixel},
        .tile_output = IsHalf(problem_.dtype),
        .whole_m =
            layout_.channels_last ? layout_.pixels : problem_.out_channels};
  }

  void RunSlice(const RunArgs& args, int64_t slice, std::byte* scratch) const {
    const int64_t column = slice % n_slices_;
    const int64_t row = slice / n_slices_ % m_slices_;
    const int64_t outer = slice / n_slices_ / m_slices_;
    const int64_t group = outer % problem_.groups;
    const int64_t batch = outer / problem_.groups;
    const int64_t bytes = DTypeBits(problem_.dtype) / 8;
    const int64_t in_offset =
        batch * problem_.in.batch +
        group * problem_.in_channels * problem_.in.channel;
    const int64_t first = group * problem_.out_channels;
    const int64_t out_offset =
        batch * problem_.out.batch + first * problem_.out.channel;
    const MatrixView image{
        static_cast<const std::byte*>(args.inputs[0]) + in_offset * bytes,
        problem_.in.channel, layout_.in_pixel};
    const MatrixView weights{
        static_cast<const std::byte*>(weights_.Data(args.inputs[1])) +
            group * problem_.weight_group * bytes,
        problem_.weight_out, 1};
    const bool last = layout_.channels_last;
    const bool half = IsHalf(problem_.dtype);
    const Bias<T> finish{.problem = &problem_,
                         .bias = problem_.has_bias ? args.inputs[2] : nullptr,
                         .first = first,
                         .out = args.outputs[0],
                         .out_offset = out_offset,
                         .layout = layout_};
    GemmSlice<T> work{
        .a = last
                 ? MatrixView{image.data, image.column_stride, image.row_stride}
                 : weights,
        .b = last ? MatrixView{weights.data, 1, problem_.weight_out} : image,
        .m_begin = row * m_slice_,
        .m_end = std::min((row + 1) * m_slice_, m_),
        .n_begin = column * n_slice_,
        .n_end = std::min((column + 1) * n_slice_, n_),
        .c = half ? nullptr : static_cast<T*>(args.outputs[0]) + out_offset,
        .c_stride = last ? layout_.out_pixel : problem_.out.channel,
        .finish = {}};
    if (half || finish.bias != nullptr) {
      work.finish = {.run = FinishBlock<T>, .context = &finish};
    }
    plan_.Run(work, scratch);
  }

  ConvProblem problem_;
  Layout layout_;
  DenseConstant weights_;
  GemmPlan<T> plan_;
  int64_t m_ = 0, n_ = 0;
  int64_t m_slice_ = 0, n_slice_ = 0;
  int64_t m_slices_ = 1, n_slices_ = 1;
};

bool IsPointwise(const ConvProblem& problem) {
  if (problem.phases.size() != 1) return false;
  const ConvPhase& phase = problem.phases[0];
  return phase.taps.size() == 1 && problem.weight_in == 1 &&
         phase.taps[0].offset == ConvAxes{0, 0, 0} &&
         problem.input_step == ConvAxes{1, 1, 1} &&
         phase.step == ConvAxes{1, 1, 1} && problem.input == phase.count;
}

}  // namespace

Expected<PreparedPtr> PrepareConvPointwise(const Request& request,
                                           const ConvProblem& problem) {
  if (!IsPointwise(problem)) return PreparedPtr();
  const auto in_pixel = PixelStride(problem.in.axes, problem.input);
  const auto out_pixel = PixelStride(problem.out.axes, problem.input);
  if (!in_pixel.has_value() || !out_pixel.has_value()) return PreparedPtr();
  const int64_t pixels = problem.input[0] * problem.input[1] * problem.input[2];
  const Layout layout{
      .in_pixel = *in_pixel,
      .out_pixel = *out_pixel,
      .pixels = pixels,
      .channels_last = problem.out.channel == 1 && *out_pixel != 1};
  if (!layout.channels_last && *out_pixel != 1) return PreparedPtr();
  if (problem.batch * problem.groups * problem.out_channels * pixels == 0) {
    return PreparedPtr();
  }
  PreparedPtr prepared;
  const bool taken = WithComputeType(problem.dtype, false, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      prepared = std::make_unique<ConvPointwise<T>>(request, problem, layout);
    }
  });
  if (!taken) return UnsupportedDTypes(request);
  return prepared;
}

}  // namespace ebb::kernels
