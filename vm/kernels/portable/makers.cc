// Operators that make a tensor out of dims or numbers: Shape, Size, Full and
// Range.
#include <algorithm>
#include <memory>
#include <vector>

#include "vm/kernels/portable/convert.h"
#include "vm/kernels/portable/element.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/rows.h"
#include "vm/kernels/portable/tile_io.h"

namespace ebb::kernels {
namespace {

// Integers known in Prepare.
class IntegersKernel final : public Prepared {
 public:
  explicit IntegersKernel(std::vector<int64_t> values)
      : values_(std::move(values)) {
    slice_count_ = values_.empty() ? 0 : 1;
    cost_ = static_cast<int64_t>(values_.size() * sizeof(int64_t));
  }
  RunStatus Run(const RunArgs& args) const noexcept override {
    std::ranges::copy(values_, static_cast<int64_t*>(args.outputs[0]));
    return {};
  }

 private:
  std::vector<int64_t> values_;
};

Expected<PreparedPtr> PrepareShape(const Request& request) {
  const DimSpan dims = InputOf(request, 0).dims;
  const AxisRange range =
      ResolveShapeRange(request.attributes, static_cast<int>(dims.size()));
  return std::make_unique<IntegersKernel>(
      std::vector<int64_t>(dims.begin() + range.begin,
                           dims.begin() + std::max(range.begin, range.end)));
}

Expected<PreparedPtr> PrepareSize(const Request& request) {
  return std::make_unique<IntegersKernel>(
      std::vector<int64_t>{CountOf(InputOf(request, 0).dims)});
}

// One element repeated over a dense output.
class FullKernel final : public Prepared {
 public:
  FullKernel(int64_t count, int element_bytes)
      : count_(count), element_bytes_(element_bytes) {
    slice_count_ = CeilDiv(count, kSliceElements);
    cost_ = count * element_bytes;
  }
  RunStatus Run(const RunArgs& args) const noexcept override {
    const int64_t begin = args.slice_begin * kSliceElements;
    const int64_t end = std::min(args.slice_end * kSliceElements, count_);
    WithElementType(element_bytes_, [&]<class T>(T) {
      const T value = *static_cast<const T*>(args.inputs[1]);
      T* out = static_cast<T*>(args.outputs[0]);
      std::fill(out + begin, out + end, value);
    });
    return {};
  }

 private:
  int64_t count_;
  int element_bytes_;
};

Expected<PreparedPtr> PrepareFull(const Request& request) {
  const Operand& output = OutputOf(request, 0);
  const std::optional<int> bytes = ElementBytes(output.dtype);
  if (!bytes.has_value()) return UnsupportedDTypes(request);
  return std::make_unique<FullKernel>(CountOf(output.dims), *bytes);
}

// start + i * delta, in i64 (wrapping) or f64, rounded once to the dtype.
class RangeKernel final : public Prepared {
 public:
  RangeKernel(const Request& request, int64_t count, ConvertFunction convert)
      : count_(count), convert_(convert) {
    const Operand& start = request.inputs[0];
    const Operand& delta = request.inputs[2];
    const DType dtype = request.outputs[0].dtype;
    element_bytes_ = DTypeBits(dtype) / 8;
    floating_ = IsFloat(dtype);
    if (floating_) {
      float_start_ = start.floats[0];
      float_delta_ = delta.floats[0];
    } else {
      start_ = static_cast<uint64_t>(start.ints[0]);
      delta_ = static_cast<uint64_t>(delta.ints[0]);
    }
    slice_count_ = CeilDiv(count, kSliceElements);
    cost_ = count * element_bytes_;
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    auto* out = static_cast<std::byte*>(args.outputs[0]);
    int64_t begin = args.slice_begin * kSliceElements;
    const int64_t end = std::min(args.slice_end * kSliceElements, count_);
    for (; begin < end; begin += kTileElements) {
      const int64_t n = std::min(end - begin, kTileElements);
      std::byte* place = out + begin * element_bytes_;
      if (floating_) {
        double tile[kTileElements];
        for (int64_t i = 0; i < n; ++i) {
          tile[i] =
              float_start_ + static_cast<double>(begin + i) * float_delta_;
        }
        convert_(tile, place, n);
      } else {
        uint64_t tile[kTileElements];
        for (int64_t i = 0; i < n; ++i) {
          tile[i] = start_ + static_cast<uint64_t>(begin + i) * delta_;
        }
        convert_(tile, place, n);
      }
    }
    return {};
  }

 private:
  int64_t count_;
  ConvertFunction convert_;
  int element_bytes_ = 0;
  bool floating_ = false;
  uint64_t start_ = 0;
  uint64_t delta_ = 0;
  double float_start_ = 0;
  double float_delta_ = 0;
};

Expected<PreparedPtr> PrepareRange(const Request& request) {
  const Operand& output = OutputOf(request, 0);
  const DType computed = IsFloat(output.dtype) ? DType::kF64 : DType::kU64;
  const ConvertFunction convert = FindConversion(computed, output.dtype);
  if (convert == nullptr) return UnsupportedDTypes(request);
  return std::make_unique<RangeKernel>(request, CountOf(output.dims), convert);
}

}  // namespace

const KernelRow kShapeKernel = {.prepare = PrepareShape,
                                .data_form = Form::kAny};
const KernelRow kSizeKernel = {.prepare = PrepareSize, .data_form = Form::kAny};
const KernelRow kFullKernel = {.prepare = PrepareFull};
const KernelRow kRangeKernel = {.prepare = PrepareRange};

}  // namespace ebb::kernels
