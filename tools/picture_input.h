// A PNG picture as the input of a model: channels first (1x3xHxW, or 1x1xHxW
// for grey) or last (1xHxWx3), as the input's dims say. Where they fix height
// and width, the picture is resized (bilinear). Values are
// (pixel / 255 - mean) / std, or the pixels themselves for u8 inputs.
#ifndef EBB_TOOLS_PICTURE_INPUT_H_
#define EBB_TOOLS_PICTURE_INPUT_H_

#include <array>
#include <string>

#include "bytecode/error.h"
#include "bytecode/module.h"
#include "tools/host_tensor.h"

namespace ebb::tools {

struct PictureScale {
  std::array<float, 3> mean = {0, 0, 0};
  std::array<float, 3> deviation = {1, 1, 1};
};

// One number for all channels or three with commas: "0.485,0.456,0.406".
Expected<std::array<float, 3>> ParseChannels(const std::string& text);

Expected<HostTensor> ReadPictureInput(const std::string& path,
                                      const bytecode::Type& type,
                                      const PictureScale& scale);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_PICTURE_INPUT_H_
