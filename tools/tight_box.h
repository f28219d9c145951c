// The smallest rectangle, at any angle, around a set of points.
//
// One side of it lies on a side of the points' convex hull, so it is enough to
// try those: the hull by monotone chain in O(n log n), then each of its sides.
#ifndef EBB_TOOLS_TIGHT_BOX_H_
#define EBB_TOOLS_TIGHT_BOX_H_

#include <array>
#include <span>
#include <vector>

#include "tools/picture.h"

namespace ebb::tools {

// A rectangle: centre, unit vector along its width, and sizes.
struct TightBox {
  Point centre;
  Point along = {1, 0};
  double width = 0;
  double height = 0;

  // Clockwise in a picture, from the upper left as one reads along it.
  std::array<Point, 4> Corners() const;
  bool Contains(Point point) const;
  // The same with every side moved outwards.
  TightBox Grown(double distance) const;
};

// In order, without points inside sides; points may be in any order.
std::vector<Point> ConvexHull(std::vector<Point> points);

// `along` points to the right and is the longer side, unless the box stands
// upright (steeper than 45 degrees), where width and height change places.
TightBox FindTightBox(std::span<const Point> points);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_TIGHT_BOX_H_
