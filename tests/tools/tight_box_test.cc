#include "tools/tight_box.h"

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace ebb::tools {
namespace {

TEST(ConvexHullTest, LeavesOutWhatIsInsideOrOnASide) {
  const std::vector<Point> hull = ConvexHull(
      {{0, 0}, {4, 0}, {2, 0}, {4, 4}, {0, 4}, {2, 2}, {0, 2}, {4, 4}});
  ASSERT_EQ(hull.size(), 4u);
  EXPECT_EQ(hull[0].x, 0);
  EXPECT_EQ(hull[0].y, 0);
}

TEST(ConvexHullTest, TakesNothingOnePointAndALine) {
  EXPECT_TRUE(ConvexHull({}).empty());
  EXPECT_EQ(ConvexHull({{1, 1}, {1, 1}}).size(), 1u);
  EXPECT_EQ(ConvexHull({{0, 0}, {1, 1}, {2, 2}, {3, 3}}).size(), 2u);
}

TEST(TightBoxTest, FindsATurnedRectangle) {
  for (const double degrees : {-40.0, -10.0, 0.0, 7.0, 30.0, 44.0}) {
    const double angle = degrees * std::acos(-1.0) / 180;
    const TightBox made = {.centre = {50, 20},
                           .along = {std::cos(angle), std::sin(angle)},
                           .width = 30,
                           .height = 8};
    const std::array<Point, 4> corners = made.Corners();
    const TightBox found = FindTightBox(corners);
    EXPECT_NEAR(found.width, 30, 1e-9) << degrees;
    EXPECT_NEAR(found.height, 8, 1e-9) << degrees;
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(found.Corners()[i].x, corners[i].x, 1e-9) << degrees;
      EXPECT_NEAR(found.Corners()[i].y, corners[i].y, 1e-9) << degrees;
    }
  }
}

TEST(TightBoxTest, CornersGoClockwiseFromTheUpperLeft) {
  const std::array<Point, 4> corners =
      FindTightBox(std::vector<Point>{{9, 1}, {2, 1}, {2, 5}, {9, 5}})
          .Corners();
  EXPECT_EQ(corners[0].x, 2);
  EXPECT_EQ(corners[0].y, 1);
  EXPECT_EQ(corners[1].x, 9);
  EXPECT_EQ(corners[1].y, 1);
  EXPECT_EQ(corners[2].y, 5);
  EXPECT_EQ(corners[3].x, 2);
}

TEST(TightBoxTest, HoldsAllPointsAndIsNoLargerThanAnyOtherAngles) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> at(0, 100);
  for (int round = 0; round < 50; ++round) {
    std::vector<Point> points(3 + round);
    for (Point& p : points) p = {at(random), at(random) / 3};
    const TightBox box = FindTightBox(points);
    for (const Point p : points) {
      EXPECT_TRUE(box.Grown(1e-9).Contains(p));
    }
    for (int degrees = 0; degrees < 90; ++degrees) {
      const double angle = degrees * std::acos(-1.0) / 180;
      double low_u = 1e9, high_u = -1e9, low_v = 1e9, high_v = -1e9;
      for (const Point p : points) {
        const double u = p.x * std::cos(angle) + p.y * std::sin(angle);
        const double v = p.y * std::cos(angle) - p.x * std::sin(angle);
        low_u = std::min(low_u, u);
        high_u = std::max(high_u, u);
        low_v = std::min(low_v, v);
        high_v = std::max(high_v, v);
      }
      EXPECT_LE(box.width * box.height,
                (high_u - low_u) * (high_v - low_v) + 1e-6);
    }
  }
}

TEST(TightBoxTest, GrowsOnAllSides) {
  const TightBox box =
      TightBox{.centre = {5, 5}, .width = 4, .height = 2}.Grown(1);
  EXPECT_EQ(box.width, 6);
  EXPECT_EQ(box.height, 4);
  EXPECT_TRUE(box.Contains({2.5, 6.5}));
  EXPECT_FALSE(box.Contains({1.5, 5}));
}

}  // namespace
}  // namespace ebb::tools
