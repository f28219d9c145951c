#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/reference/operand.h"

namespace ebb::reference {
namespace {

double Epsilon(const Call& call) {
  return static_cast<double>(call.attributes.Float("epsilon", 1e-5F));
}

// Mean and 1 / sqrt(variance + epsilon) over the indices of one group.
struct Moments {
  double mean = 0;
  double inverse = 0;
};

// `values` are the elements of the group.
Moments MomentsOf(const std::vector<double>& values, double epsilon) {
  Moments m;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) m.mean += value / count;
  double variance = 0;
  for (const double value : values) {
    variance += (value - m.mean) * (value - m.mean) / count;
  }
  m.inverse = 1 / std::sqrt(variance + epsilon);
  return m;
}

// Splits x into runs of `size` elements that lie one after the other.
void ForEachRun(const ReferenceTensor& x, int64_t size,
                const std::function<void(int64_t, std::vector<double>)>& f) {
  if (size == 0) return;
  for (int64_t run = 0; run < x.count() / size; ++run) {
    std::vector<double> values;
    for (int64_t i = 0; i < size; ++i) {
      values.push_back(GetFloat(x, run * size + i));
    }
    f(run, std::move(values));
  }
}

void BatchNormalization(const Call& call) {
  int64_t at = 0;
  ForEach(call.out().dims, [&](const Index& index) {
    const int64_t c = index[1];
    const double scale = GetFloat(call.in(1), c);
    const double bias = GetFloat(call.in(2), c);
    const double mean = GetFloat(call.in(3), c);
    const double variance = GetFloat(call.in(4), c);
    const double x = GetFloat(call.in(0), at);
    SetFloat(call.out(), at++,
             (x - mean) / std::sqrt(variance + Epsilon(call)) * scale + bias);
  });
}

void InstanceNormalization(const Call& call) {
  const ReferenceTensor& x = call.in(0);
  const int64_t size = Count(Index(x.dims.begin() + 2, x.dims.end()));
  ForEachRun(x, size, [&](int64_t run, const std::vector<double>& values) {
    const Moments m = MomentsOf(values, Epsilon(call));
    const int64_t c = run % x.dims[1];
    for (int64_t i = 0; i < size; ++i) {
      const double normal =
          (values[static_cast<std::size_t>(i)] - m.mean) * m.inverse;
      SetFloat(call.out(), run * size + i,
               normal * GetFloat(call.in(1), c) + GetFloat(call.in(2), c));
    }
  });
}

void LayerNormalization(const Call& call) {
  const ReferenceTensor& x = call.in(0);
  const int64_t axis =
      call.Axis(call.attributes.Int("axis", -1), x.dims.size());
  const int64_t size = Count(Index(x.dims.begin() + axis, x.dims.end()));
  ForEachRun(x, size, [&](int64_t run, const std::vector<double>& values) {
    const Moments m = MomentsOf(values, Epsilon(call));
    for (int64_t i = 0; i < size; ++i) {
      double value = (values[static_cast<std::size_t>(i)] - m.mean) *
                     m.inverse * GetFloat(call.in(1), i);
      if (call.Has(2)) value += GetFloat(call.in(2), i);
      SetFloat(call.out(), run * size + i, value);
    }
    if (call.outputs.size() > 1) SetFloat(call.outputs[1], run, m.mean);
    if (call.outputs.size() > 2) SetFloat(call.outputs[2], run, m.inverse);
  });
}

void Softmax(const Call& call) {
  const ReferenceTensor& x = call.in(0);
  const auto axis = static_cast<std::size_t>(
      call.Axis(call.attributes.Int("axis", -1), x.dims.size()));
  Index outer = x.dims;
  outer[axis] = std::min<int64_t>(outer[axis], 1);
  ForEach(outer, [&](Index index) {
    const auto element = [&](int64_t i) {
      index[axis] = i;
      return Flat(x.dims, index);
    };
    double highest = GetFloat(x, element(0));
    for (int64_t i = 1; i < x.dims[axis]; ++i) {
      highest = std::max(highest, GetFloat(x, element(i)));
    }
    double sum = 0;
    for (int64_t i = 0; i < x.dims[axis]; ++i) {
      sum += std::exp(GetFloat(x, element(i)) - highest);
    }
    for (int64_t i = 0; i < x.dims[axis]; ++i) {
      const double shifted = GetFloat(x, element(i)) - highest;
      SetFloat(call.out(), element(i),
               call.code == OperatorCode::kSoftmax ? std::exp(shifted) / sum
                                                   : shifted - std::log(sum));
    }
  });
}

void Lrn(const Call& call) {
  const ReferenceTensor& x = call.in(0);
  const int64_t size = call.attributes.Int("size", 1);
  const auto alpha =
      static_cast<double>(call.attributes.Float("alpha", 0.0001F));
  const auto beta = static_cast<double>(call.attributes.Float("beta", 0.75F));
  const auto bias = static_cast<double>(call.attributes.Float("bias", 1));
  int64_t at = 0;
  ForEach(x.dims, [&](const Index& index) {
    const int64_t first = std::max<int64_t>(0, index[1] - (size - 1) / 2);
    const int64_t last = std::min(x.dims[1] - 1, index[1] + size / 2);
    double sum = 0;
    Index other = index;
    for (other[1] = first; other[1] <= last; ++other[1]) {
      const double value = GetFloat(x, Flat(x.dims, other));
      sum += value * value;
    }
    const double scale = bias + alpha / static_cast<double>(size) * sum;
    SetFloat(call.out(), at, GetFloat(x, at) / std::pow(scale, beta));
    ++at;
  });
}

}  // namespace

Status RunNormalization(const Call& call) {
  switch (call.code) {
    case OperatorCode::kBatchNormalization:
      BatchNormalization(call);
      break;
    case OperatorCode::kInstanceNormalization:
      InstanceNormalization(call);
      break;
    case OperatorCode::kLayerNormalization:
      LayerNormalization(call);
      break;
    case OperatorCode::kLrn:
      Lrn(call);
      break;
    default:
      Softmax(call);
  }
  return {};
}

}  // namespace ebb::reference
