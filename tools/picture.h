// Pictures as the tools see them: 8-bit RGB in rows, read from and written to
// PNG. Plain data; copies are deep.
//
//   TRY(tools::Picture picture, tools::ReadPng("street.png"));
//   tools::DrawPolygon(picture, corners, {255, 0, 90}, 3);
//   RETURN_IF_ERROR(tools::WritePng("detected.png", picture));
#ifndef EBB_TOOLS_PICTURE_H_
#define EBB_TOOLS_PICTURE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bytecode/error.h"

namespace ebb::tools {

struct Picture {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgb;  // 3 * width * height

  uint8_t* pixel(int x, int y) { return rgb.data() + Offset(x, y); }
  const uint8_t* pixel(int x, int y) const { return rgb.data() + Offset(x, y); }

 private:
  std::size_t Offset(int x, int y) const {
    return (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
            static_cast<std::size_t>(x)) *
           3;
  }
};

// In pixels; pixel (i, j) covers [i, i + 1) x [j, j + 1).
struct Point {
  double x = 0;
  double y = 0;
};

using Colour = std::array<uint8_t, 3>;

// Any PNG; what is transparent is put on white. At most 64 million pixels.
Expected<Picture> ReadPng(const std::string& path);
Status WritePng(const std::string& path, const Picture& picture);

// The outline of a closed polygon, `thickness` pixels wide. What lies outside
// the picture is left out.
void DrawPolygon(Picture& picture, std::span<const Point> corners,
                 Colour colour, double thickness);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_PICTURE_H_
