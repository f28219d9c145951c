// Gather along one axis: rows of the data, chosen by indices, become rows of
// the output. Negative indices count from the end.
#include <algorithm>
#include <cstring>
#include <memory>

#include "vm/kernels/portable/element.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/rows.h"

namespace ebb::kernels {
namespace {

constexpr int64_t kSliceBytes = 65536;

class GatherKernel final : public Prepared {
 public:
  GatherKernel(const Operand& data, int axis, int element_bytes,
               const Operand& indices)
      : axis_size_(data.dims[axis]),
        index_count_(CountOf(indices.dims)),
        row_count_(CountOf(data.dims.first(axis)) * index_count_),
        row_bytes_(CountOf(data.dims.subspan(axis + 1)) * element_bytes),
        wide_indices_(indices.dtype == DType::kI64) {
    rows_per_slice_ =
        std::max<int64_t>(1, kSliceBytes / std::max<int64_t>(row_bytes_, 1));
    // Indices are checked even where their rows are empty.
    slice_count_ = CeilDiv(row_count_, rows_per_slice_);
    cost_ = 2 * row_count_ * row_bytes_;
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    const int64_t begin = args.slice_begin * rows_per_slice_;
    const int64_t end = std::min(args.slice_end * rows_per_slice_, row_count_);
    return wide_indices_ ? RunRows<int64_t>(args, begin, end)
                         : RunRows<int32_t>(args, begin, end);
  }

 private:
  template <class Index>
  RunStatus RunRows(const RunArgs& args, int64_t begin, int64_t end) const {
    switch (row_bytes_) {
      // Copies of a known size are a load and a store.
      case 1:
        return CopyRows<Index, 1>(args, begin, end);
      case 2:
        return CopyRows<Index, 2>(args, begin, end);
      case 4:
        return CopyRows<Index, 4>(args, begin, end);
      case 8:
        return CopyRows<Index, 8>(args, begin, end);
      default:
        return CopyRows<Index, 0>(args, begin, end);
    }
  }

  template <class Index, int64_t kRowBytes>
  RunStatus CopyRows(const RunArgs& args, int64_t begin, int64_t end) const {
    const auto* data = static_cast<const std::byte*>(args.inputs[0]);
    const auto* indices = static_cast<const Index*>(args.inputs[1]);
    auto* out = static_cast<std::byte*>(args.outputs[0]);
    const int64_t row_bytes = kRowBytes == 0 ? row_bytes_ : kRowBytes;
    int64_t column = index_count_ == 0 ? 0 : begin % index_count_;
    int64_t outer = index_count_ == 0 ? 0 : begin / index_count_;
    for (int64_t row = begin; row < end; ++row) {
      const int64_t given = indices[column];
      const int64_t index = given < 0 ? given + axis_size_ : given;
      if (index < 0 || index >= axis_size_) {
        return {.code = RunCode::kIndexOutOfRange,
                .value = given,
                .low = -axis_size_,
                .high = axis_size_ - 1};
      }
      if (row_bytes != 0) {
        std::memcpy(out + row * row_bytes,
                    data + (outer * axis_size_ + index) * row_bytes, row_bytes);
      }
      if (++column == index_count_) {
        column = 0;
        ++outer;
      }
    }
    return {};
  }

  int64_t axis_size_;
  int64_t index_count_;
  int64_t row_count_;
  int64_t row_bytes_;
  bool wide_indices_;
  int64_t rows_per_slice_ = 1;
};

Expected<PreparedPtr> PrepareGather(const Request& request) {
  const Operand& data = InputOf(request, 0);
  const Operand& indices = InputOf(request, 1);
  const std::optional<int> bytes = ElementBytes(data.dtype);
  if (!bytes.has_value() ||
      (indices.dtype != DType::kI32 && indices.dtype != DType::kI64)) {
    return UnsupportedDTypes(request);
  }
  TRY(const int axis, NormalizeAxis(request.attributes.Int("axis", 0),
                                    static_cast<int>(data.dims.size())));
  return std::make_unique<GatherKernel>(data, axis, *bytes, indices);
}

}  // namespace

const KernelRow kGatherKernel = {.prepare = PrepareGather};

}  // namespace ebb::kernels
