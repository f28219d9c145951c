// Windows of convolution and pooling: attributes checked and filled in, and
// per spatial axis where the windows lie. `WindowOutput` is the one formula
// for the output dim, over any arithmetic (rule.h); kernels take the resolved
// int64 form.
//
//   TRY(WindowGeometry g, ConvGeometry(attributes, x_dims, w_dims));
//   const WindowAxis& h = g.axes[0];
//   int64_t in = out * h.stride - h.pad_begin + tap * h.dilation;
//
// A window may hold no element of the input at all (wide padding or
// dilation): MaxPool then gives the lowest value of the dtype and index -1,
// AveragePool 0 divided by its count (0/0 is NaN).
#ifndef EBB_BYTECODE_SHAPE_RULES_WINDOW_H_
#define EBB_BYTECODE_SHAPE_RULES_WINDOW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytecode/attributes.h"
#include "bytecode/error.h"
#include "bytecode/shape_rules/geometry.h"

namespace ebb {

enum class AutoPad : uint8_t { kNotSet, kValid, kSameUpper, kSameLower };

// One value per spatial axis, `pads` begins first; defaults filled in.
// Checked: lengths, strides, dilations and kernel > 0, pads >= 0, group > 0.
struct WindowAttributes {
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
  int64_t group = 1;
  Dims kernel;  // Empty when not given.
  Dims strides;
  Dims dilations;
  Dims pads;            // Zeros unless auto_pad is kNotSet.
  Dims output_padding;  // ConvTranspose.
  Dims output_shape;    // ConvTranspose; empty when not given.

  int rank() const { return static_cast<int>(strides.size()); }
};
Expected<WindowAttributes> ReadWindowAttributes(const Attributes& attributes,
                                                int spatial_rank);

// One spatial axis. Tap t of output o reads input
// o * stride - pad_begin + t * dilation when that is in [0, input).
// ConvTranspose: input i adds to output i * stride - pad_begin + t * dilation
// when that is in [0, output).
struct WindowAxis {
  int64_t input = 0;
  int64_t kernel = 0;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;  // As asked for; ceil_mode may read beyond it.
  int64_t output = 0;
};

struct WindowGeometry {
  int64_t batch = 0;
  int64_t in_channels = 0;
  int64_t out_channels = 0;  // Pools: as in_channels.
  int64_t group = 1;
  std::vector<WindowAxis> axes;
};

// Input [N, C, spatial…]; for MaxPool and AveragePool.
Expected<WindowGeometry> PoolGeometry(const Attributes& attributes,
                                      DimSpan input);
// Weights [M, C / group, kernel…].
Expected<WindowGeometry> ConvGeometry(const Attributes& attributes,
                                      DimSpan input, DimSpan weights);
// Weights [C, M / group, kernel…].
Expected<WindowGeometry> ConvTransposeGeometry(const Attributes& attributes,
                                               DimSpan input, DimSpan weights);

// ceil and floor of x / divisor without building x / 1.
template <class A>
typename A::Dim FloorDivBy(A& arith, typename A::Dim x, int64_t divisor) {
  return divisor == 1 ? x : arith.FloorDiv(x, arith.Constant(divisor));
}
template <class A>
typename A::Dim CeilDivBy(A& arith, typename A::Dim x, int64_t divisor) {
  return divisor == 1 ? x : arith.CeilDiv(x, arith.Constant(divisor));
}

// (kernel - 1) * dilation + 1.
template <class A>
typename A::Dim WindowExtent(A& arith, typename A::Dim kernel,
                             int64_t dilation) {
  const auto one = arith.Constant(1);
  return arith.Add(arith.Mul(arith.Sub(kernel, one), arith.Constant(dilation)),
                   one);
}

// Output dim of a convolution or pool along spatial axis `axis`. Meaningless
// (not positive) when the window does not fit the padded input.
template <class A>
typename A::Dim WindowOutput(A& arith, const WindowAttributes& window, int axis,
                             typename A::Dim input, typename A::Dim kernel) {
  const auto at = static_cast<std::size_t>(axis);
  const int64_t stride = window.strides[at];
  if (window.auto_pad == AutoPad::kSameUpper ||
      window.auto_pad == AutoPad::kSameLower) {
    return CeilDivBy(arith, input, stride);
  }
  const auto one = arith.Constant(1);
  const auto begin = arith.Constant(window.pads[at]);
  const auto end = arith.Constant(window.pads[at + window.strides.size()]);
  const auto from_begin = arith.Add(input, begin);
  const auto room =
      arith.Sub(arith.Add(from_begin, end),
                WindowExtent(arith, kernel, window.dilations[at]));
  if (!window.ceil_mode) {
    return arith.Add(FloorDivBy(arith, room, stride), one);
  }
  if (stride == 1) return arith.Add(room, one);
  // The last window must start inside the input or the padding before it.
  return arith.Min(arith.Add(CeilDivBy(arith, room, stride), one),
                   CeilDivBy(arith, from_begin, stride));
}

// Output dim of a transposed convolution before anything is cut off.
template <class A>
typename A::Dim TransposedExtent(A& arith, const WindowAttributes& window,
                                 int axis, typename A::Dim input,
                                 typename A::Dim kernel) {
  const auto at = static_cast<std::size_t>(axis);
  const auto last = arith.Mul(arith.Sub(input, arith.Constant(1)),
                              arith.Constant(window.strides[at]));
  return arith.Add(arith.Add(last, arith.Constant(window.output_padding[at])),
                   WindowExtent(arith, kernel, window.dilations[at]));
}

// Output dim of a transposed convolution along spatial axis `axis`.
template <class A>
typename A::Dim TransposedOutput(A& arith, const WindowAttributes& window,
                                 int axis, typename A::Dim input,
                                 typename A::Dim kernel) {
  const auto at = static_cast<std::size_t>(axis);
  if (!window.output_shape.empty()) {
    return arith.Constant(window.output_shape[at]);
  }
  const auto extent = TransposedExtent(arith, window, axis, input, kernel);
  if (window.auto_pad == AutoPad::kSameUpper ||
      window.auto_pad == AutoPad::kSameLower) {
    // Cut to input * stride where there is more.
    return arith.Min(extent,
                     arith.Mul(input, arith.Constant(window.strides[at])));
  }
  return arith.Sub(arith.Sub(extent, arith.Constant(window.pads[at])),
                   arith.Constant(window.pads[at + window.strides.size()]));
}

// Fails when the output dim is known and the window lies nowhere.
template <class A>
Status RequireWindowFits(const A& arith, const WindowAttributes& window,
                         int axis, const typename A::Dim& input,
                         const typename A::Dim& kernel,
                         const typename A::Dim& output) {
  const auto known = arith.Known(output);
  if (!known.has_value() || *known > 0) return {};
  // SAME padding gives an empty output for an empty input.
  const auto known_input = arith.Known(input);
  if (*known == 0 && known_input == std::optional<int64_t>(0) &&
      window.auto_pad != AutoPad::kNotSet &&
      window.auto_pad != AutoPad::kValid) {
    return {};
  }
  const auto number = [](std::optional<int64_t> value) {
    return value.has_value() ? std::to_string(*value) : std::string("?");
  };
  return Fail(ErrorCode::kShapeMismatch,
              "spatial axis " + std::to_string(axis) + ": a kernel of " +
                  number(arith.Known(kernel)) + " on an input of " +
                  number(known_input) + " gives an output of " +
                  std::to_string(*known));
}

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_WINDOW_H_
