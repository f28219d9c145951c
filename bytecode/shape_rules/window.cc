#include "bytecode/shape_rules/window.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "bytecode/shape_rules/conv.h"
#include "bytecode/shape_rules/pool.h"

namespace ebb {
namespace {

Expected<AutoPad> AutoPadFromName(std::string_view name) {
  if (name == "NOTSET") return AutoPad::kNotSet;
  if (name == "VALID") return AutoPad::kValid;
  if (name == "SAME_UPPER") return AutoPad::kSameUpper;
  if (name == "SAME_LOWER") return AutoPad::kSameLower;
  return ArgumentError("auto_pad '" + std::string(name) +
                       "' is none of NOTSET, VALID, SAME_UPPER, SAME_LOWER");
}

// The attribute as a list of `size` values, each at least `low`; `fallback`
// for all when it is not given.
Expected<Dims> ReadList(const Attributes& attributes, std::string_view name,
                        std::size_t size, int64_t low, int64_t fallback) {
  const DimSpan given = attributes.Ints(name);
  if (given.empty()) return Dims(size, fallback);
  if (given.size() != size) {
    return ShapeError(std::string(name) + " has " +
                      std::to_string(given.size()) + " entries, expected " +
                      std::to_string(size));
  }
  for (const int64_t value : given) {
    if (value < low) {
      return ArgumentError(std::string(name) + " " + std::to_string(value) +
                           " is below " + std::to_string(low));
    }
  }
  return Dims(given.begin(), given.end());
}

bool IsSame(AutoPad auto_pad) {
  return auto_pad == AutoPad::kSameUpper || auto_pad == AutoPad::kSameLower;
}

// Splits the padding, or for ConvTranspose what is cut off. The odd element
// comes last with `more_at_end`.
void SplitPadding(int64_t total, bool more_at_end, WindowAxis& axis) {
  total = std::max<int64_t>(total, 0);
  axis.pad_begin = more_at_end ? total / 2 : total - total / 2;
  axis.pad_end = total - axis.pad_begin;
}

void SetPads(IntArith& arith, const WindowAttributes& window, int at,
             bool transposed, WindowAxis& axis) {
  if (transposed && (!window.output_shape.empty() || IsSame(window.auto_pad))) {
    const int64_t extent =
        TransposedExtent(arith, window, at, axis.input, axis.kernel);
    SplitPadding(arith.Sub(extent, axis.output),
                 window.auto_pad == AutoPad::kSameUpper, axis);
  } else if (!transposed && IsSame(window.auto_pad)) {
    const int64_t extent =
        arith.Add(arith.Mul(arith.Sub(axis.output, 1), axis.stride),
                  WindowExtent(arith, axis.kernel, axis.dilation));
    SplitPadding(arith.Sub(extent, axis.input),
                 window.auto_pad == AutoPad::kSameUpper, axis);
  } else {
    const auto i = static_cast<std::size_t>(at);
    axis.pad_begin = window.pads[i];
    axis.pad_end = window.pads[i + window.strides.size()];
  }
}

std::unexpected<Error> Overflow() {
  return Fail(ErrorCode::kLimit, "window dims overflow int64");
}

void AppendAxis(IntArith& arith, const WindowAttributes& window, int at,
                bool transposed, int64_t input, int64_t kernel, int64_t output,
                WindowGeometry& g) {
  WindowAxis axis{.input = input,
                  .kernel = kernel,
                  .stride = window.strides[static_cast<std::size_t>(at)],
                  .dilation = window.dilations[static_cast<std::size_t>(at)],
                  .output = output};
  SetPads(arith, window, at, transposed, axis);
  g.axes.push_back(axis);
}

Expected<WindowGeometry> ConvolutionGeometry(const Attributes& attributes,
                                             DimSpan input, DimSpan weights,
                                             bool transposed) {
  if (input.size() < 3 || input.size() != weights.size()) {
    return ShapeError("input has rank " + std::to_string(input.size()) +
                      ", weights have rank " + std::to_string(weights.size()));
  }
  TRY(const WindowAttributes window,
      ReadWindowAttributes(attributes, static_cast<int>(input.size()) - 2));
  IntArith arith;
  const Dims x(input.begin(), input.end());
  const Dims w(weights.begin(), weights.end());
  TRY(const ConvDims<IntArith> conv,
      InferConvDims(arith, window, x, w, transposed));
  WindowGeometry g{.batch = x[0],
                   .in_channels = x[1],
                   .out_channels = conv.out_channels,
                   .group = window.group,
                   .axes = {}};
  for (int at = 0; at < window.rank(); ++at) {
    const auto i = static_cast<std::size_t>(at);
    AppendAxis(arith, window, at, transposed, x[i + 2], conv.kernel[i],
               conv.spatial[i], g);
  }
  if (arith.failed()) return Overflow();
  return g;
}

}  // namespace

Expected<WindowAttributes> ReadWindowAttributes(const Attributes& attributes,
                                                int spatial_rank) {
  const auto rank = static_cast<std::size_t>(spatial_rank);
  WindowAttributes window;
  TRY(window.auto_pad,
      AutoPadFromName(attributes.String("auto_pad", "NOTSET")));
  window.ceil_mode = attributes.Int("ceil_mode", 0) != 0;
  window.group = attributes.Int("group", 1);
  if (window.group <= 0) {
    return ArgumentError("group " + std::to_string(window.group) +
                         " is not positive");
  }
  if (!attributes.Ints("kernel_shape").empty()) {
    TRY(window.kernel, ReadList(attributes, "kernel_shape", rank, 1, 1));
  }
  TRY(window.strides, ReadList(attributes, "strides", rank, 1, 1));
  TRY(window.dilations, ReadList(attributes, "dilations", rank, 1, 1));
  TRY(window.pads, ReadList(attributes, "pads", 2 * rank, 0, 0));
  if (window.auto_pad != AutoPad::kNotSet) {
    std::fill(window.pads.begin(), window.pads.end(), 0);
  }
  TRY(window.output_padding,
      ReadList(attributes, "output_padding", rank, 0, 0));
  for (std::size_t i = 0; i < rank; ++i) {
    // Otherwise whole output positions beyond every window would be asked
    // for; ONNX and its runtimes agree on this bound.
    const int64_t bound = std::max(window.strides[i], window.dilations[i]);
    if (window.output_padding[i] >= bound) {
      return ArgumentError(
          "output_padding " + std::to_string(window.output_padding[i]) +
          " is not below stride or dilation " + std::to_string(bound));
    }
  }
  DimSpan shape = attributes.Ints("output_shape");
  // Some exporters write batch and channels too.
  if (shape.size() == rank + 2) shape = shape.subspan(2);
  if (!shape.empty()) {
    if (shape.size() != rank) {
      return ShapeError("output_shape has " + std::to_string(shape.size()) +
                        " entries, expected " + std::to_string(rank));
    }
    window.output_shape.assign(shape.begin(), shape.end());
    for (const int64_t dim : shape) {
      if (dim <= 0) {
        return ArgumentError("output_shape " + std::to_string(dim) +
                             " is not positive");
      }
    }
  }
  return window;
}

Expected<WindowGeometry> PoolGeometry(const Attributes& attributes,
                                      DimSpan input) {
  if (input.size() < 3) {
    return ShapeError("input has rank " + std::to_string(input.size()) +
                      ", expected 3 or more");
  }
  TRY(const WindowAttributes window,
      ReadWindowAttributes(attributes, static_cast<int>(input.size()) - 2));
  IntArith arith;
  const Dims x(input.begin(), input.end());
  TRY(const Dims out, InferPoolDims(arith, window, x));
  WindowGeometry g{.batch = x[0],
                   .in_channels = x[1],
                   .out_channels = x[1],
                   .group = 1,
                   .axes = {}};
  for (int at = 0; at < window.rank(); ++at) {
    const auto i = static_cast<std::size_t>(at);
    AppendAxis(arith, window, at, false, x[i + 2], window.kernel[i], out[i + 2],
               g);
  }
  if (arith.failed()) return Overflow();
  return g;
}

Expected<WindowGeometry> ConvGeometry(const Attributes& attributes,
                                      DimSpan input, DimSpan weights) {
  return ConvolutionGeometry(attributes, input, weights, false);
}

Expected<WindowGeometry> ConvTransposeGeometry(const Attributes& attributes,
                                               DimSpan input, DimSpan weights) {
  return ConvolutionGeometry(attributes, input, weights, true);
}

}  // namespace ebb
