// MaxPool and AveragePool: geometry and the choice of kernel.
#include <algorithm>
#include <string>

#include "vm/kernels/portable/pool_window.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/rows.h"

namespace ebb::kernels {
namespace {

PoolTensor TensorStrides(const Operand& operand) {
  PoolTensor tensor{.batch = operand.strides[0], .channel = operand.strides[1]};
  const std::size_t spatial = operand.strides.size() - 2;
  for (std::size_t a = 0; a < spatial; ++a) {
    tensor.axes[kPoolAxes - spatial + a] = operand.strides[2 + a];
  }
  return tensor;
}

// Taps t with low <= place * stride - pad_begin + t * dilation < high.
PoolTaps TapsBetween(const WindowAxis& axis, int64_t place, int64_t low,
                     int64_t high) {
  const int64_t first = place * axis.stride - axis.pad_begin;
  const int64_t begin = first >= low ? 0 : CeilDiv(low - first, axis.dilation);
  const int64_t end = first >= high ? 0 : CeilDiv(high - first, axis.dilation);
  const int64_t from = std::min(begin, axis.kernel);
  return {from, std::max(from, std::min(end, axis.kernel))};
}

Expected<PreparedPtr> PrepareMaxPool(const Request& request) {
  TRY(const PoolWindow window, MakePoolWindow(request));
  if (OutputOf(request, 1).present()) {
    return PreparePoolIndices(request, window);
  }
  return PreparePoolRows(request, window, PoolKind::kMax);
}

Expected<PreparedPtr> PrepareAveragePool(const Request& request) {
  TRY(const PoolWindow window, MakePoolWindow(request));
  const bool padded = request.attributes.Int("count_include_pad", 0) != 0;
  return PreparePoolRows(
      request, window, padded ? PoolKind::kAveragePadded : PoolKind::kAverage);
}

}  // namespace

PoolTaps TapsInside(const WindowAxis& axis, int64_t place) {
  return TapsBetween(axis, place, 0, axis.input);
}

int64_t TapsWithPadding(const WindowAxis& axis, int64_t place) {
  return TapsBetween(axis, place, -axis.pad_begin, axis.input + axis.pad_end)
      .count();
}

Expected<PoolWindow> MakePoolWindow(const Request& request) {
  TRY(const WindowGeometry geometry,
      PoolGeometry(request.attributes, InputOf(request, 0).dims));
  if (geometry.axes.size() > kPoolAxes) {
    return Fail(ErrorCode::kUnsupported,
                std::string(request.info.mnemonic) + ": " +
                    std::to_string(geometry.axes.size()) +
                    " spatial axes, at most 3 are built in");
  }
  PoolWindow window{.dtype = InputOf(request, 0).dtype,
                    .batch = geometry.batch,
                    .channels = geometry.in_channels,
                    .axes = {},
                    .in = TensorStrides(InputOf(request, 0)),
                    .out = TensorStrides(OutputOf(request, 0))};
  window.axes.fill({.input = 1, .kernel = 1, .output = 1});
  std::copy(geometry.axes.begin(), geometry.axes.end(),
            window.axes.end() - static_cast<int64_t>(geometry.axes.size()));
  return window;
}

const KernelRow kMaxPoolKernel = {.prepare = PrepareMaxPool,
                                  .data_form = Form::kDenseOrder,
                                  .other_form = Form::kDense,
                                  .output_form = Form::kDenseOrder};

const KernelRow kAveragePoolKernel = {.prepare = PrepareAveragePool,
                                      .data_form = Form::kDenseOrder,
                                      .other_form = Form::kDense,
                                      .output_form = Form::kDenseOrder};

}  // namespace ebb::kernels
