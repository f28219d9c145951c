#include "vm/kernels/onednn/conv_shape.h"

#include <algorithm>
#include <string>

#include "vm/kernels/portable/request.h"

namespace ebb::kernels::onednn {
namespace {

std::unexpected<Error> Unsupported(const char* why) {
  return Fail(ErrorCode::kUnsupported, std::string("onednn: ") + why);
}

// [n, c, h, w] of an operand of rank 3 or 4.
std::array<int64_t, 4> Strides(const Operand& operand) {
  const std::span<const int64_t> s = operand.strides;
  if (s.size() == 4) return {s[0], s[1], s[2], s[3]};
  return {s[0], s[1], s[2] * operand.dims[2], s[2]};
}

bool IsPlain(const std::array<int64_t, 4>& strides, int64_t channels,
             int64_t height, int64_t width) {
  return strides == std::array<int64_t, 4>{channels * height * width,
                                           height * width, width, 1};
}

bool IsChannelsLast(const std::array<int64_t, 4>& strides, int64_t channels,
                    int64_t height, int64_t width) {
  return strides == std::array<int64_t, 4>{channels * height * width, 1,
                                           width * channels, channels};
}

// Dims of the weights as the library has them.
std::vector<int64_t> WeightDims(const ConvShape& shape, int64_t channels) {
  const int64_t in_group = shape.in_channels / shape.group;
  if (shape.group == 1) {
    return {channels, in_group, shape.h.kernel, shape.w.kernel};
  }
  return {shape.group, channels / shape.group, in_group, shape.h.kernel,
          shape.w.kernel};
}

MemoryDesc Image(std::array<int64_t, 4> dims,
                 const std::array<int64_t, 4>& strides, bool channels_last) {
  // The strides of dims of one element are what they would be without gaps:
  // the library compares them with its own.
  std::array<int64_t, 4> given = strides;
  const std::array<int, 4> order = channels_last
                                       ? std::array<int, 4>{1, 3, 2, 0}
                                       : std::array<int, 4>{3, 2, 1, 0};
  int64_t stride = 1;
  for (const int d : order) {
    if (dims[d] == 1) given[d] = stride;
    stride = given[d] * dims[d];
  }
  return StridedDesc(dims, given);
}

// What each of the library's weight dims is in the operator's [m, c, (h,) w];
// -1: a dim of one element that is not there.
std::vector<int> OperatorDims(const ConvShape& shape, int spatial_rank) {
  std::vector<int> dims =
      shape.group == 1 ? std::vector<int>{0, 1} : std::vector<int>{0, -1, 1};
  if (spatial_rank == 1) {
    dims.insert(dims.end(), {-1, 2});
  } else {
    dims.insert(dims.end(), {2, 3});
  }
  return dims;
}

}  // namespace

bool ConvShape::pointwise() const {
  for (const WindowAxis* axis : {&h, &w}) {
    if (axis->kernel != 1 || axis->stride != 1 || axis->pad_begin != 0 ||
        axis->input != axis->output) {
      return false;
    }
  }
  return true;
}

int64_t ConvShape::cost() const {
  return batch * out_channels * (in_channels / group) * h.kernel * w.kernel *
         h.output * w.output;
}

Expected<ConvShape> MakeConvShape(const Request& request) {
  const Operand& x = InputOf(request, 0);
  const Operand& w = InputOf(request, 1);
  const Operand& y = OutputOf(request, 0);
  if (x.dtype != DType::kF32) return Unsupported("f32 only");
  TRY(const WindowGeometry g, ConvGeometry(request.attributes, x.dims, w.dims));
  if (g.axes.size() != 1 && g.axes.size() != 2) {
    return Unsupported("one or two spatial axes only");
  }
  ConvShape shape{.batch = g.batch,
                  .group = g.group,
                  .in_channels = g.in_channels,
                  .out_channels = g.out_channels,
                  .h = g.axes.size() == 2
                           ? g.axes[0]
                           : WindowAxis{.input = 1, .kernel = 1, .output = 1},
                  .w = g.axes.back(),
                  .in_strides = Strides(x),
                  .out_strides = Strides(y),
                  .has_bias = InputOf(request, 2).present()};
  if (shape.cost() == 0) return Unsupported("nothing to compute");
  const bool last = IsChannelsLast(shape.in_strides, shape.in_channels,
                                   shape.h.input, shape.w.input) &&
                    IsChannelsLast(shape.out_strides, shape.out_channels,
                                   shape.h.output, shape.w.output);
  const bool plain = IsPlain(shape.in_strides, shape.in_channels, shape.h.input,
                             shape.w.input) &&
                     IsPlain(shape.out_strides, shape.out_channels,
                             shape.h.output, shape.w.output);
  if (!last && !plain) return Unsupported("tensors in another order");
  shape.channels_last = last && !plain;
  return shape;
}

MemoryDesc DescOfInput(const ConvShape& shape, const ConvPart& part) {
  return Image({part.batch, shape.in_channels, part.input_rows, shape.w.input},
               shape.in_strides, shape.channels_last);
}

MemoryDesc DescOfOutput(const ConvShape& shape, const ConvPart& part) {
  return Image({part.batch, part.channels, part.rows, shape.w.output},
               shape.out_strides, shape.channels_last);
}

MemoryDesc DescOfBias(const ConvPart& part) {
  return StridedDesc({{part.channels}}, {{1}});
}

MemoryDesc DescOfPlainWeights(const ConvShape& shape, const ConvPart& part) {
  const std::vector<int64_t> dims = WeightDims(shape, part.channels);
  return StridedDesc(dims, DenseStrides(dims));
}

std::optional<MemoryDesc> DescOfPackedWeights(const ConvShape& shape,
                                              const Packing& packing,
                                              int spatial_rank) {
  const std::vector<int> to = OperatorDims(shape, spatial_rank);
  if (shape.group > 1 && !shape.depthwise()) return std::nullopt;
  const auto library_dim = [&](int32_t dim) {
    return static_cast<int32_t>(std::find(to.begin(), to.end(), dim) -
                                to.begin());
  };
  Packing mapped;
  // Dims of one element that only the library has go first.
  for (std::size_t d = 0; d < to.size(); ++d) {
    if (to[d] < 0) mapped.outer_order.push_back(static_cast<int32_t>(d));
  }
  for (const int32_t dim : packing.outer_order) {
    mapped.outer_order.push_back(library_dim(dim));
  }
  for (const Packing::Block& block : packing.blocks) {
    mapped.blocks.push_back({library_dim(block.dim), block.size});
  }
  return PackedDesc(mapped, WeightDims(shape, shape.out_channels));
}

std::optional<Packing> PackingOfWeights(const ConvShape& shape,
                                        const MemoryDesc& desc,
                                        int spatial_rank) {
  if (shape.group > 1 && !shape.depthwise()) return std::nullopt;
  std::optional<Packing> packing = PackingOf(desc);
  if (!packing.has_value() || packing->blocks.empty()) return std::nullopt;
  const std::vector<int> to = OperatorDims(shape, spatial_rank);
  Packing mapped;
  for (const int32_t dim : packing->outer_order) {
    if (to[dim] >= 0) mapped.outer_order.push_back(to[dim]);
  }
  for (const Packing::Block& block : packing->blocks) {
    if (to[block.dim] < 0) return std::nullopt;
    mapped.blocks.push_back({to[block.dim], block.size});
  }
  return mapped;
}

Expected<Owned<dnnl_primitive_desc>> DescribeConv(
    dnnl_engine* engine, const ConvShape& shape, const ConvPart& part,
    const std::optional<MemoryDesc>& weights) {
  const MemoryDesc in = DescOfInput(shape, part);
  const MemoryDesc out = DescOfOutput(shape, part);
  const MemoryDesc bias = DescOfBias(part);
  const MemoryDesc w =
      weights.value_or(AnyDesc(WeightDims(shape, part.channels)));
  const dnnl_dims_t strides = {shape.h.stride, shape.w.stride};
  const dnnl_dims_t dilations = {shape.h.dilation - 1, shape.w.dilation - 1};
  const dnnl_dims_t before = {part.pad_top, shape.w.pad_begin};
  // What the output does not reach is not there; what it reaches beyond the
  // padding that was asked for (auto_pad) is.
  const int64_t right = (shape.w.output - 1) * shape.w.stride +
                        (shape.w.kernel - 1) * shape.w.dilation + 1 -
                        shape.w.pad_begin - shape.w.input;
  const dnnl_dims_t after = {part.pad_bottom, right};
  dnnl_convolution_desc_t operation;
  RETURN_IF_ERROR(
      Check(dnnl_dilated_convolution_forward_desc_init(
                &operation, dnnl_forward_inference, dnnl_convolution_direct,
                &in, &w, shape.has_bias ? &bias : nullptr, &out, strides,
                dilations, before, after),
            "convolution"));
  return Describe(engine, &operation);
}

}  // namespace ebb::kernels::onednn
