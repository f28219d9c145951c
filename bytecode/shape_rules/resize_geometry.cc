#include "bytecode/shape_rules/resize_geometry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace ebb {
namespace {

std::unexpected<Error> BadArgument(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

template <class Enum, std::size_t kCount>
Expected<Enum> FromName(
    std::string_view attribute, std::string_view name,
    const std::array<std::pair<std::string_view, Enum>, kCount>& table) {
  for (const auto& [text, value] : table) {
    if (text == name) return value;
  }
  return BadArgument(std::string(attribute) + " '" + std::string(name) +
                     "' is unknown");
}

constexpr std::array<std::pair<std::string_view, ResizeMode>, 3> kModes = {{
    {"nearest", ResizeMode::kNearest},
    {"linear", ResizeMode::kLinear},
    {"cubic", ResizeMode::kCubic},
}};
constexpr std::array<std::pair<std::string_view, NearestMode>, 4>
    kNearestModes = {{
        {"round_prefer_floor", NearestMode::kRoundPreferFloor},
        {"round_prefer_ceil", NearestMode::kRoundPreferCeil},
        {"floor", NearestMode::kFloor},
        {"ceil", NearestMode::kCeil},
    }};
constexpr std::array<std::pair<std::string_view, CoordinateMode>, 7>
    kCoordinateModes = {{
        {"half_pixel", CoordinateMode::kHalfPixel},
        {"half_pixel_symmetric", CoordinateMode::kHalfPixelSymmetric},
        {"pytorch_half_pixel", CoordinateMode::kPytorchHalfPixel},
        {"align_corners", CoordinateMode::kAlignCorners},
        {"asymmetric", CoordinateMode::kAsymmetric},
        {"tf_crop_and_resize", CoordinateMode::kTfCropAndResize},
        {"tf_half_pixel_for_nn", CoordinateMode::kTfHalfPixelForNearest},
    }};
constexpr std::array<std::pair<std::string_view, AspectPolicy>, 3> kPolicies = {
    {
        {"stretch", AspectPolicy::kStretch},
        {"not_larger", AspectPolicy::kNotLarger},
        {"not_smaller", AspectPolicy::kNotSmaller},
    }};

Status CheckLength(std::string_view name, std::size_t size,
                   std::size_t expected) {
  if (size == expected) return {};
  return Fail(ErrorCode::kShapeMismatch,
              std::string(name) + " has " + std::to_string(size) +
                  " entries, expected " + std::to_string(expected));
}

// Sets output sizes and scales from `sizes`.
Status ApplySizes(const std::vector<int>& named, DimSpan sizes,
                  ResizeGeometry& g) {
  const AspectPolicy policy = g.attributes.policy;
  double common = 0;
  for (std::size_t i = 0; i < named.size(); ++i) {
    ResizeAxis& axis = g.axes[static_cast<std::size_t>(named[i])];
    if (sizes[i] < 0 || (axis.input == 0 && sizes[i] > 0)) {
      return Fail(ErrorCode::kShapeMismatch,
                  "cannot resize " + std::to_string(axis.input) +
                      " elements of axis " + std::to_string(named[i]) + " to " +
                      std::to_string(sizes[i]));
    }
    axis.output = sizes[i];
    axis.scale = axis.input == 0 ? 1
                                 : static_cast<double>(sizes[i]) /
                                       static_cast<double>(axis.input);
    if (i == 0) {
      common = axis.scale;
    } else {
      common = policy == AspectPolicy::kNotLarger
                   ? std::min(common, axis.scale)
                   : std::max(common, axis.scale);
    }
  }
  if (policy == AspectPolicy::kStretch) return {};
  for (const int at : named) {
    ResizeAxis& axis = g.axes[static_cast<std::size_t>(at)];
    const double size =
        std::floor(common * static_cast<double>(axis.input) + 0.5);
    if (!(size < 0x1p62)) {
      return Fail(ErrorCode::kLimit,
                  "resized axis " + std::to_string(at) + " overflows int64");
    }
    axis.output = static_cast<int64_t>(size);
    axis.scale = common;
  }
  return {};
}

}  // namespace

Expected<ResizeAttributes> ReadResizeAttributes(const Attributes& attributes) {
  ResizeAttributes r;
  TRY(r.mode, FromName("mode", attributes.String("mode", "nearest"), kModes));
  TRY(r.nearest,
      FromName("nearest_mode",
               attributes.String("nearest_mode", "round_prefer_floor"),
               kNearestModes));
  TRY(r.coordinates,
      FromName(
          "coordinate_transformation_mode",
          attributes.String("coordinate_transformation_mode", "half_pixel"),
          kCoordinateModes));
  TRY(r.policy,
      FromName("keep_aspect_ratio_policy",
               attributes.String("keep_aspect_ratio_policy", "stretch"),
               kPolicies));
  r.antialias = attributes.Int("antialias", 0) != 0;
  r.exclude_outside = attributes.Int("exclude_outside", 0) != 0;
  r.cubic_coeff_a =
      static_cast<double>(attributes.Float("cubic_coeff_a", -0.75F));
  r.extrapolation_value =
      static_cast<double>(attributes.Float("extrapolation_value", 0));
  const DimSpan axes = attributes.Ints("axes");
  r.axes.assign(axes.begin(), axes.end());
  if (r.antialias && r.mode == ResizeMode::kNearest) {
    return BadArgument("antialias does not go with mode 'nearest'");
  }
  return r;
}

Expected<std::vector<int>> ResizeAxes(const ResizeAttributes& attributes,
                                      int rank) {
  std::vector<int> named;
  if (attributes.axes.empty()) {
    for (int i = 0; i < rank; ++i) named.push_back(i);
    return named;
  }
  RETURN_IF_ERROR(AxesMask(attributes.axes, rank));
  for (const int64_t axis : attributes.axes) {
    TRY(const int at, NormalizeAxis(axis, rank));
    named.push_back(at);
  }
  return named;
}

Expected<int64_t> ScaledSize(int64_t input, double scale, double roi) {
  if (!(scale > 0) || !std::isfinite(scale)) {
    return BadArgument("scale " + std::to_string(scale) + " is not positive");
  }
  if (scale == 1 && roi == 1) return input;
  // The f32 rounding of the product is part of what exporters rely on
  // (0.7f * 10 is 7), as long as f32 holds every whole number there.
  constexpr float kExact = 1 << 24;
  const float product = static_cast<float>(input) * static_cast<float>(roi) *
                        static_cast<float>(scale);
  const double size =
      product <= kExact ? static_cast<double>(std::floor(product))
                        : std::floor(static_cast<double>(input) * roi * scale);
  if (!(size >= 0) || !(size < 0x1p62)) {
    return Fail(ErrorCode::kLimit,
                std::to_string(input) + " elements scaled by " +
                    std::to_string(scale) + " do not fit int64");
  }
  return static_cast<int64_t>(size);
}

Expected<ResizeGeometry> ResolveResize(const Attributes& attributes,
                                       DimSpan dims, OptionalFloats roi,
                                       OptionalFloats scales,
                                       OptionalList sizes) {
  ResizeGeometry g;
  TRY(g.attributes, ReadResizeAttributes(attributes));
  g.axes.resize(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    g.axes[i].input = g.axes[i].output = dims[i];
  }
  const bool has_scales = scales.has_value() && !scales->empty();
  const bool has_sizes = sizes.has_value() && !sizes->empty();
  if (has_scales == has_sizes && !dims.empty()) {
    return BadArgument(has_scales ? "both scales and sizes are given"
                                  : "neither scales nor sizes are given");
  }
  TRY(const std::vector<int> named,
      ResizeAxes(g.attributes, static_cast<int>(dims.size())));
  if (g.attributes.coordinates == CoordinateMode::kTfCropAndResize) {
    RETURN_IF_ERROR(CheckLength("roi", roi.has_value() ? roi->size() : 0,
                                2 * named.size()));
    for (std::size_t i = 0; i < named.size(); ++i) {
      ResizeAxis& axis = g.axes[static_cast<std::size_t>(named[i])];
      axis.roi_start = (*roi)[i];
      axis.roi_end = (*roi)[i + named.size()];
    }
  }
  if (has_sizes) {
    RETURN_IF_ERROR(CheckLength("sizes", sizes->size(), named.size()));
    RETURN_IF_ERROR(ApplySizes(named, *sizes, g));
    return g;
  }
  if (!has_scales) return g;
  RETURN_IF_ERROR(CheckLength("scales", scales->size(), named.size()));
  for (std::size_t i = 0; i < named.size(); ++i) {
    ResizeAxis& axis = g.axes[static_cast<std::size_t>(named[i])];
    axis.scale = (*scales)[i];
    TRY(axis.output,
        ScaledSize(axis.input, axis.scale, axis.roi_end - axis.roi_start));
  }
  return g;
}

}  // namespace ebb
