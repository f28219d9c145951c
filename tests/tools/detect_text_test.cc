#include "tools/detect_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "gtest/gtest.h"
#include "tools/tight_box.h"

namespace ebb::tools {
namespace {

// A map of probabilities with boxes painted into it.
struct Map {
  int width;
  int height;
  std::vector<float> values;

  Map(int w, int h)
      : width(w), height(h), values(static_cast<std::size_t>(w * h), 0.01F) {}

  void Paint(const TightBox& box, float value) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        if (box.Contains({x + 0.5, y + 0.5})) {
          values[static_cast<std::size_t>(y * width + x)] = value;
        }
      }
    }
  }
  std::vector<TextBox> Find(const DetectOptions& options = {}) const {
    return FindTextBoxes(values, width, height, options);
  }
};

TEST(FindTextBoxesTest, FindsNothingInNothing) {
  EXPECT_TRUE(Map(32, 16).Find().empty());
  EXPECT_TRUE(FindTextBoxes({}, 0, 0, {}).empty());
}

TEST(FindTextBoxesTest, GivesCornersAndScoreOfABox) {
  Map map(64, 48);
  map.Paint({.centre = {30, 20}, .width = 40, .height = 10}, 0.9F);
  const std::vector<TextBox> boxes = map.Find({.unclip = 0});
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_NEAR(boxes[0].score, 0.9, 1e-6);
  EXPECT_NEAR(boxes[0].corners[0].x, 10, 1e-9);
  EXPECT_NEAR(boxes[0].corners[0].y, 15, 1e-9);
  EXPECT_NEAR(boxes[0].corners[2].x, 50, 1e-9);
  EXPECT_NEAR(boxes[0].corners[2].y, 25, 1e-9);
}

TEST(FindTextBoxesTest, GrowsByAreaOverPerimeter) {
  Map map(64, 48);
  map.Paint({.centre = {30, 20}, .width = 40, .height = 10}, 0.9F);
  const std::vector<TextBox> boxes = map.Find({.unclip = 1.5});
  ASSERT_EQ(boxes.size(), 1u);
  // 1.5 * 400 / 100 pixels on every side.
  EXPECT_NEAR(boxes[0].corners[0].x, 4, 1e-9);
  EXPECT_NEAR(boxes[0].corners[0].y, 9, 1e-9);
}

TEST(FindTextBoxesTest, FollowsATurnedLine) {
  Map map(200, 200);
  const double angle = 0.3;
  const TightBox line = {.centre = {100, 90},
                         .along = {std::cos(angle), std::sin(angle)},
                         .width = 120,
                         .height = 20};
  map.Paint(line, 0.8F);
  const std::vector<TextBox> boxes = map.Find({.unclip = 0});
  ASSERT_EQ(boxes.size(), 1u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(boxes[0].corners[i].x, line.Corners()[i].x, 3);
    EXPECT_NEAR(boxes[0].corners[i].y, line.Corners()[i].y, 3);
  }
  // The box's rim holds some pixels that are not painted.
  EXPECT_GT(boxes[0].score, 0.7);
}

TEST(FindTextBoxesTest, LeavesOutSpecksAndWeakBoxes) {
  Map map(100, 40);
  map.Paint({.centre = {10, 10}, .width = 2, .height = 2}, 0.9F);
  map.Paint({.centre = {60, 20}, .width = 30, .height = 10}, 0.5F);
  EXPECT_TRUE(map.Find().empty());
  EXPECT_EQ(map.Find({.min_score = 0.4}).size(), 1u);
  EXPECT_EQ(map.Find({.min_score = 0.4, .min_side = 1}).size(), 2u);
}

TEST(FindTextBoxesTest, NeighboursAcrossADiagonalAreOne) {
  Map map(16, 16);
  map.Paint({.centre = {4, 4}, .width = 4, .height = 4}, 0.9F);
  map.Paint({.centre = {8, 8}, .width = 4, .height = 4}, 0.9F);
  EXPECT_EQ(map.Find({.min_score = 0}).size(), 1u);
}

