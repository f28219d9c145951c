#include "vm/kernels/portable/conv_problem.h"

#include <algorithm>
#include <string>

#include "vm/kernels/portable/request.h"

namespace ebb::kernels {
namespace {

// Phases of a transposed convolution; beyond this its strides are no model's.
constexpr int64_t kMaxPhases = 1 << 16;

// What one axis gives to a phase: places and taps.
struct AxisPhase {
  int64_t begin = 0, step = 1, count = 0;
  struct Tap {
    int64_t offset, index;
  };
  std::vector<Tap> taps;
};

ConvTensor TensorStrides(const Operand& operand) {
  ConvTensor tensor{.batch = operand.strides[0], .channel = operand.strides[1]};
  const std::size_t spatial = operand.strides.size() - 2;
  for (std::size_t a = 0; a < spatial; ++a) {
    tensor.axes[kConvAxes - spatial + a] = operand.strides[2 + a];
  }
  return tensor;
}

// All that both kinds share.
Expected<ConvProblem> Common(const Request& request,
                             const WindowGeometry& geometry) {
  if (geometry.axes.size() > kConvAxes) {
    return Fail(ErrorCode::kUnsupported,
                std::string(request.info.mnemonic) + ": " +
                    std::to_string(geometry.axes.size()) +
                    " spatial axes, at most 3 are built in");
  }
  ConvProblem problem{.dtype = InputOf(request, 0).dtype,
                      .batch = geometry.batch,
                      .groups = geometry.group,
                      .in_channels = geometry.in_channels / geometry.group,
                      .out_channels = geometry.out_channels / geometry.group,
                      .in = TensorStrides(InputOf(request, 0)),
                      .out = TensorStrides(OutputOf(request, 0)),
                      .has_bias = InputOf(request, 2).present(),
                      .phases = {},
                      .threads = request.threads};
  const std::size_t first = kConvAxes - geometry.axes.size();
  for (std::size_t a = 0; a < geometry.axes.size(); ++a) {
    problem.input[first + a] = geometry.axes[a].input;
    problem.output[first + a] = geometry.axes[a].output;
  }
  return problem;
}

// Combines one phase of each axis.
ConvPhase CombineAxes(const std::array<const AxisPhase*, kConvAxes>& axes,
                      const ConvAxes& kernel) {
  ConvPhase phase;
  for (std::size_t a = 0; a < kConvAxes; ++a) {
    phase.begin[a] = axes[a]->begin;
    phase.step[a] = axes[a]->step;
    phase.count[a] = axes[a]->count;
  }
  for (const AxisPhase::Tap& z : axes[0]->taps) {
    for (const AxisPhase::Tap& y : axes[1]->taps) {
      for (const AxisPhase::Tap& x : axes[2]->taps) {
        phase.taps.push_back(
            {.offset = {z.offset, y.offset, x.offset},
             .weight = (z.index * kernel[1] + y.index) * kernel[2] + x.index});
      }
    }
  }
  return phase;
}

AxisPhase ConvAxisPhase(const WindowAxis& axis) {
  AxisPhase phase{.begin = 0, .step = 1, .count = axis.output, .taps = {}};
  for (int64_t t = 0; t < axis.kernel; ++t) {
    const int64_t offset = t * axis.dilation - axis.pad_begin;
    // A tap that never meets the input adds nothing.
    if (offset >= axis.input || offset + (axis.output - 1) * axis.stride < 0) {
      continue;
    }
    phase.taps.push_back({.offset = offset, .index = t});
  }
  return phase;
}

std::vector<AxisPhase> TransposeAxisPhases(const WindowAxis& axis) {
  std::vector<AxisPhase> phases;
  for (int64_t r = 0; r < std::min(axis.stride, axis.output); ++r) {
    AxisPhase phase{.begin = r,
                    .step = axis.stride,
                    .count = CeilDiv(axis.output - r, axis.stride),
                    .taps = {}};
    for (int64_t t = 0; t < axis.kernel; ++t) {
      const int64_t place = r + axis.pad_begin - t * axis.dilation;
      if (place % axis.stride != 0) continue;
      const int64_t offset = place / axis.stride;
      if (offset >= axis.input || offset + phase.count - 1 < 0) continue;
      phase.taps.push_back({.offset = offset, .index = t});
    }
    phases.push_back(std::move(phase));
  }
  return phases;
}

const WindowAxis kUnitAxis{
    .input = 1, .kernel = 1, .stride = 1, .dilation = 1, .output = 1};

}  // namespace

int64_t ConvProblem::Cost() const {
  int64_t cost = 0;
  for (const ConvPhase& phase : phases) {
    cost += phase.count[0] * phase.count[1] * phase.count[2] *
            std::max<int64_t>(static_cast<int64_t>(phase.taps.size()), 1);
  }
  return cost * batch * groups * std::max<int64_t>(in_channels, 1) *
         out_channels;
}

Expected<ConvProblem> MakeConvProblem(const Request& request,
                                      const WindowGeometry& geometry) {
  TRY(ConvProblem problem, Common(request, geometry));
  std::array<AxisPhase, kConvAxes> axes;
  ConvAxes kernel{1, 1, 1};
  const std::size_t first = kConvAxes - geometry.axes.size();
  for (std::size_t a = 0; a < kConvAxes; ++a) {
    const WindowAxis& axis = a < first ? kUnitAxis : geometry.axes[a - first];
    axes[a] = ConvAxisPhase(axis);
    kernel[a] = axis.kernel;
    problem.input_step[a] = axis.stride;
  }
  problem.phases.push_back(CombineAxes({&axes[0], &axes[1], &axes[2]}, kernel));
  problem.weight_in = kernel[0] * kernel[1] * kernel[2];
  problem.weight_out = problem.weight_in * problem.in_channels;
  problem.weight_group = problem.weight_out * problem.out_channels;
  return problem;
}

Expected<ConvProblem> MakeConvTransposeProblem(const Request& request,
                                               const WindowGeometry& geometry) {
  TRY(ConvProblem problem, Common(request, geometry));
  ConvAxes kernel{1, 1, 1};
  const std::size_t first = kConvAxes - geometry.axes.size();
  int64_t count = 1;
  for (const WindowAxis& axis : geometry.axes) {
    if (__builtin_mul_overflow(count, std::min(axis.stride, axis.output),
                               &count) ||
        count > kMaxPhases) {
      return Fail(ErrorCode::kLimit,
                  "conv_transpose: the strides' product is above " +
                      std::to_string(kMaxPhases));
    }
  }
  std::array<std::vector<AxisPhase>, kConvAxes> axes;
  for (std::size_t a = 0; a < kConvAxes; ++a) {
    const WindowAxis& axis = a < first ? kUnitAxis : geometry.axes[a - first];
    axes[a] = TransposeAxisPhases(axis);
    kernel[a] = axis.kernel;
  }
  for (const AxisPhase& z : axes[0]) {
    for (const AxisPhase& y : axes[1]) {
      for (const AxisPhase& x : axes[2]) {
        problem.phases.push_back(CombineAxes({&z, &y, &x}, kernel));
      }
    }
  }
  problem.weight_out = kernel[0] * kernel[1] * kernel[2];
  problem.weight_in = problem.weight_out * problem.out_channels;
  problem.weight_group = problem.weight_in * problem.in_channels;
  return problem;
}

}  // namespace ebb::kernels
