// Pad: every output row is a stretch before, a stretch of the source, and a
// stretch after. Negative amounts crop first; the modes then see only what is
// left. Outer dims map each index to a source index, or to the constant.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "vm/kernels/portable/element.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/rows.h"

namespace ebb::kernels {
namespace {

// One dim: `size` source elements from `start` on, `before` ones made up in
// front of them; `out` in all.
struct PadDim {
  int64_t start = 0;
  int64_t size = 1;
  int64_t before = 0;
  int64_t out = 1;
  int64_t stride = 0;  // Of the source, in elements.
};

// Source index of output index `i`, or -1 for the constant.
int64_t MapIndex(PadMode mode, const PadDim& dim, int64_t i) {
  int64_t at = i - dim.before;
  if (at >= 0 && at < dim.size) return dim.start + at;
  switch (mode) {
    case PadMode::kConstant:
      return -1;
    case PadMode::kEdge:
      at = at < 0 ? 0 : dim.size - 1;
      break;
    case PadMode::kWrap:
      at %= dim.size;
      if (at < 0) at += dim.size;
      break;
    case PadMode::kReflect: {
      if (dim.size == 1) {
        at = 0;
        break;
      }
      const int64_t period = 2 * (dim.size - 1);
      at %= period;
      if (at < 0) at += period;
      if (at >= dim.size) at = period - at;
      break;
    }
  }
  return dim.start + at;
}

class PadKernel final : public Prepared {
 public:
  PadKernel(PadMode mode, int element_bytes, bool has_value,
            std::span<const PadDim> dims)
      : mode_(mode), element_bytes_(element_bytes), has_value_(has_value) {
    int64_t count = 1;
    for (const PadDim& dim : dims) {
      count *= dim.out;
      // Neighbours that both stay whole and lie in one run are one dim.
      if (rank_ > 0 && IsWhole(dim) && IsWhole(dims_[rank_ - 1]) &&
          dims_[rank_ - 1].stride == dim.stride * dim.size) {
        PadDim& last = dims_[rank_ - 1];
        last.size *= dim.size;
        last.out = last.size;
        last.stride = dim.stride;
        continue;
      }
      dims_[rank_++] = dim;
    }
    if (rank_ == 0) dims_[rank_++] = PadDim{};
    if (count == 0) {
      slice_count_ = 0;
      return;
    }
    const PadDim& row = dims_[rank_ - 1];
    row_count_ = count / row.out;
    rows_per_slice_ = std::max<int64_t>(1, kSliceElements / row.out);
    slice_count_ = CeilDiv(row_count_, rows_per_slice_);
    cost_ = 2 * count * element_bytes;
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    const int64_t begin = args.slice_begin * rows_per_slice_;
    const int64_t end = std::min(args.slice_end * rows_per_slice_, row_count_);
    WithElementType(element_bytes_, [&]<class T>(T) {
      const T* from = static_cast<const T*>(args.inputs[0]);
      T* to = static_cast<T*>(args.outputs[0]);
      // Without a constant value the padding is all zero bits.
      const T value = has_value_ ? *static_cast<const T*>(args.inputs[2]) : T{};
      for (int64_t row = begin; row < end; ++row) {
        FillRow(from, value, row, to + row * dims_[rank_ - 1].out);
      }
    });
    return {};
  }

 private:
  static bool IsWhole(const PadDim& dim) {
    return dim.start == 0 && dim.before == 0 && dim.out == dim.size;
  }

  template <class T>
  void FillRow(const T* from, T value, int64_t row, T* to) const {
    const PadDim& inner = dims_[rank_ - 1];
    for (int d = rank_ - 1; d-- > 0;) {
      const int64_t at = MapIndex(mode_, dims_[d], row % dims_[d].out);
      row /= dims_[d].out;
      if (at < 0) {
        std::fill_n(to, inner.out, value);
        return;
      }
      from += at * dims_[d].stride;
    }
    const int64_t copy_begin = inner.before;
    const int64_t copy_end = inner.before + inner.size;
    FillEnd(from, value, to, 0, copy_begin);
    const T* source = from + inner.start * inner.stride;
    if (inner.stride == 1 && copy_end > copy_begin) {
      std::memcpy(to + copy_begin, source, (copy_end - copy_begin) * sizeof(T));
    } else {
      for (int64_t i = copy_begin; i < copy_end; ++i) {
        to[i] = source[(i - copy_begin) * inner.stride];
      }
    }
    FillEnd(from, value, to, copy_end, inner.out);
  }

  template <class T>
  void FillEnd(const T* from, T value, T* to, int64_t begin,
               int64_t end) const {
    const PadDim& inner = dims_[rank_ - 1];
    if (mode_ == PadMode::kConstant) {
      std::fill(to + begin, to + end, value);
      return;
    }
    for (int64_t i = begin; i < end; ++i) {
      to[i] = from[MapIndex(mode_, inner, i) * inner.stride];
    }
  }

  PadMode mode_;
  int element_bytes_;
  bool has_value_;
  int rank_ = 0;
  std::array<PadDim, kMaxRank> dims_;
  int64_t row_count_ = 0;
  int64_t rows_per_slice_ = 1;
};

Expected<PreparedPtr> PreparePad(const Request& request) {
  const Operand& x = InputOf(request, 0);
  const Operand& y = OutputOf(request, 0);
  const std::optional<int> bytes = ElementBytes(x.dtype);
  const Operand& value = InputOf(request, 2);
  if (!bytes.has_value() || (value.present() && value.dtype != x.dtype)) {
    return UnsupportedDTypes(request);
  }
  TRY(const PadMode mode,
      PadModeFromName(request.attributes.String("mode", "constant")));
  TRY(const std::vector<PadAxis> pads,
      ResolvePads(x.dims, *ListOf(request, 1), ListOf(request, 3), mode));
  std::vector<PadDim> dims;
  for (std::size_t d = 0; d < x.dims.size(); ++d) {
    PadDim dim;
    dim.start = std::max<int64_t>(0, -pads[d].begin);
    dim.size = x.dims[d] - dim.start - std::max<int64_t>(0, -pads[d].end);
    dim.before = std::max<int64_t>(0, pads[d].begin);
    dim.out = y.dims[d];
    dim.stride = x.strides[d];
    dims.push_back(dim);
  }
  return std::make_unique<PadKernel>(mode, *bytes, value.present(), dims);
}

}  // namespace

const KernelRow kPadKernel = {.prepare = PreparePad,
                              .data_form = Form::kAny,
                              .other_form = Form::kAny,
                              .output_form = Form::kDense};

}  // namespace ebb::kernels
