#include "tools/picture.h"

#include <png.h>

#include <algorithm>
#include <cmath>

namespace ebb::tools {
namespace {

constexpr uint64_t kMaxPixels = uint64_t{64} << 20;

// libpng's simplified interface: no setjmp, and it frees what it holds.
struct Image : png_image {
  Image() : png_image{} { version = PNG_IMAGE_VERSION; }
  ~Image() { png_image_free(this); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
};

double DistanceToSegment(Point p, Point a, Point b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  double at = 0;
  if (length > 0) {
    at = std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0);
  }
  return std::hypot(p.x - a.x - at * dx, p.y - a.y - at * dy);
}

// Every pixel by its distance from the line: slow and smooth, and the pictures
// are small.
void DrawSegment(Picture& picture, Point a, Point b, Colour colour,
                 double thickness) {
  const double reach = thickness / 2 + 1;
  const auto low = [&](double v, int size) {
    return static_cast<int>(
        std::clamp(std::floor(v - reach), 0.0, static_cast<double>(size)));
  };
  const auto high = [&](double v, int size) {
    return static_cast<int>(
        std::clamp(std::ceil(v + reach), 0.0, static_cast<double>(size)));
  };
  const int x_end = high(std::max(a.x, b.x), picture.width);
  const int y_end = high(std::max(a.y, b.y), picture.height);
  for (int y = low(std::min(a.y, b.y), picture.height); y < y_end; ++y) {
    for (int x = low(std::min(a.x, b.x), picture.width); x < x_end; ++x) {
      const double distance = DistanceToSegment({x + 0.5, y + 0.5}, a, b);
      const double cover = std::clamp(thickness / 2 + 0.5 - distance, 0.0, 1.0);
      if (cover == 0) continue;
      uint8_t* pixel = picture.pixel(x, y);
      for (std::size_t c = 0; c < 3; ++c) {
        const double mixed = pixel[c] + (colour[c] - pixel[c]) * cover;
        pixel[c] = static_cast<uint8_t>(std::lround(mixed));
      }
    }
  }
}

}  // namespace

Expected<Picture> ReadPng(const std::string& path) {
  Image image;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) {
    return Fail(ErrorCode::kIo,
                std::string("cannot read the picture: ") + image.message, path);
  }
  const uint64_t pixels = uint64_t{image.width} * image.height;
  if (pixels > kMaxPixels) {
    return Fail(ErrorCode::kLimit,
                "the picture has " + std::to_string(pixels) +
                    " pixels, at most " + std::to_string(kMaxPixels) +
                    " are possible",
                path);
  }
  image.format = PNG_FORMAT_RGB;
  Picture picture{.width = static_cast<int>(image.width),
                  .height = static_cast<int>(image.height),
                  .rgb = std::vector<uint8_t>(pixels * 3)};
  const png_color white = {255, 255, 255};
  if (png_image_finish_read(&image, &white, picture.rgb.data(), 0, nullptr) ==
      0) {
    return Fail(ErrorCode::kIo,
                std::string("cannot read the picture: ") + image.message, path);
  }
  return picture;
}

Status WritePng(const std::string& path, const Picture& picture) {
  Image image;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&image, path.c_str(), 0, picture.rgb.data(), 0,
                              nullptr) == 0) {
    return Fail(ErrorCode::kIo,
                std::string("cannot write the picture: ") + image.message,
                path);
  }
  return {};
}

void DrawPolygon(Picture& picture, std::span<const Point> corners,
                 Colour colour, double thickness) {
  for (std::size_t i = 0; i < corners.size(); ++i) {
    DrawSegment(picture, corners[i], corners[(i + 1) % corners.size()], colour,
                thickness);
  }
}

}  // namespace ebb::tools
