// Geometry that shape rules and kernels share, on int64 dims: what an
// operator's attributes and value inputs mean for given dims. A kernel that
// takes its loop bounds from here cannot disagree with the shape rule. Pure
// functions; bad arguments give an error without the operator's name (the
// caller knows it). All results of checked functions fit int64.
//
//   TRY(std::vector<SliceAxis> slice,
//       ResolveSlice(dims, starts, ends, axes, steps));
//   for (int64_t i = 0; i < slice[a].count; ++i)
//     Read(slice[a].start + i * slice[a].step);
//
// Windows (convolution, pooling) are in window.h, Resize in
// resize_geometry.h.
#ifndef EBB_BYTECODE_SHAPE_RULES_GEOMETRY_H_
#define EBB_BYTECODE_SHAPE_RULES_GEOMETRY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/attributes.h"
#include "bytecode/error.h"

namespace ebb {

using Dims = std::vector<int64_t>;
using DimSpan = std::span<const int64_t>;
// A list that may be left out (axes, steps, sizes).
using OptionalList = std::optional<DimSpan>;

// "[8,4]"; "[]" for a scalar.
std::string DimsText(DimSpan dims);

// Product of the dims; nullopt when it overflows or a dim is negative. A zero
// dim does not hide an overflow of the others.
std::optional<int64_t> ElementCount(DimSpan dims);

// `axis` in [-rank, rank) as an axis in [0, rank).
Expected<int> NormalizeAxis(int64_t axis, int rank);

// The same for a list; an axis may not stand twice. Bit a of the result is
// set when axis a is in the list.
Expected<uint32_t> AxesMask(DimSpan axes, int rank);

// Axes that a reduction goes over, as a mask. Absent or empty axes: all, or
// none with `noop_with_empty_axes`. A rank of 0 has no axes: the mask is 0.
Expected<uint32_t> ReduceMask(OptionalList axes, bool noop_with_empty_axes,
                              int rank);

// ONNX (numpy) broadcasting of two shapes, aligned at the last dim.
Expected<Dims> BroadcastDims(DimSpan a, DimSpan b);

// Element strides for reading a dense tensor of `dims` under the broadcast
// shape `out`: 0 where a dim is stretched. `dims` must broadcast to `out`.
Dims BroadcastStrides(DimSpan dims, DimSpan out);

// Dense row-major element strides.
Dims DenseStrides(DimSpan dims);

// One axis of a slice: elements start, start + step, … (count of them), all
// inside the axis. count 0: start means nothing.
struct SliceAxis {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};
// ONNX Slice: one entry per dim. Negative starts and ends count from the end;
// both are clamped to the axis, for negative steps to [-1, dim - 1].
Expected<std::vector<SliceAxis>> ResolveSlice(DimSpan dims, DimSpan starts,
                                              DimSpan ends, OptionalList axes,
                                              OptionalList steps);

enum class PadMode : uint8_t { kConstant, kReflect, kEdge, kWrap };
Expected<PadMode> PadModeFromName(std::string_view name);

// One axis of a pad; negative amounts crop.
struct PadAxis {
  int64_t begin = 0;
  int64_t end = 0;
};
// ONNX Pad: `pads` holds all begins, then all ends, of `axes` (absent: every
// axis). Cropping comes first and may not take more than there is; the other
// modes than constant need something left to repeat.
Expected<std::vector<PadAxis>> ResolvePads(DimSpan dims, DimSpan pads,
                                           OptionalList axes, PadMode mode);

// ONNX Split: sizes of the `parts` outputs along an axis of `dim` elements.
// Without `sizes`: ceil(dim / parts) each, the last ones smaller (or empty).
Expected<Dims> ResolveSplit(int64_t dim, std::size_t parts, OptionalList sizes);

// ONNX Reshape: 0 copies the input's dim (unless allowzero), one -1 is worked
// out from the number of elements.
Expected<Dims> ResolveReshape(DimSpan dims, DimSpan shape, bool allowzero);

// Transpose: `perm` checked to be a permutation; empty: dims reversed.
Expected<std::vector<int>> ResolvePermutation(DimSpan perm, int rank);

// Matrix product: out = [batch…, m, n], the vector forms with m or n left out
// of `out` (and 1 here). `batch` is broadcast of a_batch and b_batch, which
// are the leading dims of the inputs (without the last two).
struct MatMulGeometry {
  Dims a_batch, b_batch, batch;
  int64_t m = 1, k = 0, n = 1;
  Dims out;
};
Expected<MatMulGeometry> ResolveMatMul(DimSpan a, DimSpan b);

// Gemm: A' is m x k, B' is k x n after the transpositions.
struct GemmGeometry {
  bool trans_a = false, trans_b = false;
  int64_t m = 0, k = 0, n = 0;
};
Expected<GemmGeometry> ResolveGemm(const Attributes& attributes, DimSpan a,
                                   DimSpan b);

// Number of elements of ONNX Range: max(ceil((limit - start) / delta), 0).
// Fails on delta 0, on NaN and infinity, and beyond int64. The difference of
// floats is taken in f32 with `single` (dtypes up to f32), as ONNX Runtime
// does.
Expected<int64_t> RangeCount(int64_t start, int64_t limit, int64_t delta);
Expected<int64_t> RangeCount(double start, double limit, double delta,
                             bool single);

// ONNX Shape: [start, end) of the dims, both clamped to [0, rank].
struct AxisRange {
  int begin = 0;
  int end = 0;
};
AxisRange ResolveShapeRange(const Attributes& attributes, int rank);

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_GEOMETRY_H_
