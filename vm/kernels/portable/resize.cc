// Resize: geometry, order of axes, and the choice of kernel.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "bytecode/shape_rules/resize_geometry.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/resize_plan.h"
#include "vm/kernels/portable/rows.h"

namespace ebb::kernels {
namespace {

OptionalFloats FloatsOf(const Request& request, std::size_t i) {
  const Operand& operand = InputOf(request, i);
  if (!operand.present()) return std::nullopt;
  return operand.floats;
}

// Dims from slowest to fastest in memory.
std::vector<std::size_t> MemoryOrder(const Operand& in, const Operand& out) {
  std::vector<std::size_t> order(out.dims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (out.strides[a] != out.strides[b]) {
      return out.strides[a] > out.strides[b];
    }
    // A dim of one element may share a stride.
    if (in.strides[a] != in.strides[b]) return in.strides[a] > in.strides[b];
    return a < b;
  });
  return order;
}

// The dims in `order` lie without gaps.
bool IsDenseIn(const Operand& operand, const std::vector<std::size_t>& order) {
  int64_t expected = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::size_t d = order[i];
    if (operand.dims[d] != 1 && operand.strides[d] != expected) return false;
    expected *= operand.dims[d];
  }
  return true;
}

Expected<PreparedPtr> PrepareResize(const Request& request) {
  const Operand& in = InputOf(request, 0);
  const Operand& out = OutputOf(request, 0);
  TRY(const ResizeGeometry geometry,
      ResolveResize(request.attributes, in.dims, FloatsOf(request, 1),
                    FloatsOf(request, 2), ListOf(request, 3)));
  ResizePlan plan{.dtype = in.dtype,
                  .extrapolation = geometry.attributes.extrapolation_value,
                  .outer = {},
                  .outer_strides = {},
                  .row = {},
                  .threads = request.threads};
  std::vector<std::size_t> order = MemoryOrder(in, out);
  const bool empty = CountOf(out.dims) == 0;
  if (!empty && (!IsDenseIn(in, order) || !IsDenseIn(out, order))) {
    return BadRequest(request, "input and output lie in different orders");
  }
  plan.rows = empty ? 0 : 1;
  plan.row = {.input = 1, .output = 1, .identity = true};
  plan.row.indices = {0};
  plan.row.weights = {1};
  plan.row.outside = {0};
  if (!empty) {
    std::vector<ResizeTable> tables;
    for (const std::size_t d : order) {
      tables.push_back(MakeResizeTable(geometry.attributes, geometry.axes[d]));
    }
    while (!tables.empty() && tables.back().identity) {
      plan.inner *= tables.back().input;
      tables.pop_back();
    }
    if (!tables.empty()) {
      plan.row = std::move(tables.back());
      tables.pop_back();
    }
    plan.outer = std::move(tables);
    plan.outer_strides.resize(plan.outer.size());
    int64_t stride = plan.input_row();
    for (std::size_t d = plan.outer.size(); d-- > 0;) {
      plan.outer_strides[d] = stride;
      stride *= plan.outer[d].input;
      plan.rows *= plan.outer[d].output;
    }
  }
  const int64_t row = std::max<int64_t>(plan.output_row(), 1);
  plan.rows_per_slice = std::max<int64_t>(1, kSliceElements / row);
  if (geometry.attributes.mode == ResizeMode::kNearest) {
    return PrepareResizeNearest(request, std::move(plan));
  }
  return PrepareResizeWeighted(request, std::move(plan));
}

}  // namespace

const KernelRow kResizeKernel = {.prepare = PrepareResize,
                                 .data_form = Form::kDenseOrder,
                                 .other_form = Form::kDense,
                                 .output_form = Form::kDenseOrder};

}  // namespace ebb::kernels
