// Resize by the nearest element: moves elements of any type without looking at
// them.
#include <algorithm>
#include <cstring>
#include <utility>

#include "vm/kernels/portable/convert.h"
#include "vm/kernels/portable/element.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/resize_plan.h"

namespace ebb::kernels {
namespace {

template <class Element>
class ResizeNearest final : public Prepared {
 public:
  ResizeNearest(ResizePlan plan, Element outside)
      : plan_(std::move(plan)), outside_(outside) {
    cost_ =
        plan_.rows * plan_.output_row() * static_cast<int64_t>(sizeof(Element));
    slice_count_ =
        plan_.output_row() == 0 ? 0 : CeilDiv(plan_.rows, plan_.rows_per_slice);
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    const auto* in = static_cast<const Element*>(args.inputs[0]);
    auto* out = static_cast<Element*>(args.outputs[0]);
    const int64_t begin = args.slice_begin * plan_.rows_per_slice;
    const int64_t end =
        std::min(args.slice_end * plan_.rows_per_slice, plan_.rows);
    int64_t last = -1;  // Offset of the input row that was resized last.
    for (int64_t r = begin; r < end; ++r) {
      Element* to = out + r * plan_.output_row();
      int64_t offset = 0;
      bool outside = false;
      int64_t rest = r;
      for (std::size_t d = plan_.outer.size(); d-- > 0;) {
        const ResizeTable& table = plan_.outer[d];
        const int64_t place = rest % table.output;
        rest /= table.output;
        outside = outside || table.outside[place] != 0;
        offset += table.indices[place] * plan_.outer_strides[d];
      }
      if (outside) {
        std::fill(to, to + plan_.output_row(), outside_);
        last = -1;
      } else if (offset == last) {
        // The same row again: a copy is cheaper than picking elements.
        std::memcpy(to, to - plan_.output_row(),
                    plan_.output_row() * sizeof(Element));
      } else {
        ResizeRow(in + offset, to);
        last = offset;
      }
    }
    return {};
  }

 private:
  void ResizeRow(const Element* in, Element* out) const {
    const ResizeTable& row = plan_.row;
    const int64_t inner = plan_.inner;
    if (row.identity) {
      std::memcpy(out, in, plan_.output_row() * sizeof(Element));
      return;
    }
    if (inner == 1 && !row.any_outside) {
      for (int64_t x = 0; x < row.output; ++x) out[x] = in[row.indices[x]];
      return;
    }
    for (int64_t x = 0; x < row.output; ++x) {
      Element* to = out + x * inner;
      if (row.outside[x] != 0) {
        std::fill(to, to + inner, outside_);
      } else {
        std::memcpy(to, in + row.indices[x] * inner, inner * sizeof(Element));
      }
    }
  }

  ResizePlan plan_;
  Element outside_;
};

}  // namespace

Expected<PreparedPtr> PrepareResizeNearest(const Request& request,
                                           ResizePlan plan) {
  const std::optional<int> bytes = ElementBytes(plan.dtype);
  if (!bytes.has_value()) return UnsupportedDTypes(request);
  // Zero for a type that no number converts to (complex).
  std::byte outside[16] = {};
  if (const ConvertFunction convert = FindConversion(DType::kF64, plan.dtype)) {
    convert(&plan.extrapolation, outside, 1);
  }
  PreparedPtr prepared;
  WithElementType(*bytes, [&]<class Element>(Element element) {
    std::memcpy(&element, outside, sizeof(Element));
    prepared =
        std::make_unique<ResizeNearest<Element>>(std::move(plan), element);
  });
  return prepared;
}

}  // namespace ebb::kernels
