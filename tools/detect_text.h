// What stands around a text detector of PP-OCR's kind (DB: differentiable
// binarisation): a picture becomes its input, and the map of probabilities that
// it gives becomes boxes. No model runs in here. All functions are pure.
//
//   const DetectorInput input = PrepareForDetector(picture, 640);
//   … run the model on input.pixels, f32[1,3,640,640] …
//   std::vector<TextBox> boxes = FindTextBoxes(map, 640, 640, {});
//   ToPicture(input, boxes);   // from the map's pixels to the picture's
//
// The method is that of "Real-time Scene Text Detection with Differentiable
// Binarization" (Liao et al., 2020) with rectangles in place of polygons.
#ifndef EBB_TOOLS_DETECT_TEXT_H_
#define EBB_TOOLS_DETECT_TEXT_H_

#include <array>
#include <span>
#include <vector>

#include "tools/picture.h"

namespace ebb::tools {

struct DetectorInput {
  int size = 0;               // Width and height.
  double scale = 1;           // Pixels of the input for one of the picture.
  std::vector<float> pixels;  // [3, size, size]: planes of blue, green, red
};

// Scales the picture to fit, keeping its shape, from the upper left corner on;
// what is left over is filled with the average colour.
DetectorInput PrepareForDetector(const Picture& picture, int size);

struct DetectOptions {
  double threshold = 0.3;  // A pixel is text above it.
  double min_score = 0.6;  // A box is text from this mean probability on.
  double min_side = 3;     // Smaller ones are specks.
  // The model marks the core of a line: the box is grown by
  // area / perimeter * this.
  double unclip = 1.9;
};

struct TextBox {
  std::array<Point, 4> corners;  // Clockwise from the upper left.
  double score = 0;              // Mean probability inside, before it grew.
};

// `map` is [height, width]. From top to bottom, then from left to right.
std::vector<TextBox> FindTextBoxes(std::span<const float> map, int width,
                                   int height, const DetectOptions& options);

// Takes boxes from the input's pixels to the picture's.
void ToPicture(const DetectorInput& input, std::span<TextBox> boxes);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_DETECT_TEXT_H_
