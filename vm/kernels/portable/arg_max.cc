// ArgMax. The first NaN counts as the largest, as in numpy. Along the fastest
// dim each output looks through its own run; along any other dim a row of
// outputs goes through the rows of the axis together.
#include <algorithm>
#include <memory>
#include <vector>

#include "vm/kernels/portable/lanes.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/rows.h"
#include "vm/kernels/portable/tile_io.h"

namespace ebb::kernels {
namespace {

// best[c], index[c] take in element c of `row`, which is at `at` on the axis.
using UpdateFunction = void (*)(const void* row, int64_t n, int64_t at,
                                void* best, int64_t* index);
// The same for one output and a whole run that starts at `at`.
using ScanFunction = void (*)(const void* run, int64_t n, int64_t at,
                              void* best, int64_t* index);

// Without branches, so that columns become vectors.
template <bool kLast, class T>
EBB_ALWAYS_INLINE bool Beats(T x, T best) {
  if constexpr (kLast) return (x >= best) | (x != x);
  return (x > best) | ((x != x) & (best == best));
}

template <bool kLast, class T>
EBB_TARGET_CLONES void Update(const void* row, int64_t n, int64_t at,
                              void* best, int64_t* index) {
  const T* x = static_cast<const T*>(row);
  T* values = static_cast<T*>(best);
  if (at == 0) {
    std::copy_n(x, n, values);
    std::fill_n(index, n, 0);
    return;
  }
  EBB_INDEPENDENT
  for (int64_t c = 0; c < n; ++c) {
    const T value = x[c];
    const T old = values[c];
    const int64_t place = index[c];
    const bool better = Beats<kLast>(value, old);
    values[c] = better ? value : old;
    index[c] = better ? at : place;
  }
}

template <class T>
EBB_TARGET_CLONES T LargestOf(const T* x, int64_t n) {
  return ReduceLanes<RunningMaxOp>(x, n, x[0]);
}

// The largest first, in vectors; then where it is.
template <bool kLast, class T>
void Scan(const void* run, int64_t n, int64_t at, void* best, int64_t* index) {
  const T* x = static_cast<const T*>(run);
  T& value = *static_cast<T*>(best);
  const T largest = LargestOf(x, n);
  if (at != 0 && !Beats<kLast>(largest, value)) return;
  value = largest;
  const auto is_it = [largest](T v) {
    return v == largest || (largest != largest && v != v);
  };
  int64_t i = kLast ? n - 1 : 0;
  while (!is_it(x[i])) i += kLast ? -1 : 1;
  *index = at + i;
}

struct ArgFunctions {
  UpdateFunction update = nullptr;
  ScanFunction scan = nullptr;
};

template <class T>
ArgFunctions FunctionsOf(bool last) {
  return last ? ArgFunctions{&Update<true, T>, &Scan<true, T>}
              : ArgFunctions{&Update<false, T>, &Scan<false, T>};
}

ArgFunctions FindFunctions(DType dtype, bool last) {
  switch (dtype) {
    case DType::kF32:
      return FunctionsOf<float>(last);
    case DType::kF64:
      return FunctionsOf<double>(last);
    case DType::kI8:
      return FunctionsOf<int8_t>(last);
    case DType::kI16:
      return FunctionsOf<int16_t>(last);
    case DType::kI32:
      return FunctionsOf<int32_t>(last);
    case DType::kI64:
      return FunctionsOf<int64_t>(last);
    case DType::kU8:
      return FunctionsOf<uint8_t>(last);
    case DType::kU16:
      return FunctionsOf<uint16_t>(last);
    case DType::kU32:
      return FunctionsOf<uint32_t>(last);
    case DType::kU64:
      return FunctionsOf<uint64_t>(last);
    default:
      return {};
  }
}

class ArgMaxKernel final : public Prepared {
 public:
  ArgMaxKernel(const Operand& x, int axis, ArgFunctions functions,
               DType computed)
      : functions_(functions),
        reader_(MakeWalk(x.dims, x.strides), x.dtype, computed),
        axis_size_(x.dims.empty() ? 1 : x.dims[axis]),
        inner_(x.dims.empty() ? 1 : CountOf(x.dims.subspan(axis + 1))) {
    const int64_t outer = x.dims.empty() ? 1 : CountOf(x.dims.first(axis));
    const int64_t outputs = outer * inner_;
    if (outputs == 0) {
      slice_count_ = 0;
      return;
    }
    // A unit is a row of outputs, or a part of one that fits a tile.
    blocks_ = CeilDiv(inner_, kTileElements);
    width_ = CeilDiv(inner_, blocks_);
    blocks_ = CeilDiv(inner_, width_);
    units_ = outer * blocks_;
    per_slice_ = std::max<int64_t>(1, kSliceElements / (width_ * axis_size_));
    slice_count_ = CeilDiv(units_, per_slice_);
    cost_ = 4 * reader_.walk().count;
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    const int64_t end = std::min(args.slice_end * per_slice_, units_);
    TileSlot slot;
    TileBuffer raw;
    TileBuffer best;
    int64_t* out = static_cast<int64_t*>(args.outputs[0]);
    for (int64_t unit = args.slice_begin * per_slice_; unit < end; ++unit) {
      const int64_t outer = unit / blocks_;
      const int64_t column = unit % blocks_ * width_;
      const int64_t first = outer * axis_size_ * inner_ + column;
      int64_t* index = out + outer * inner_ + column;
      if (inner_ == 1) {
        for (int64_t at = 0; at < axis_size_; at += kTileElements) {
          const int64_t n = std::min(kTileElements, axis_size_ - at);
          functions_.scan(
              reader_.Read(args.inputs[0], first + at, n, slot, raw), n, at,
              best.bytes, index);
        }
        continue;
      }
      const int64_t n = std::min(width_, inner_ - column);
      for (int64_t at = 0; at < axis_size_; ++at) {
        functions_.update(
            reader_.Read(args.inputs[0], first + at * inner_, n, slot, raw), n,
            at, best.bytes, index);
      }
    }
    return {};
  }

 private:
  ArgFunctions functions_;
  TileReader reader_;
  int64_t axis_size_;
  int64_t inner_;
  int64_t blocks_ = 1;
  int64_t width_ = 1;
  int64_t units_ = 0;
  int64_t per_slice_ = 1;
};

Expected<PreparedPtr> PrepareArgMax(const Request& request) {
  const Operand& x = InputOf(request, 0);
  const bool half = x.dtype == DType::kF16 || x.dtype == DType::kBF16;
  const DType computed = half ? DType::kF32 : x.dtype;
  const ArgFunctions functions = FindFunctions(
      computed, request.attributes.Int("select_last_index", 0) != 0);
  if (functions.scan == nullptr) return UnsupportedDTypes(request);
  int axis = 0;
  if (!x.dims.empty()) {
    TRY(axis, NormalizeAxis(request.attributes.Int("axis", 0),
                            static_cast<int>(x.dims.size())));
    if (x.dims[axis] == 0 && CountOf(OutputOf(request, 0).dims) != 0) {
      return BadRequest(request, "axis " + std::to_string(axis) +
                                     " has no element to choose from");
    }
  }
  return std::make_unique<ArgMaxKernel>(x, axis, functions, computed);
}

}  // namespace

const KernelRow kArgMaxKernel = {.prepare = PrepareArgMax,
                                 .data_form = Form::kAny};

}  // namespace ebb::kernels
