// A convolution as oneDNN sees it: two spatial axes (a 1-D one gets a height
// of one), and the part of it that one slice does.
#ifndef EBB_VM_KERNELS_ONEDNN_CONV_SHAPE_H_
#define EBB_VM_KERNELS_ONEDNN_CONV_SHAPE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "bytecode/packing.h"
#include "bytecode/shape_rules/window.h"
#include "vm/kernels/kernel.h"
#include "vm/kernels/onednn/library.h"

namespace ebb::kernels::onednn {

struct ConvShape {
  int64_t batch = 0;
  int64_t group = 1;
  int64_t in_channels = 0;   // Of all groups.
  int64_t out_channels = 0;  // Of all groups.
  WindowAxis h, w;
  // [batch, channel, h, w]; h of one element has no meaning.
  std::array<int64_t, 4> in_strides{}, out_strides{};
  bool channels_last = false;
  bool has_bias = false;

  bool depthwise() const {
    return group > 1 && group == in_channels && group == out_channels;
  }
  bool pointwise() const;
  int64_t cost() const;
};

// kUnsupported: not 1-D or 2-D, or tensors neither dense nor channels-last.
Expected<ConvShape> MakeConvShape(const Request& request);

// Some images, output channels and output rows; strides stay those of the
// whole tensors.
struct ConvPart {
  int64_t batch = 0;
  int64_t channels = 0;
  int64_t rows = 0;        // Of the output.
  int64_t input_rows = 0;  // That they see.
  int64_t pad_top = 0, pad_bottom = 0;
  friend bool operator==(const ConvPart&, const ConvPart&) = default;
};

MemoryDesc DescOfInput(const ConvShape& shape, const ConvPart& part);
MemoryDesc DescOfOutput(const ConvShape& shape, const ConvPart& part);
MemoryDesc DescOfBias(const ConvPart& part);
// [oc, ic, h, w], or [group, oc, ic, h, w]. Plain, row-major.
MemoryDesc DescOfPlainWeights(const ConvShape& shape, const ConvPart& part);
// The packing is of the operator's weights; nullopt where it does not carry
// over to the library's dims.
std::optional<MemoryDesc> DescOfPackedWeights(const ConvShape& shape,
                                              const Packing& packing,
                                              int spatial_rank);
std::optional<Packing> PackingOfWeights(const ConvShape& shape,
                                        const MemoryDesc& desc,
                                        int spatial_rank);

// `weights`: as wanted when not given.
Expected<Owned<dnnl_primitive_desc>> DescribeConv(
    dnnl_engine* engine, const ConvShape& shape, const ConvPart& part,
    const std::optional<MemoryDesc>& weights);

}  // namespace ebb::kernels::onednn

#endif  // EBB_VM_KERNELS_ONEDNN_CONV_SHAPE_H_
