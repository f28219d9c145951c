#include "tests/kernels/conv_case.h"

#include <gtest/gtest.h>

#include "bytecode/shape_rules/window.h"

namespace ebb::kernels {
namespace {

// All index vectors below `dims`, in row-major order.
std::vector<std::vector<int64_t>> AllIndices(const std::vector<int64_t>& dims) {
  std::vector<std::vector<int64_t>> result;
  const int64_t count = *ElementCount(dims);
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> index(dims.size());
    int64_t rest = i;
    for (std::size_t d = dims.size(); d-- > 0;) {
      index[d] = rest % dims[d];
      rest /= dims[d];
    }
    result.push_back(index);
  }
  return result;
}

int64_t Flat(const std::vector<int64_t>& index,
             const std::vector<int64_t>& dims) {
  int64_t flat = 0;
  for (std::size_t d = 0; d < dims.size(); ++d)
    flat = flat * dims[d] + index[d];
  return flat;
}

}  // namespace

Attributes ConvAttributes(const ConvCase& c) {
  Attributes attributes;
  const auto set = [&](const char* name, const std::vector<int64_t>& value) {
    if (!value.empty()) attributes.Set(name, value);
  };
  set("strides", c.strides);
  set("pads", c.pads);
  set("dilations", c.dilations);
  set("output_padding", c.output_padding);
  set("output_shape", c.output_shape);
  attributes.Set("group", c.group);
  attributes.Set("auto_pad", c.auto_pad);
  return attributes;
}

std::vector<double> NaiveConv(const ConvCase& c, const TestTensor& x,
                              const TestTensor& w, const TestTensor& bias,
                              bool transposed) {
  const Attributes attributes = ConvAttributes(c);
  const Expected<WindowGeometry> geometry =
      transposed ? ConvTransposeGeometry(attributes, x.dims, w.dims)
                 : ConvGeometry(attributes, x.dims, w.dims);
  if (!geometry.has_value()) {
    ADD_FAILURE() << geometry.error().ToString();
    return {};
  }
  const WindowGeometry& g = *geometry;
  std::vector<int64_t> in_dims, out_dims, kernel;
  for (const WindowAxis& axis : g.axes) {
    in_dims.push_back(axis.input);
    out_dims.push_back(axis.output);
    kernel.push_back(axis.kernel);
  }
  const int64_t in_count = *ElementCount(in_dims);
  const int64_t out_count = *ElementCount(out_dims);
  const int64_t taps = *ElementCount(kernel);
  const int64_t in_group = g.in_channels / g.group;
  const int64_t out_group = g.out_channels / g.group;
  const std::vector<double> xv = Values(x);
  const std::vector<double> wv = Values(w);
  const std::vector<double> bv = bias.dtype == DType::kInvalid
                                     ? std::vector<double>(g.out_channels, 0)
                                     : Values(bias);
  std::vector<double> out(g.batch * g.out_channels * out_count);
  // One side's place and a tap give the other's place; both kinds add up the
  // same products.
  const std::vector<int64_t>& from_dims = transposed ? in_dims : out_dims;
  const std::vector<int64_t>& to_dims = transposed ? out_dims : in_dims;
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
    out[i] = bv[i / out_count % g.out_channels];
  }
  for (const std::vector<int64_t>& place : AllIndices(from_dims)) {
    for (const std::vector<int64_t>& tap : AllIndices(kernel)) {
      std::vector<int64_t> other(place.size());
      bool inside = true;
      for (std::size_t a = 0; a < place.size(); ++a) {
        const WindowAxis& axis = g.axes[a];
        other[a] =
            place[a] * axis.stride - axis.pad_begin + tap[a] * axis.dilation;
        inside = inside && other[a] >= 0 && other[a] < to_dims[a];
      }
      if (!inside) continue;
      const int64_t in_at = Flat(transposed ? place : other, in_dims);
      const int64_t out_at = Flat(transposed ? other : place, out_dims);
      const int64_t tap_at = Flat(tap, kernel);
      for (int64_t n = 0; n < g.batch; ++n) {
        for (int64_t m = 0; m < g.out_channels; ++m) {
          const int64_t group = m / out_group;
          double sum = 0;
          for (int64_t q = 0; q < in_group; ++q) {
            const int64_t channel = group * in_group + q;
            const int64_t weight = transposed
                                       ? channel * out_group + m % out_group
                                       : m * in_group + q;
            sum += xv[(n * g.in_channels + channel) * in_count + in_at] *
                   wv[weight * taps + tap_at];
          }
          out[(n * g.out_channels + m) * out_count + out_at] += sum;
        }
      }
    }
  }
  return out;
}

int64_t ConvDepth(const ConvCase& c) {
  return std::max<int64_t>(*ElementCount(c.w), 1) /
             std::max<int64_t>(c.w[0], 1) +
         1;
}

std::string ConvText(const ConvCase& c) {
  return DimsText(c.x) + " * " + DimsText(c.w) + " strides " +
         DimsText(c.strides) + " pads " + DimsText(c.pads) + " dilations " +
         DimsText(c.dilations) + " group " + std::to_string(c.group) + " " +
         c.auto_pad;
}

}  // namespace ebb::kernels
