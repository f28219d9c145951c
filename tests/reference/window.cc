#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "tests/reference/operand.h"

namespace ebb::reference {
namespace {

// Per spatial axis, worked out from the attributes and the dims.
struct Window {
  Index kernel, stride, dilation, begin, end;
};

int64_t Extent(const Window& w, std::size_t axis) {
  return (w.kernel[axis] - 1) * w.dilation[axis] + 1;
}

Window ReadWindow(const Call& call, const Index& kernel, bool transposed) {
  const std::size_t rank = kernel.size();
  const auto list = [&](const char* name, std::size_t size, int64_t fallback) {
    const auto given = call.attributes.Ints(name);
    return given.empty() ? Index(size, fallback)
                         : Index(given.begin(), given.end());
  };
  Window w{.kernel = kernel,
           .stride = list("strides", rank, 1),
           .dilation = list("dilations", rank, 1),
           .begin = Index(rank, 0),
           .end = Index(rank, 0)};
  const std::string_view mode = call.attributes.String("auto_pad", "NOTSET");
  const bool fixed = transposed && call.attributes.Has("output_shape");
  const Index pads = list("pads", 2 * rank, 0);
  const Index extra = list("output_padding", rank, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    if (mode == "VALID" && !fixed) continue;
    if (mode == "NOTSET" && !fixed) {
      w.begin[i] = pads[i];
      w.end[i] = pads[i + rank];
      continue;
    }
    // SAME, or a given output shape: what the output dim leaves over.
    const int64_t in = call.in(0).dims[i + 2];
    const int64_t out = call.out().dims[i + 2];
    const int64_t total =
        transposed ? (in - 1) * w.stride[i] + extra[i] + Extent(w, i) - out
                   : (out - 1) * w.stride[i] + Extent(w, i) - in;
    const int64_t half = std::max<int64_t>(total, 0) / 2;
    const int64_t rest = std::max<int64_t>(total, 0) - half;
    w.begin[i] = mode == "SAME_UPPER" ? half : rest;
    w.end[i] = mode == "SAME_UPPER" ? rest : half;
  }
  return w;
}

// [batch, channel, spatial…].
Index Place(int64_t batch, int64_t channel, const Index& spatial) {
  Index index = {batch, channel};
  index.insert(index.end(), spatial.begin(), spatial.end());
  return index;
}

Index Spatial(const Index& index) { return {index.begin() + 2, index.end()}; }

bool Inside(const Index& spatial, const Index& dims) {
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    if (spatial[i] < 0 || spatial[i] >= dims[i + 2]) return false;
  }
  return true;
}

// Input position of tap `tap` of output position `out`.
Index TapOf(const Window& w, const Index& out, const Index& tap) {
  Index in(tap.size());
  for (std::size_t i = 0; i < tap.size(); ++i) {
    in[i] = out[i] * w.stride[i] - w.begin[i] + tap[i] * w.dilation[i];
  }
  return in;
}

void Conv(const Call& call) {
  const ReferenceTensor& x = call.in(0);
  const ReferenceTensor& weights = call.in(1);
  const Window w = ReadWindow(call, Spatial(weights.dims), false);
  const int64_t per_group = weights.dims[0] / call.attributes.Int("group", 1);
  int64_t at = 0;
  ForEach(call.out().dims, [&](const Index& out) {
    const int64_t group = out[1] / per_group;
    double sum = call.Has(2) ? GetFloat(call.in(2), out[1]) : 0;
    for (int64_t c = 0; c < weights.dims[1]; ++c) {
      ForEach(w.kernel, [&](const Index& tap) {
        const Index in = TapOf(w, Spatial(out), tap);
        if (!Inside(in, x.dims)) return;
        const Index from = Place(out[0], group * weights.dims[1] + c, in);
        sum += GetFloat(x, Flat(x.dims, from)) *
               GetFloat(weights, Flat(weights.dims, Place(out[1], c, tap)));
      });
    }
    SetFloat(call.out(), at++, sum);
  });
}

void ConvTranspose(const Call& call) {
  const ReferenceTensor& x = call.in(0);
  const ReferenceTensor& weights = call.in(1);
  ReferenceTensor& y = call.out();
  const Window w = ReadWindow(call, Spatial(weights.dims), true);
  const int64_t group_count = call.attributes.Int("group", 1);
  const int64_t in_per_group = x.dims[1] / group_count;
  const int64_t out_per_group = weights.dims[1];
  std::vector<double> sums(static_cast<std::size_t>(y.count()), 0);
  ForEach(x.dims, [&](const Index& in) {
    const double value = GetFloat(x, Flat(x.dims, in));
    const int64_t group = in[1] / in_per_group;
    for (int64_t c = 0; c < out_per_group; ++c) {
      ForEach(w.kernel, [&](const Index& tap) {
        const Index out = TapOf(w, Spatial(in), tap);
        if (!Inside(out, y.dims)) return;
        const Index to = Place(in[0], group * out_per_group + c, out);
        sums[static_cast<std::size_t>(Flat(y.dims, to))] +=
            value * GetFloat(weights, Flat(weights.dims, Place(in[1], c, tap)));
      });
    }
  });
  int64_t at = 0;
  ForEach(y.dims, [&](const Index& out) {
    const double bias = call.Has(2) ? GetFloat(call.in(2), out[1]) : 0;
    SetFloat(y, at, sums[static_cast<std::size_t>(at)] + bias);
    ++at;
  });
}

void SetLowest(ReferenceTensor& tensor, int64_t i) {
  if (IsFloat(tensor.dtype)) {
    return SetFloat(tensor, i, -std::numeric_limits<double>::infinity());
  }
  SetInt(tensor, i, tensor.dtype == DType::kI8 ? -128 : 0);
}

void MaxPool(const Call& call) {
  const ReferenceTensor& x = call.in(0);
  const auto kernel = call.attributes.Ints("kernel_shape");
  const Window w = ReadWindow(call, Index(kernel.begin(), kernel.end()), false);
  const bool columns = call.attributes.Int("storage_order", 0) == 1;
  const Index plane = Spatial(x.dims);
  int64_t at = 0;
  ForEach(call.out().dims, [&](const Index& out) {
    int64_t best = -1;
    int64_t best_index = -1;
    ForEach(w.kernel, [&](const Index& tap) {
      const Index in = TapOf(w, Spatial(out), tap);
      if (!Inside(in, x.dims)) return;
      const int64_t here = Flat(x.dims, Place(out[0], out[1], in));
      const double value = GetFloat(x, here);
      // The first of equal ones; a NaN stays.
      const double before = best < 0 ? 0 : GetFloat(x, best);
      const bool better = best < 0 || value > before ||
                          (std::isnan(value) && !std::isnan(before));
      if (!better) return;
      best = here;
      best_index = here;
      if (!columns) return;
      // Column-major inside the plane: the first spatial axis is fastest.
      int64_t step = 1;
      best_index = here - here % Count(plane);
      for (std::size_t i = 0; i < in.size(); ++i) {
        best_index += in[i] * step;
        step *= plane[i];
      }
    });
    if (best < 0) {
      SetLowest(call.out(), at);
    } else {
      CopyElement(x, best, call.out(), at);
    }
    if (call.outputs.size() > 1) SetInt(call.outputs[1], at, best_index);
    ++at;
  });
}

void AveragePool(const Call& call) {
  const ReferenceTensor& x = call.in(0);
  const auto kernel = call.attributes.Ints("kernel_shape");
  const Window w = ReadWindow(call, Index(kernel.begin(), kernel.end()), false);
  const bool include_pad = call.attributes.Int("count_include_pad", 0) != 0;
  int64_t at = 0;
  ForEach(call.out().dims, [&](const Index& out) {
    double sum = 0;
    int64_t count = 0;
    ForEach(w.kernel, [&](const Index& tap) {
      const Index in = TapOf(w, Spatial(out), tap);
      if (Inside(in, x.dims)) {
        sum += GetFloat(x, Flat(x.dims, Place(out[0], out[1], in)));
        ++count;
        return;
      }
      // Padding counts when asked for; beyond it (ceil_mode) nothing does.
      bool padding = include_pad;
      for (std::size_t i = 0; i < in.size(); ++i) {
        padding = padding && in[i] < x.dims[i + 2] + w.end[i];
      }
      if (padding) ++count;
    });
    SetFloat(call.out(), at++, sum / static_cast<double>(count));
  });
}

}  // namespace

Status RunWindow(const Call& call) {
  if (call.code == OperatorCode::kConv) {
    Conv(call);
  } else if (call.code == OperatorCode::kConvTranspose) {
    ConvTranspose(call);
  } else if (call.code == OperatorCode::kMaxPool) {
    MaxPool(call);
  } else {
    AveragePool(call);
  }
  return {};
}

}  // namespace ebb::reference
