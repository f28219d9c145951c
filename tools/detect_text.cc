#include "tools/detect_text.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tools/tight_box.h"

namespace ebb::tools {
namespace {

// The training set's, in the order of the planes.
constexpr double kMean[3] = {0.485, 0.456, 0.406};
constexpr double kDeviation[3] = {0.229, 0.224, 0.225};

// The two pixels that a position lies between, and the share of the second.
struct Between {
  int first;
  int second;
  double share;
};

Between Locate(int index, double scale, int size) {
  const double at = std::clamp((index + 0.5) / scale - 0.5, 0.0, size - 1.0);
  const int first = static_cast<int>(at);
  return {first, std::min(first + 1, size - 1), at - first};
}

double Mixed(const Picture& picture, Between x, Between y, int channel) {
  const auto row = [&](int at) {
    const double a = picture.pixel(x.first, at)[channel];
    const double b = picture.pixel(x.second, at)[channel];
    return a + (b - a) * x.share;
  };
  const double above = row(y.first);
  return above + (row(y.second) - above) * y.share;
}

// Groups of neighbouring pixels above the threshold, diagonals included.
class Components {
 public:
  Components(std::span<const float> map, int width, int height,
             double threshold)
      : width_(width), height_(height), is_open_(map.size()) {
    for (std::size_t i = 0; i < map.size(); ++i) {
      is_open_[i] = map[i] > threshold;
    }
  }

  // The pixels of the next group, empty after the last.
  const std::vector<std::size_t>& Next() {
    found_.clear();
    while (next_ < is_open_.size() && !is_open_[next_]) ++next_;
    if (next_ == is_open_.size()) return found_;
    Take(next_);
    // What was found is also the queue of what to look around.
    for (std::size_t done = 0; done < found_.size(); ++done) {
      LookAround(found_[done]);
    }
    return found_;
  }

 private:
  void Take(std::size_t i) {
    if (!is_open_[i]) return;
    is_open_[i] = 0;
    found_.push_back(i);
  }
  void LookAround(std::size_t i) {
    const auto width = static_cast<std::size_t>(width_);
    const int x = static_cast<int>(i % width);
    const int y = static_cast<int>(i / width);
    for (int ny = std::max(y - 1, 0); ny <= std::min(y + 1, height_ - 1);
         ++ny) {
      for (int nx = std::max(x - 1, 0); nx <= std::min(x + 1, width_ - 1);
           ++nx) {
        Take(static_cast<std::size_t>(ny) * width +
             static_cast<std::size_t>(nx));
      }
    }
  }

  int width_;
  int height_;
  std::size_t next_ = 0;
  std::vector<uint8_t> is_open_;
  std::vector<std::size_t> found_;
};

// The corners of the group's first and last pixel in each row: the hull of
// these is the hull of all.
std::vector<Point> Outline(std::span<const std::size_t> group,
                           std::size_t width) {
  std::vector<std::size_t> sorted(group.begin(), group.end());
  std::ranges::sort(sorted);
  std::vector<Point> points;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::size_t y = sorted[i] / width;
    const bool is_first = i == 0 || sorted[i - 1] / width != y;
    const bool is_last = i + 1 == sorted.size() || sorted[i + 1] / width != y;
    const double x = static_cast<double>(sorted[i] % width);
    const double top = static_cast<double>(y);
    if (is_first) points.insert(points.end(), {{x, top}, {x, top + 1}});
    if (is_last) points.insert(points.end(), {{x + 1, top}, {x + 1, top + 1}});
  }
  return points;
}

// Mean probability of the pixels whose centre is in the box.
double Score(std::span<const float> map, int width, int height,
             const TightBox& box) {
  const std::array<Point, 4> corners = box.Corners();
  const auto [left, right] = std::ranges::minmax(corners, {}, &Point::x);
  const auto [top, bottom] = std::ranges::minmax(corners, {}, &Point::y);
  const int x_begin = std::max(0, static_cast<int>(left.x));
  const int x_end = std::min(width, static_cast<int>(right.x) + 1);
  const int y_end = std::min(height, static_cast<int>(bottom.y) + 1);
  double sum = 0;
  int64_t count = 0;
  for (int y = std::max(0, static_cast<int>(top.y)); y < y_end; ++y) {
    for (int x = x_begin; x < x_end; ++x) {
      if (!box.Contains({x + 0.5, y + 0.5})) continue;
      sum += map[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                 static_cast<std::size_t>(x)];
      ++count;
    }
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace

DetectorInput PrepareForDetector(const Picture& picture, int size) {
  assert(picture.width > 0 && picture.height > 0 && size > 0);
  DetectorInput input;
  input.size = size;
  input.scale = static_cast<double>(size) /
                static_cast<double>(std::max(picture.width, picture.height));
  const auto scaled = [&](int length) {
    return std::clamp(static_cast<int>(std::lround(length * input.scale)), 1,
                      size);
  };
  const auto side = static_cast<std::size_t>(size);
  // After the mean has been taken out, 0 is the average colour.
  input.pixels.assign(3 * side * side, 0.0F);
  const int width = scaled(picture.width);
  const int height = scaled(picture.height);
  for (int y = 0; y < height; ++y) {
    const Between row = Locate(y, input.scale, picture.height);
    for (int x = 0; x < width; ++x) {
      const Between column = Locate(x, input.scale, picture.width);
      for (int plane = 0; plane < 3; ++plane) {
        const double value = Mixed(picture, column, row, 2 - plane) / 255;
        input.pixels[(static_cast<std::size_t>(plane) * side +
                      static_cast<std::size_t>(y)) *
                         side +
                     static_cast<std::size_t>(x)] =
            static_cast<float>((value - kMean[plane]) / kDeviation[plane]);
      }
    }
  }
  return input;
}

std::vector<TextBox> FindTextBoxes(std::span<const float> map, int width,
                                   int height, const DetectOptions& options) {
  assert(map.size() ==
         static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  std::vector<TextBox> boxes;
  Components components(map, width, height, options.threshold);
  for (;;) {
    const std::vector<std::size_t>& group = components.Next();
    if (group.empty()) break;
    const TightBox box =
        FindTightBox(Outline(group, static_cast<std::size_t>(width)));
    if (std::min(box.width, box.height) < options.min_side) continue;
    const double score = Score(map, width, height, box);
    if (score < options.min_score) continue;
    const double distance = options.unclip * box.width * box.height /
                            (2 * (box.width + box.height));
    boxes.push_back({box.Grown(distance).Corners(), score});
  }
  std::ranges::sort(boxes, {}, [](const TextBox& box) {
    return std::pair(box.corners[0].y, box.corners[0].x);
  });
  return boxes;
}

void ToPicture(const DetectorInput& input, std::span<TextBox> boxes) {
  for (TextBox& box : boxes) {
    for (Point& corner : box.corners) {
      corner = {corner.x / input.scale, corner.y / input.scale};
    }
  }
}

}  // namespace ebb::tools
