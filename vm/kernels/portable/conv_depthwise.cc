// Depthwise convolution of channels-last tensors: channels are the lanes, so
// nothing is moved; every tap is one multiply-add over a run of channels. The
// weights are turned to [tap][channel] in scratch once per run.
#include <algorithm>
#include <utility>

#include "vm/kernels/portable/conv_problem.h"
#include "vm/kernels/portable/gemm_constant.h"
#include "vm/kernels/portable/gemm_elements.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/target.h"

namespace ebb::kernels {
namespace {

// sums[x][c] += weights[c] * in[x * step][c]
template <class T>
EBB_TARGET_CLONES void AddTap(const T* in, int64_t step, const T* weights,
                              int64_t places, int64_t channels, T* sums) {
  for (int64_t x = 0; x < places; ++x) {
    for (int64_t c = 0; c < channels; ++c) sums[c] += weights[c] * in[c];
    in += step;
    sums += channels;
  }
}

template <class T>
class ConvDepthwise final : public Prepared {
 public:
  ConvDepthwise(const Request& request, const ConvProblem& problem)
      : problem_(problem), weights_(InputOf(request, 1)) {
    const ConvPhase& phase = problem_.phases[0];
    const int64_t channels = problem_.groups;
    taps_ = static_cast<int64_t>(phase.taps.size());
    // The sums of a run of places stay in the first cache.
    places_ = std::clamp<int64_t>(4096 / channels, 1, phase.count[2]);
    rows_ = problem_.batch * phase.count[0] * phase.count[1];
    const int64_t row_cost =
        std::max<int64_t>(phase.count[2] * channels * taps_, 1);
    rows_per_slice_ = std::max<int64_t>(1, (1 << 17) / row_cost);
    if (problem_.threads == 1) rows_per_slice_ = rows_;
    slice_count_ = CeilDiv(rows_, rows_per_slice_);
    cost_ = problem_.Cost();
    // Turned weights, bias, sums, and one widened row of channels.
    worker_bytes_ = CeilDiv((taps_ + 1 + places_ + 1) * channels *
                                static_cast<int64_t>(sizeof(T)),
                            64) *
                    64;
    scratch_bytes_ = worker_bytes_ * problem_.threads;
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    const int64_t channels = problem_.groups;
    T* weights =
        reinterpret_cast<T*>(args.scratch + args.worker * worker_bytes_);
    T* bias = weights + taps_ * channels;
    T* sums = bias + channels;
    for (int64_t t = 0; t < taps_; ++t) {
      LoadRow<T>(problem_.dtype, weights_.Data(args.inputs[1]),
                 problem_.phases[0].taps[t].weight, problem_.weight_group,
                 channels, weights + t * channels);
    }
    std::fill(bias, bias + channels, T{0});
    if (problem_.has_bias) {
      LoadRow<T>(problem_.dtype, args.inputs[2], 0, 1, channels, bias);
    }
    const int64_t width = problem_.phases[0].count[2];
    const int64_t end = std::min(args.slice_end * rows_per_slice_, rows_);
    for (int64_t r = args.slice_begin * rows_per_slice_; r < end; ++r) {
      for (int64_t x = 0; x < width; x += places_) {
        RunPlaces(args, r, x, std::min(places_, width - x), weights, bias,
                  sums);
      }
    }
    return {};
  }

 private:
  void RunPlaces(const RunArgs& args, int64_t row, int64_t x, int64_t count,
                 const T* weights, const T* bias, T* sums) const {
    const ConvPhase& phase = problem_.phases[0];
    const ConvAxes& step = problem_.input_step;
    const int64_t channels = problem_.groups;
    const int64_t y = row % phase.count[1];
    const int64_t z = row / phase.count[1] % phase.count[0];
    const int64_t batch = row / phase.count[1] / phase.count[0];
    for (int64_t j = 0; j < count; ++j) {
      std::copy(bias, bias + channels, sums + j * channels);
    }
    for (int64_t t = 0; t < taps_; ++t) {
      const ConvAxes& offset = phase.taps[t].offset;
      const int64_t iz = z * step[0] + offset[0];
      const int64_t iy = y * step[1] + offset[1];
      if (iz < 0 || iz >= problem_.input[0] || iy < 0 ||
          iy >= problem_.input[1]) {
        continue;
      }
      // Places whose tap lies inside the row.
      const int64_t first = x * step[2] + offset[2];
      const int64_t begin = first >= 0 ? 0 : CeilDiv(-first, step[2]);
      const int64_t end =
          std::min(count, first >= problem_.input[2]
                              ? 0
                              : CeilDiv(problem_.input[2] - first, step[2]));
      if (begin >= end) continue;
      const int64_t at = batch * problem_.in.batch + iz * problem_.in.axes[0] +
                         iy * problem_.in.axes[1] +
                         (first + begin * step[2]) * problem_.in.axes[2];
      AddInput(args.inputs[0], at, step[2] * problem_.in.axes[2],
               weights + t * channels, end - begin, sums + begin * channels,
               sums + places_ * channels);
    }
    const int64_t out = batch * problem_.out.batch + z * problem_.out.axes[0] +
                        y * problem_.out.axes[1] + x * problem_.out.axes[2];
    for (int64_t j = 0; j < count; ++j) {
      StoreRow<T>(problem_.dtype, sums + j * channels, channels,
                  args.outputs[0], out + j * problem_.out.axes[2], 1);
    }
  }

  void AddInput(const void* input, int64_t at, int64_t stride, const T* weights,
                int64_t count, T* sums, T* widened) const {
    const int64_t channels = problem_.groups;
    if (!IsHalf(problem_.dtype)) {
      AddTap(static_cast<const T*>(input) + at, stride, weights, count,
             channels, sums);
      return;
    }
    for (int64_t j = 0; j < count; ++j) {
      LoadRow<T>(problem_.dtype, input, at + j * stride, 1, channels, widened);
      AddTap(widened, 0, weights, 1, channels, sums + j * channels);
    }
  }

  ConvProblem problem_;
  DenseConstant weights_;
  int64_t taps_ = 0;
  int64_t places_ = 0;
  int64_t rows_ = 0;
  int64_t rows_per_slice_ = 1;
  int64_t worker_bytes_ = 0;
};

}  // namespace

Expected<PreparedPtr> PrepareConvDepthwise(const Request& request,
                                           const ConvProblem& problem) {
  const bool taken_up = problem.phases.size() == 1 && problem.groups > 1 &&
                        problem.in_channels == 1 && problem.out_channels == 1 &&
                        problem.in.channel == 1 && problem.out.channel == 1 &&
                        problem.in.axes[2] != 1 && problem.batch > 0;
  if (!taken_up) return PreparedPtr();
  for (const int64_t count : problem.phases[0].count) {
    if (count == 0) return PreparedPtr();
  }
  PreparedPtr prepared;
  const bool taken = WithComputeType(problem.dtype, false, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      prepared = std::make_unique<ConvDepthwise<T>>(request, problem);
    }
  });
  if (!taken) return UnsupportedDTypes(request);
  return prepared;
}

}  // namespace ebb::kernels
