#include "tools/picture_input.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bytecode/dtype.h"
#include "tools/element.h"
#include "tools/picture.h"
#include "tools/quantities.h"

namespace ebb::tools {
namespace {

// How the input's dims are to be read.
struct PictureLayout {
  std::size_t channel_dim = 1;
  std::size_t height_dim = 2;
  std::size_t width_dim = 3;
  int64_t channels = 3;
};

Expected<PictureLayout> LayoutOf(const bytecode::Type& type) {
  const bool fits = type.ranked && type.dims.size() == 4 &&
                    (IsFloat(type.dtype) || type.dtype == DType::kU8) &&
                    HasNumericValue(type.dtype) &&
                    (type.dims[0].size < 0 || type.dims[0].size == 1);
  const auto size = [&](std::size_t dim) { return type.dims[dim].size; };
  if (fits && (size(1) == 3 || size(1) == 1))
    return PictureLayout{1, 2, 3, size(1)};
  if (fits && (size(3) == 3 || size(3) == 1))
    return PictureLayout{3, 1, 2, size(3)};
  if (fits && size(1) < 0) return PictureLayout{};
  return Fail(ErrorCode::kShapeMismatch,
              "does not take a picture (floats or u8 of 1x3xHxW or 1xHxWx3)");
}

// The picture at `x`, `y` in pixels, between pixel centres.
float Sample(const Picture& picture, double x, double y, std::size_t channel) {
  const double cx = std::clamp(x, 0.0, picture.width - 1.0);
  const double cy = std::clamp(y, 0.0, picture.height - 1.0);
  const int x0 = static_cast<int>(cx);
  const int y0 = static_cast<int>(cy);
  const int x1 = std::min(x0 + 1, picture.width - 1);
  const int y1 = std::min(y0 + 1, picture.height - 1);
  const double fx = cx - x0;
  const double fy = cy - y0;
  const double top = picture.pixel(x0, y0)[channel] * (1 - fx) +
                     picture.pixel(x1, y0)[channel] * fx;
  const double bottom = picture.pixel(x0, y1)[channel] * (1 - fx) +
                        picture.pixel(x1, y1)[channel] * fx;
  return static_cast<float>(top * (1 - fy) + bottom * fy);
}

}  // namespace

Expected<std::array<float, 3>> ParseChannels(const std::string& text) {
  std::vector<float> values;
  std::string_view rest = text;
  for (std::size_t comma = 0; comma != std::string_view::npos;) {
    comma = rest.find(',');
    TRY(const double value, ParseDouble(rest.substr(0, comma)));
    values.push_back(static_cast<float>(value));
    rest.remove_prefix(std::min(comma, rest.size() - 1) + 1);
  }
  if (values.size() == 1) values.resize(3, values[0]);
  if (values.size() != 3) {
    return Fail(ErrorCode::kInvalidArgument,
                "\"" + text + "\" is neither one number nor three");
  }
  return std::array{values[0], values[1], values[2]};
}

Expected<HostTensor> ReadPictureInput(const std::string& path,
                                      const bytecode::Type& type,
                                      const PictureScale& scale) {
  TRY(const PictureLayout layout, LayoutOf(type));
  TRY(const Picture picture, ReadPng(path));
  const auto fixed = [&](std::size_t dim, int otherwise) {
    const int64_t size = type.dims[dim].size;
    return size >= 0 ? size : int64_t{otherwise};
  };
  const int64_t height = fixed(layout.height_dim, picture.height);
  const int64_t width = fixed(layout.width_dim, picture.width);
  std::vector<int64_t> dims(4, 1);
  dims[layout.channel_dim] = layout.channels;
  dims[layout.height_dim] = height;
  dims[layout.width_dim] = width;
  TRY(HostTensor tensor, HostTensor::Make(type.dtype, dims));
  const bool channels_last = layout.channel_dim == 3;
  const double step_x =
      static_cast<double>(picture.width) / static_cast<double>(width);
  const double step_y =
      static_cast<double>(picture.height) / static_cast<double>(height);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const double from_x = (static_cast<double>(x) + 0.5) * step_x - 0.5;
      const double from_y = (static_cast<double>(y) + 0.5) * step_y - 0.5;
      std::array<float, 3> pixel{};
      for (std::size_t c = 0; c < 3; ++c) {
        pixel[c] = Sample(picture, from_x, from_y, c);
      }
      // Grey by the usual weights of the eye.
      if (layout.channels == 1) {
        pixel[0] = 0.299F * pixel[0] + 0.587F * pixel[1] + 0.114F * pixel[2];
      }
      for (int64_t c = 0; c < layout.channels; ++c) {
        const auto channel = static_cast<std::size_t>(c);
        const float value = type.dtype == DType::kU8
                                ? std::round(pixel[channel])
                                : (pixel[channel] / 255 - scale.mean[channel]) /
                                      scale.deviation[channel];
        const int64_t place = channels_last
                                  ? (y * width + x) * layout.channels + c
                                  : (c * height + y) * width + x;
        SetElement(type.dtype, tensor.bytes().data(), place,
                   static_cast<double>(value));
      }
    }
  }
  return tensor;
}

}  // namespace ebb::tools
