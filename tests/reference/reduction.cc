#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/reference/operand.h"

namespace ebb::reference {
namespace {

bool IsMean(const Call& call) { return call.code == OperatorCode::kReduceMean; }

// Over no elements: the sum is 0, the mean NaN, maximum and minimum are the
// lowest and the highest value of the dtype.
double ReduceFloats(const Call& call, const std::vector<int64_t>& elements) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool sums = IsMean(call) || call.code == OperatorCode::kReduceSum;
  const bool highest = call.code == OperatorCode::kReduceMax;
  double result = sums ? 0 : highest ? -kInfinity : kInfinity;
  for (const int64_t i : elements) {
    const double value = GetFloat(call.in(0), i);
    if (sums) {
      result += value;
    } else if (std::isnan(value) || std::isnan(result)) {
      result = std::numeric_limits<double>::quiet_NaN();
    } else {
      result = highest ? std::max(result, value) : std::min(result, value);
    }
  }
  return IsMean(call) ? result / static_cast<double>(elements.size()) : result;
}

Wide LowestOf(DType dtype) {
  if (!IsSignedInteger(dtype)) return 0;
  return -(Wide{1} << (DTypeBits(dtype) - 1));
}

Wide HighestOf(DType dtype) {
  if (dtype == DType::kBool) return 1;
  const int bits = DTypeBits(dtype) - (IsSignedInteger(dtype) ? 1 : 0);
  return (Wide{1} << bits) - 1;
}

Wide ReduceInts(const Call& call, const std::vector<int64_t>& elements) {
  const ReferenceTensor& x = call.in(0);
  if (IsMean(call) || call.code == OperatorCode::kReduceSum) {
    ReferenceTensor sum = MakeTensor(x.dtype, {});
    for (const int64_t i : elements) {
      SetInt(sum, 0, GetInt(sum, 0) + GetInt(x, i));
    }
    if (!IsMean(call)) return GetInt(sum, 0);
    const auto count = static_cast<Wide>(elements.size());
    return count == 0 ? 0 : GetInt(sum, 0) / count;
  }
  const bool highest = call.code == OperatorCode::kReduceMax;
  Wide result = highest ? LowestOf(x.dtype) : HighestOf(x.dtype);
  for (const int64_t i : elements) {
    result = highest ? std::max(result, GetInt(x, i))
                     : std::min(result, GetInt(x, i));
  }
  return result;
}

void Reduce(const Call& call) {
  const ReferenceTensor& x = call.in(0);
  const std::size_t rank = x.dims.size();
  std::vector<bool> reduced(rank, false);
  Index axes;
  if (call.Has(1)) axes = call.Ints(1);
  for (const int64_t axis : axes) {
    reduced[static_cast<std::size_t>(call.Axis(axis, rank))] = true;
  }
  if (axes.empty() && call.attributes.Int("noop_with_empty_axes", 0) == 0) {
    reduced.assign(rank, true);
  }
  // The kept dims count the outputs in order, whether keepdims or not.
  Index kept = x.dims;
  Index inner = x.dims;
  for (std::size_t i = 0; i < rank; ++i) (reduced[i] ? kept : inner)[i] = 1;
  int64_t at = 0;
  ForEach(kept, [&](const Index& outer) {
    std::vector<int64_t> elements;
    ForEach(inner, [&](const Index& index) {
      Index place = outer;
      for (std::size_t i = 0; i < rank; ++i) place[i] += index[i];
      elements.push_back(Flat(x.dims, place));
    });
    if (IsFloat(x.dtype)) {
      SetFloat(call.out(), at++, ReduceFloats(call, elements));
    } else {
      SetInt(call.out(), at++, ReduceInts(call, elements));
    }
  });
}

void ArgMax(const Call& call) {
  const ReferenceTensor& x = call.in(0);
  const auto axis = static_cast<std::size_t>(
      call.Axis(call.attributes.Int("axis", 0), x.dims.size()));
  const bool last = call.attributes.Int("select_last_index", 0) != 0;
  Index outer = x.dims;
  outer[axis] = 1;
  int64_t at = 0;
  ForEach(outer, [&](Index index) {
    int64_t best = 0;
    int64_t best_place = Flat(x.dims, index);
    for (int64_t i = 1; i < x.dims[axis]; ++i) {
      index[axis] = i;
      const int64_t place = Flat(x.dims, index);
      bool better = false;
      if (IsFloat(x.dtype)) {
        // NaN counts as the largest.
        const double a = GetFloat(x, place);
        const double b = GetFloat(x, best_place);
        better = std::isnan(a)   ? last || !std::isnan(b)
                 : std::isnan(b) ? false
                                 : a > b || (last && a == b);
      } else {
        const Wide a = GetInt(x, place);
        const Wide b = GetInt(x, best_place);
        better = a > b || (last && a == b);
      }
      if (!better) continue;
      best = i;
      best_place = place;
    }
    SetInt(call.out(), at++, best);
  });
}

}  // namespace

Status RunReduction(const Call& call) {
  if (call.code == OperatorCode::kArgMax) {
    ArgMax(call);
  } else {
    Reduce(call);
  }
  return {};
}

}  // namespace ebb::reference
