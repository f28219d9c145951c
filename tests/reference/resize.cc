// Resize after the ONNX reference implementation: per axis each output place
// has a place on the input axis, neighbours of it and their weights. The
// value is the sum over the product of the axes' neighbours.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "tests/reference/operand.h"

namespace ebb::reference {
namespace {

struct Axis {
  int64_t input = 0;
  int64_t output = 0;
  double scale = 1;
  double roi_start = 0;
  double roi_end = 1;
};

struct Tap {
  int64_t index;  // Into the input axis.
  double weight;
};

class Interpolation {
 public:
  explicit Interpolation(const Call& call)
      : mode_(call.attributes.String("mode", "nearest")),
        nearest_(call.attributes.String("nearest_mode", "round_prefer_floor")),
        transformation_(call.attributes.String("coordinate_transformation_mode",
                                               "half_pixel")),
        antialias_(call.attributes.Int("antialias", 0) != 0),
        exclude_outside_(call.attributes.Int("exclude_outside", 0) != 0),
        a_(static_cast<double>(
            call.attributes.Float("cubic_coeff_a", -0.75F))) {}

  bool Crops() const { return transformation_ == "tf_crop_and_resize"; }

  // Where output place i lies on the input axis.
  double Place(const Axis& axis, int64_t i) const {
    const auto x = static_cast<double>(i);
    const auto input = static_cast<double>(axis.input);
    const double output = axis.scale * input;
    if (transformation_ == "align_corners") {
      return output == 1 ? 0 : x * (input - 1) / (output - 1);
    }
    if (transformation_ == "asymmetric") return x / axis.scale;
    if (Crops()) {
      const double span = (axis.roi_end - axis.roi_start) * (input - 1);
      const double start = axis.roi_start * (input - 1);
      return axis.output == 1
                 ? 0.5 * (axis.roi_start + axis.roi_end) * (input - 1)
                 : start + x * span / static_cast<double>(axis.output - 1);
    }
    // An axis that keeps its size keeps its elements.
    if (transformation_ == "tf_half_pixel_for_nn") {
      return axis.scale == 1 ? x : (x + 0.5) / axis.scale;
    }
    const double half_pixel = (x + 0.5) / axis.scale - 0.5;
    if (transformation_ == "pytorch_half_pixel") {
      return axis.output == 1 ? -0.5 : half_pixel;
    }
    if (transformation_ == "half_pixel_symmetric") {
      const double adjustment = static_cast<double>(axis.output) / output;
      return input / 2 * (1 - adjustment) + half_pixel;
    }
    return half_pixel;
  }

  // The neighbours of a place, with weights that sum to 1.
  std::vector<Tap> Taps(const Axis& axis, double place) const {
    const double floor = std::floor(place);
    // The ratio lies in (0, 1]: a whole place belongs to its left pixel's
    // right end.
    const double ratio = place == floor ? 1 : place - floor;
    const int64_t left = static_cast<int64_t>(floor) - (place == floor ? 1 : 0);
    const std::vector<double> weights = Weights(ratio, axis.scale);
    const auto count = static_cast<int64_t>(weights.size());
    std::vector<Tap> taps;
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t index = left - (count / 2 - 1) + i;
      const bool outside = index < 0 || index >= axis.input;
      const double weight = outside && exclude_outside_
                                ? 0
                                : weights[static_cast<std::size_t>(i)];
      taps.push_back({std::clamp<int64_t>(index, 0, axis.input - 1), weight});
      sum += weight;
    }
    for (Tap& tap : taps) tap.weight /= sum;
    return taps;
  }

 private:
  double Cubic(double x) const {
    x = std::abs(x);
    if (x <= 1) return (a_ + 2) * x * x * x - (a_ + 3) * x * x + 1;
    if (x >= 2) return 0;
    return a_ * x * x * x - 5 * a_ * x * x + 8 * a_ * x - 4 * a_;
  }

