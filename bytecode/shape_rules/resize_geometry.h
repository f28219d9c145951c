// What ONNX Resize means for given dims: output sizes and, per axis, the
// numbers that the coordinate transformation needs. One entry per dim of the
// input, `axes` and absent lists already worked in.
//
//   TRY(ResizeGeometry g, ResolveResize(attributes, dims, roi, scales, sizes));
//   g.axes[3].output, g.axes[3].scale
#ifndef EBB_BYTECODE_SHAPE_RULES_RESIZE_GEOMETRY_H_
#define EBB_BYTECODE_SHAPE_RULES_RESIZE_GEOMETRY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bytecode/attributes.h"
#include "bytecode/error.h"
#include "bytecode/shape_rules/geometry.h"

namespace ebb {

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic };
enum class NearestMode : uint8_t {
  kRoundPreferFloor,
  kRoundPreferCeil,
  kFloor,
  kCeil,
};
enum class CoordinateMode : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfCropAndResize,
  kTfHalfPixelForNearest,  // Of opset 11.
};
enum class AspectPolicy : uint8_t { kStretch, kNotLarger, kNotSmaller };

struct ResizeAxis {
  int64_t input = 0;
  int64_t output = 0;
  double scale = 1;      // As given; from sizes: output / input.
  double roi_start = 0;  // Normalised to the axis, kTfCropAndResize only.
  double roi_end = 1;
};

struct ResizeAttributes {
  ResizeMode mode = ResizeMode::kNearest;
  NearestMode nearest = NearestMode::kRoundPreferFloor;
  CoordinateMode coordinates = CoordinateMode::kHalfPixel;
  AspectPolicy policy = AspectPolicy::kStretch;
  bool antialias = false;
  bool exclude_outside = false;
  double cubic_coeff_a = -0.75;
  double extrapolation_value = 0;
  Dims axes;  // Empty: all, in order.
};
// Checks the mode strings and that antialias goes with the mode.
Expected<ResizeAttributes> ReadResizeAttributes(const Attributes& attributes);

struct ResizeGeometry {
  ResizeAttributes attributes;
  std::vector<ResizeAxis> axes;
};

using OptionalFloats = std::optional<std::span<const double>>;

// Exactly one of scales and sizes; an empty list counts as absent. `roi` is
// looked at by kTfCropAndResize only, which needs it.
Expected<ResizeGeometry> ResolveResize(const Attributes& attributes,
                                       DimSpan dims, OptionalFloats roi,
                                       OptionalFloats scales,
                                       OptionalList sizes);

// The axes in the order in which scales, sizes and roi name them.
Expected<std::vector<int>> ResizeAxes(const ResizeAttributes& attributes,
                                      int rank);

// floor(input * roi * scale), the product taken in f32 as ONNX Runtime does.
Expected<int64_t> ScaledSize(int64_t input, double scale, double roi);

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_RESIZE_GEOMETRY_H_
