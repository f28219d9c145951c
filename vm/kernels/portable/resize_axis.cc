#include "vm/kernels/portable/resize_axis.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ebb::kernels {
namespace {

// A coordinate as the input place left of it and the distance from there, in
// (0, 1]: a whole coordinate lies at the end of the step before it, so that
// ties go to the left place.
struct Position {
  int64_t base = 0;
  double ratio = 1;
};

Position PositionOf(double coordinate) {
  const double base = std::ceil(coordinate) - 1;
  return {.base = static_cast<int64_t>(base), .ratio = coordinate - base};
}

// (o + 0.5) / scale. Where the scale is output / input the quotient is
// taken of whole numbers: half-way places then come out as such.
double PixelCentre(const ResizeAxis& axis, int64_t o) {
  const double place = static_cast<double>(o) + 0.5;
  const auto in = static_cast<double>(axis.input);
  const auto out = static_cast<double>(axis.output);
  if (axis.scale == out / in) return place * in / out;
  return place / axis.scale;
}

double HalfPixel(const ResizeAxis& axis, int64_t o) {
  return PixelCentre(axis, o) - 0.5;
}

double Asymmetric(const ResizeAxis& axis, int64_t o) {
  const auto place = static_cast<double>(o);
  const auto in = static_cast<double>(axis.input);
  const auto out = static_cast<double>(axis.output);
  if (axis.scale == out / in) return place * in / out;
  return place / axis.scale;
}

double CubicWeight(double distance, double a) {
  const double x = std::fabs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

double LinearWeight(double distance) {
  return std::max(0.0, 1 - std::fabs(distance));
}

int64_t NearestOffset(NearestMode mode, double ratio) {
  if (ratio == 1) return 1;
  switch (mode) {
    case NearestMode::kRoundPreferFloor:
      return ratio > 0.5 ? 1 : 0;
    case NearestMode::kRoundPreferCeil:
      return ratio >= 0.5 ? 1 : 0;
    case NearestMode::kFloor:
      return 0;
    case NearestMode::kCeil:
      return 1;
  }
  return 0;
}

// How far taps reach: the filter is stretched by `stretch` when it has to
// smooth while it makes the axis smaller.
struct Filter {
  int64_t first = 0;  // Taps first .. 1 - first around the base.
  double stretch = 1;
};

Filter FilterOf(const ResizeAttributes& attributes, double scale) {
  const double support = attributes.mode == ResizeMode::kCubic ? 2 : 1;
  Filter filter;
  if (attributes.antialias) filter.stretch = std::min(scale, 1.0);
  filter.first =
      static_cast<int64_t>(std::floor(-support / filter.stretch)) + 1;
  return filter;
}

void FillWeights(const ResizeAttributes& attributes, const Filter& filter,
                 const Position& position, int64_t input, int64_t taps,
                 int64_t* indices, double* weights) {
  double sum = 0;
  double inside_sum = 0;
  for (int64_t t = 0; t < taps; ++t) {
    const int64_t index = position.base + filter.first + t;
    const double distance =
        filter.stretch *
        (static_cast<double>(filter.first + t) - position.ratio);
    weights[t] = attributes.mode == ResizeMode::kCubic
                     ? CubicWeight(distance, attributes.cubic_coeff_a)
                     : LinearWeight(distance);
    indices[t] = std::clamp<int64_t>(index, 0, input - 1);
    sum += weights[t];
    if (index == indices[t]) inside_sum += weights[t];
  }
  // Where nothing lies inside, the edge stands for all.
  if (attributes.exclude_outside && inside_sum != 0) {
    for (int64_t t = 0; t < taps; ++t) {
      const bool inside = indices[t] == position.base + filter.first + t;
      weights[t] = inside ? weights[t] / inside_sum : 0;
    }
  } else if (attributes.antialias && sum != 0) {
    for (int64_t t = 0; t < taps; ++t) weights[t] /= sum;
  }
}

}  // namespace

double ResizeCoordinate(CoordinateMode mode, const ResizeAxis& axis,
                        int64_t o) {
  const auto in = static_cast<double>(axis.input);
  const auto place = static_cast<double>(o);
  // Fractional where the scale does not divide evenly, as in the reference.
  const double length = axis.scale * in;
  switch (mode) {
    case CoordinateMode::kHalfPixel:
      return HalfPixel(axis, o);
    case CoordinateMode::kHalfPixelSymmetric: {
      const double adjustment = static_cast<double>(axis.output) / length;
      return in / 2 * (1 - adjustment) + HalfPixel(axis, o);
    }
    case CoordinateMode::kPytorchHalfPixel:
      return axis.output == 1 ? -0.5 : HalfPixel(axis, o);
    case CoordinateMode::kAlignCorners:
      return length == 1 || o == 0 ? 0 : place * (in - 1) / (length - 1);
    case CoordinateMode::kAsymmetric:
      return Asymmetric(axis, o);
    case CoordinateMode::kTfHalfPixelForNearest:
      return PixelCentre(axis, o);
    case CoordinateMode::kTfCropAndResize: {
      const double width = (axis.roi_end - axis.roi_start) * (in - 1);
      const double start = axis.roi_start * (in - 1);
      if (axis.output == 1) return start + width / 2;
      return start + place * width / (static_cast<double>(axis.output) - 1);
    }
  }
  return 0;
}

ResizeTable MakeResizeTable(const ResizeAttributes& attributes,
                            const ResizeAxis& axis) {
  ResizeTable table{.input = axis.input, .output = axis.output};
  const bool crops = attributes.coordinates == CoordinateMode::kTfCropAndResize;
  if (axis.input == axis.output && axis.scale == 1 &&
      (!crops || (axis.roi_start == 0 && axis.roi_end == 1))) {
    table.identity = true;
    table.indices.resize(axis.output);
    std::iota(table.indices.begin(), table.indices.end(), 0);
    table.weights.assign(axis.output, 1);
    table.outside.assign(axis.output, 0);
    return table;
  }
  const bool nearest = attributes.mode == ResizeMode::kNearest;
  const Filter filter = FilterOf(attributes, axis.scale);
  table.taps = nearest ? 1 : 2 - 2 * filter.first;
  table.indices.resize(axis.output * table.taps);
  if (!nearest) table.weights.resize(axis.output * table.taps);
  table.outside.assign(axis.output, 0);
  for (int64_t o = 0; o < axis.output; ++o) {
    const double x = ResizeCoordinate(attributes.coordinates, axis, o);
    // A NaN from the region of interest is outside too.
    if (crops && !(x >= 0 && x <= static_cast<double>(axis.input - 1))) {
      table.outside[o] = 1;
      table.any_outside = true;
      continue;
    }
    const Position position = PositionOf(x);
    int64_t* indices = table.indices.data() + o * table.taps;
    if (nearest) {
      *indices = std::clamp<int64_t>(
          position.base + NearestOffset(attributes.nearest, position.ratio), 0,
          axis.input - 1);
    } else {
      FillWeights(attributes, filter, position, axis.input, table.taps, indices,
                  table.weights.data() + o * table.taps);
    }
  }
  return table;
}

}  // namespace ebb::kernels