  // An even number of weights, the two in the middle for left and right.
  std::vector<double> Weights(double ratio, double scale) const {
    if (mode_ == "nearest") {
      bool right = ratio > 0.5;
      if (nearest_ == "round_prefer_ceil") right = ratio >= 0.5;
      if (nearest_ == "floor") right = ratio == 1;
      if (nearest_ == "ceil") right = true;
      return {right ? 0.0 : 1.0, right ? 1.0 : 0.0};
    }
    const double shrink = antialias_ ? std::min(scale, 1.0) : 1.0;
    const double reach = mode_ == "cubic" ? 2 : 1;
    const auto first = static_cast<int64_t>(std::floor(-reach / shrink)) + 1;
    std::vector<double> weights;
    for (int64_t i = first; i < 2 - first; ++i) {
      const double distance = (static_cast<double>(i) - ratio) * shrink;
      weights.push_back(mode_ == "cubic"
                            ? Cubic(distance)
                            : std::clamp(1 - std::abs(distance), 0.0, 1.0));
    }
    return weights;
  }

  std::string_view mode_;
  std::string_view nearest_;
  std::string_view transformation_;
  bool antialias_;
  bool exclude_outside_;
  double a_;
};

std::vector<Axis> AxesOf(const Call& call, bool crops) {
  const ReferenceTensor& x = call.in(0);
  const std::size_t rank = x.dims.size();
  std::vector<Axis> axes(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    axes[i].input = x.dims[i];
    axes[i].output = call.out().dims[i];
  }
  const auto listed = call.attributes.Ints("axes");
  const std::size_t count = listed.empty() ? rank : listed.size();
  const bool scaled = call.Has(2) && call.in(2).count() > 0;
  const std::string_view policy =
      call.attributes.String("keep_aspect_ratio_policy", "stretch");
  double common = 0;
  for (std::size_t k = 0; k < count; ++k) {
    Axis& axis =
        axes[listed.empty()
                 ? k
                 : static_cast<std::size_t>(call.Axis(listed[k], rank))];
    const auto at = static_cast<int64_t>(k);
    if (crops) {
      axis.roi_start = GetFloat(call.in(1), at);
      axis.roi_end = GetFloat(call.in(1), at + static_cast<int64_t>(count));
    }
    if (scaled) {
      axis.scale = GetFloat(call.in(2), at);
      continue;
    }
    axis.scale = GetFloat(call.in(3), at) / static_cast<double>(axis.input);
    if (k == 0) common = axis.scale;
    common = policy == "not_larger" ? std::min(common, axis.scale)
                                    : std::max(common, axis.scale);
  }
  if (scaled || policy == "stretch") return axes;
  for (std::size_t k = 0; k < count; ++k) {
    axes[listed.empty() ? k
                        : static_cast<std::size_t>(call.Axis(listed[k], rank))]
        .scale = common;
  }
  return axes;
}

}  // namespace

Status RunResize(const Call& call) {
  const ReferenceTensor& x = call.in(0);
  ReferenceTensor& y = call.out();
  const Interpolation interpolation(call);
  const std::vector<Axis> axes = AxesOf(call, interpolation.Crops());
  const double outside_value =
      static_cast<double>(call.attributes.Float("extrapolation_value", 0));
  int64_t at = 0;
  ForEach(y.dims, [&](const Index& index) {
    const int64_t here = at++;
    std::vector<std::vector<Tap>> taps;
    Index tap_dims;
    bool outside = false;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const double place = interpolation.Place(axes[i], index[i]);
      outside = outside ||
                (interpolation.Crops() &&
                 (place < 0 || place > static_cast<double>(axes[i].input - 1)));
      const bool unchanged = axes[i].scale == 1 && !interpolation.Crops();
      taps.push_back(unchanged ? std::vector<Tap>{{index[i], 1}}
                               : interpolation.Taps(axes[i], place));
      tap_dims.push_back(static_cast<int64_t>(taps.back().size()));
    }
    double value = 0;
    if (outside) {
      value = outside_value;
    } else {
      ForEach(tap_dims, [&](const Index& tap) {
        double weight = 1;
        Index from(axes.size());
        for (std::size_t i = 0; i < axes.size(); ++i) {
          const Tap& chosen = taps[i][static_cast<std::size_t>(tap[i])];
          weight *= chosen.weight;
          from[i] = chosen.index;
        }
        if (weight != 0) value += weight * GetFloat(x, Flat(x.dims, from));
      });
    }
    if (IsFloat(y.dtype)) {
      SetFloat(y, here, value);
    } else {
      SetInt(y, here, static_cast<Wide>(value));
    }
  });
  return {};
}

}  // namespace ebb::reference