TEST(FindTextBoxesTest, SortsFromTopToBottom) {
  Map map(100, 60);
  map.Paint({.centre = {70, 10}, .width = 20, .height = 8}, 0.9F);
  map.Paint({.centre = {20, 50}, .width = 20, .height = 8}, 0.9F);
  map.Paint({.centre = {20, 10}, .width = 20, .height = 8}, 0.9F);
  const std::vector<TextBox> boxes = map.Find();
  ASSERT_EQ(boxes.size(), 3u);
  EXPECT_LT(boxes[0].corners[0].x, 30);
  EXPECT_GT(boxes[1].corners[0].x, 50);
  EXPECT_GT(boxes[2].corners[0].y, 30);
}

// One group of all pixels: no recursion, and time linear in the pixels.
TEST(FindTextBoxesTest, TakesAMapThatIsAllText) {
  Map map(640, 640);
  std::ranges::fill(map.values, 1.0F);
  const std::vector<TextBox> boxes = map.Find({.unclip = 0});
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_EQ(boxes[0].corners[2].x, 640);
  EXPECT_EQ(boxes[0].score, 1);
}

Picture Plain(int width, int height, uint8_t red, uint8_t green, uint8_t blue) {
  Picture picture{.width = width, .height = height, .rgb = {}};
  for (int i = 0; i < width * height; ++i) {
    picture.rgb.insert(picture.rgb.end(), {red, green, blue});
  }
  return picture;
}

TEST(PrepareForDetectorTest, TakesOutMeanAndDeviationInBgrOrder) {
  const DetectorInput input = PrepareForDetector(Plain(8, 8, 255, 51, 0), 8);
  ASSERT_EQ(input.pixels.size(), 3u * 64);
  EXPECT_EQ(input.scale, 1);
  EXPECT_NEAR(input.pixels[0], (0 - 0.485) / 0.229, 1e-6);
  EXPECT_NEAR(input.pixels[64], (0.2 - 0.456) / 0.224, 1e-6);
  EXPECT_NEAR(input.pixels[128], (1 - 0.406) / 0.225, 1e-6);
}

TEST(PrepareForDetectorTest, KeepsTheShapeAndFillsTheRest) {
  const DetectorInput input = PrepareForDetector(Plain(80, 40, 0, 0, 0), 16);
  EXPECT_EQ(input.scale, 0.2);
  EXPECT_NE(input.pixels[7 * 16 + 15], 0);
  EXPECT_EQ(input.pixels[8 * 16], 0);
}

TEST(PrepareForDetectorTest, ScalesLinearly) {
  Picture picture = Plain(2, 2, 0, 0, 0);
  for (const int y : {0, 1}) picture.pixel(1, y)[2] = 200;
  const DetectorInput input = PrepareForDetector(picture, 4);
  const auto blue = [&](std::size_t x) {
    return (input.pixels[x] * 0.229 + 0.485) * 255;
  };
  EXPECT_NEAR(blue(0), 0, 1e-3);
  EXPECT_NEAR(blue(1), 50, 1e-3);
  EXPECT_NEAR(blue(2), 150, 1e-3);
  EXPECT_NEAR(blue(3), 200, 1e-3);
}

TEST(PrepareForDetectorTest, TakesPicturesOfOnePixelAndOneRow) {
  EXPECT_EQ(PrepareForDetector(Plain(1, 1, 9, 9, 9), 32).pixels.size(), 3072u);
  EXPECT_EQ(PrepareForDetector(Plain(999, 1, 9, 9, 9), 32).pixels.size(),
            3072u);
}

TEST(ToPictureTest, UndoesTheScale) {
  DetectorInput input;
  input.scale = 0.5;
  std::vector<TextBox> boxes = {{.corners = {Point{2, 3}}, .score = 1}};
  ToPicture(input, boxes);
  EXPECT_EQ(boxes[0].corners[0].x, 4);
  EXPECT_EQ(boxes[0].corners[0].y, 6);
}

}  // namespace
}  // namespace ebb::tools
