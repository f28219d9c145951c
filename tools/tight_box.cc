#include "tools/tight_box.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace ebb::tools {
namespace {

double Cross(Point o, Point a, Point b) {
  return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

// The box around the points whose sides are parallel to a unit vector.
TightBox BoxAlong(std::span<const Point> points, Point along) {
  double low_u = std::numeric_limits<double>::infinity();
  double low_v = low_u;
  double high_u = -low_u;
  double high_v = -low_u;
  for (const Point p : points) {
    const double u = p.x * along.x + p.y * along.y;
    const double v = p.y * along.x - p.x * along.y;
    low_u = std::min(low_u, u);
    high_u = std::max(high_u, u);
    low_v = std::min(low_v, v);
    high_v = std::max(high_v, v);
  }
  const double u = (low_u + high_u) / 2;
  const double v = (low_v + high_v) / 2;
  return {.centre = {u * along.x - v * along.y, u * along.y + v * along.x},
          .along = along,
          .width = high_u - low_u,
          .height = high_v - low_v};
}

// Turns the box by right angles until `along` points to the right.
TightBox Upright(TightBox box) {
  if (std::abs(box.along.y) > std::abs(box.along.x)) {
    box.along = {-box.along.y, box.along.x};
    std::swap(box.width, box.height);
  }
  if (box.along.x < 0) box.along = {-box.along.x, -box.along.y};
  return box;
}

}  // namespace

std::array<Point, 4> TightBox::Corners() const {
  const double ux = along.x * width / 2;
  const double uy = along.y * width / 2;
  const double vx = -along.y * height / 2;
  const double vy = along.x * height / 2;
  return {Point{centre.x - ux - vx, centre.y - uy - vy},
          Point{centre.x + ux - vx, centre.y + uy - vy},
          Point{centre.x + ux + vx, centre.y + uy + vy},
          Point{centre.x - ux + vx, centre.y - uy + vy}};
}

bool TightBox::Contains(Point point) const {
  const double dx = point.x - centre.x;
  const double dy = point.y - centre.y;
  return std::abs(dx * along.x + dy * along.y) <= width / 2 &&
         std::abs(dy * along.x - dx * along.y) <= height / 2;
}

TightBox TightBox::Grown(double distance) const {
  TightBox grown = *this;
  grown.width += 2 * distance;
  grown.height += 2 * distance;
  return grown;
}

std::vector<Point> ConvexHull(std::vector<Point> points) {
  const auto key = [](Point p) { return std::pair(p.x, p.y); };
  std::ranges::sort(points, {}, key);
  const auto same = std::ranges::unique(points, {}, key);
  points.erase(same.begin(), same.end());
  if (points.size() < 3) return points;
  // The lower chain from left to right, then the upper one back.
  std::vector<Point> hull;
  const auto add = [&](Point p, std::size_t first) {
    while (hull.size() >= first + 2 &&
           Cross(hull[hull.size() - 2], hull.back(), p) <= 0) {
      hull.pop_back();
    }
    hull.push_back(p);
  };
  for (const Point p : points) add(p, 0);
  const std::size_t turn = hull.size() - 1;
  for (std::size_t i = points.size() - 1; i-- > 0;) add(points[i], turn);
  hull.pop_back();
  return hull;
}

TightBox FindTightBox(std::span<const Point> points) {
  const std::vector<Point> hull = ConvexHull({points.begin(), points.end()});
  if (hull.empty()) return {};
  TightBox best = BoxAlong(hull, {1, 0});
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const Point a = hull[i];
    const Point b = hull[(i + 1) % hull.size()];
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    if (length == 0) continue;
    const TightBox box =
        BoxAlong(hull, {(b.x - a.x) / length, (b.y - a.y) / length});
    if (box.width * box.height < best.width * best.height) best = box;
  }
  return Upright(best);
}

}  // namespace ebb::tools
