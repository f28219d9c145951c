#include "bytecode/shape_rules/geometry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace ebb {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::unexpected<Error> Mismatch(std::string message) {
  return Fail(ErrorCode::kShapeMismatch, std::move(message));
}

std::unexpected<Error> BadArgument(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

std::string Number(auto value) { return std::to_string(value); }

// Magnitude of a delta, also of the lowest int64.
uint64_t Magnitude(int64_t value) {
  return value < 0 ? ~static_cast<uint64_t>(value) + 1
                   : static_cast<uint64_t>(value);
}

}  // namespace

std::string DimsText(DimSpan dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ',';
    text += Number(dims[i]);
  }
  return text + "]";
}

std::optional<int64_t> ElementCount(DimSpan dims) {
  int64_t count = 1;
  bool empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(count, dim, &count)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : count;
}

Expected<int> NormalizeAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return Mismatch("axis " + Number(axis) + " is out of range for rank " +
                    Number(rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Expected<uint32_t> AxesMask(DimSpan axes, int rank) {
  uint32_t mask = 0;
  for (const int64_t axis : axes) {
    TRY(const int at, NormalizeAxis(axis, rank));
    if (((mask >> at) & 1U) != 0) {
      return BadArgument("axis " + Number(at) + " stands twice in the axes");
    }
    mask |= 1U << at;
  }
  return mask;
}

Expected<uint32_t> ReduceMask(OptionalList axes, bool noop_with_empty_axes,
                              int rank) {
  if (axes.has_value() && !axes->empty()) return AxesMask(*axes, rank);
  return noop_with_empty_axes ? 0U : (1U << rank) - 1U;
}

Expected<Dims> BroadcastDims(DimSpan a, DimSpan b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Dims out(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const int64_t from_a = i + a.size() < rank ? 1 : a[i + a.size() - rank];
    const int64_t from_b = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      return Mismatch(DimsText(a) + " and " + DimsText(b) +
                      " do not broadcast: " + Number(from_a) + " against " +
                      Number(from_b));
    }
    out[i] = from_a == 1 ? from_b : from_a;
  }
  return out;
}

Dims DenseStrides(DimSpan dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    // A zero dim would make all strides before it 0, which means stretched.
    stride *= std::max<int64_t>(dims[i], 1);
  }
  return strides;
}

Dims BroadcastStrides(DimSpan dims, DimSpan out) {
  const Dims dense = DenseStrides(dims);
  Dims strides(out.size(), 0);
  const std::size_t offset = out.size() - dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1) strides[i + offset] = dense[i];
  }
  return strides;
}

Expected<MatMulGeometry> ResolveMatMul(DimSpan a, DimSpan b) {
  if (a.empty() || b.empty()) return Mismatch("a scalar operand");
  MatMulGeometry g;
  const std::size_t a_matrix = std::min<std::size_t>(a.size(), 2);
  const std::size_t b_matrix = std::min<std::size_t>(b.size(), 2);
  g.a_batch.assign(a.begin(), a.end() - static_cast<int64_t>(a_matrix));
  g.b_batch.assign(b.begin(), b.end() - static_cast<int64_t>(b_matrix));
  TRY(g.batch, BroadcastDims(g.a_batch, g.b_batch));
  g.k = a.back();
  const int64_t b_rows = b[b.size() - b_matrix];
  if (g.k != b_rows) {
    return Mismatch(DimsText(a) + " times " + DimsText(b) + ": " + Number(g.k) +
                    " columns against " + Number(b_rows) + " rows");
  }
  g.out = g.batch;
  if (a_matrix == 2) g.out.push_back(g.m = a[a.size() - 2]);
  if (b_matrix == 2) g.out.push_back(g.n = b.back());
  return g;
}

Expected<GemmGeometry> ResolveGemm(const Attributes& attributes, DimSpan a,
                                   DimSpan b) {
  if (a.size() != 2 || b.size() != 2) {
    return Mismatch("ranks " + Number(a.size()) + " and " + Number(b.size()) +
                    ", expected 2 and 2");
  }
  GemmGeometry g;
  g.trans_a = attributes.Int("transA", 0) != 0;
  g.trans_b = attributes.Int("transB", 0) != 0;
  g.m = a[g.trans_a ? 1 : 0];
  g.k = a[g.trans_a ? 0 : 1];
  g.n = b[g.trans_b ? 0 : 1];
  const int64_t b_rows = b[g.trans_b ? 1 : 0];
  if (g.k != b_rows) {
    return Mismatch(DimsText(a) + " times " + DimsText(b) + ": " + Number(g.k) +
                    " columns against " + Number(b_rows) + " rows");
  }
  return g;
}

Expected<int64_t> RangeCount(int64_t start, int64_t limit, int64_t delta) {
  if (delta == 0) return BadArgument("delta is 0");
  const bool empty = delta > 0 ? limit <= start : limit >= start;
  if (empty) return 0;
  // Unsigned, where the distance of any two int64 fits.
  const uint64_t distance =
      delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
  const uint64_t steps = (distance - 1) / Magnitude(delta);
  if (steps >= static_cast<uint64_t>(kMax)) {
    return Fail(ErrorCode::kLimit, "number of elements overflows int64");
  }
  return static_cast<int64_t>(steps) + 1;
}

Expected<int64_t> RangeCount(double start, double limit, double delta,
                             bool single) {
  if (delta == 0) return BadArgument("delta is 0");
  const double distance = single
                              ? static_cast<double>(static_cast<float>(limit) -
                                                    static_cast<float>(start))
                              : limit - start;
  const double count = std::ceil(distance / delta);
  if (!std::isfinite(distance) || !std::isfinite(delta) || std::isnan(count)) {
    return BadArgument("start, limit and delta are not all finite");
  }
  if (count >= 0x1p63) {
    return Fail(ErrorCode::kLimit, "number of elements overflows int64");
  }
  return count <= 0 ? 0 : static_cast<int64_t>(count);
}

AxisRange ResolveShapeRange(const Attributes& attributes, int rank) {
  const auto clamp = [rank](int64_t axis) {
    if (axis < 0) axis += rank;
    return static_cast<int>(std::clamp<int64_t>(axis, 0, rank));
  };
  AxisRange range;
  range.begin = clamp(attributes.Int("start", 0));
  range.end = std::max(range.begin, clamp(attributes.Int("end", rank)));
  return range;
}

}  // namespace ebb
