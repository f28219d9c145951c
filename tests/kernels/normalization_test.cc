// Softmax, LogSoftmax and the three normalisations against their definitions.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/kernels/operator_case.h"

namespace ebb::kernels {
namespace {

constexpr Number kNan = std::numeric_limits<Number>::quiet_NaN();

// Calls f(places) for every group of elements that differ only in the dims of
// `mask`; places are row-major positions.
void ForEachGroup(const Dims& dims, uint32_t mask,
                  const std::function<void(const Dims&)>& f) {
  std::vector<Dims> groups;
  int64_t count = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (((mask >> d) & 1U) == 0) count *= dims[d];
  }
  groups.resize(count);
  ForEachIndex(dims, [&](int64_t i, std::span<const int64_t> index) {
    int64_t at = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (((mask >> d) & 1U) == 0) at = at * dims[d] + index[d];
    }
    groups[at].push_back(i);
  });
  for (const Dims& group : groups) f(group);
}

void CheckSoftmax(const Numbers& x, int64_t axis, bool log) {
  Attributes attributes;
  attributes.Set("axis", axis);
  const Numbers y = Evaluate(
      {.code = log ? OperatorCode::kLogSoftmax : OperatorCode::kSoftmax,
       .attributes = attributes,
       .inputs = {x},
       .layout_ulps = 4,
       .layout_scale = log ? 8.0L : 0.0L})[0];
  std::vector<Number> expected(x.values.size());
  const auto rank = static_cast<int64_t>(x.dims.size());
  const uint32_t mask = 1U << (axis < 0 ? axis + rank : axis);
  ForEachGroup(x.dims, mask, [&](const Dims& places) {
    if (places.empty()) return;
    Number highest = x.values[places[0]];
    for (const int64_t p : places) highest = std::max(highest, x.values[p]);
    Number sum = 0;
    for (const int64_t p : places) sum += std::exp(x.values[p] - highest);
    for (const int64_t p : places) {
      const Number shifted = x.values[p] - highest;
      expected[p] = log ? shifted - std::log(sum) : std::exp(shifted) / sum;
    }
  });
  // Logarithms cancel next to numbers of the inputs' size.
  ExpectNear(y, expected, 16, log ? "log softmax" : "softmax", log ? 8 : 0);
}

TEST(SoftmaxTest, AnyAxisOfAllFloats) {
  std::mt19937 random(1);
  for (const DType dtype : kFloatDTypes) {
    for (const bool log : {false, true}) {
      for (int i = 0; i < 12; ++i) {
        Dims dims = RandomDims(random, 4);
        if (i == 0) dims = {3, 1500};
        if (i == 1) dims = {1500, 3};
        if (i == 2) dims = {2, 30, 600};
        if (dims.empty()) dims = {5};
        const auto rank = static_cast<int64_t>(dims.size());
        const int64_t axis =
            static_cast<int64_t>(random() % (2 * dims.size())) - rank;
        CheckSoftmax(Random(dtype, dims, random), axis, log);
      }
      CheckSoftmax(Random(dtype, {3, 1500}, random), 1, log);
    }
  }
}

TEST(SoftmaxTest, LargeValuesDoNotOverflow) {
  const Numbers x = Data(DType::kF32, {1, 3}, {1e30L, 1e30L, -1e30L});
  CheckSoftmax(x, 1, false);
  const Numbers nan = Data(DType::kF32, {3}, {1, kNan, 2});
  ExpectNear(Evaluate({.code = OperatorCode::kSoftmax, .inputs = {nan}})[0],
             {kNan, kNan, kNan}, 0, "softmax of NaN");
}

struct Moments {
  Number mean;
  Number variance;
};

Moments MomentsOf(const Numbers& x, const Dims& places) {
  const auto n = static_cast<Number>(places.size());
  Moments m{0, 0};
  for (const int64_t p : places) m.mean += x.values[p] / n;
  for (const int64_t p : places) {
    const Number d = x.values[p] - m.mean;
    m.variance += d * d / n;
  }
  return m;
}

constexpr float kEpsilon = 1e-3F;

Attributes Epsilon() {
  Attributes attributes;
  attributes.Set("epsilon", kEpsilon);
  return attributes;
}

TEST(NormalizationTest, LayerNormalizationWithStatistics) {
  std::mt19937 random(2);
  for (const DType dtype : kFloatDTypes) {
    for (const Dims& dims : {Dims{4}, Dims{3, 5}, Dims{2, 3, 700},
                             Dims{2, 1500}, Dims{0, 4}, Dims{2, 3, 4, 5}}) {
      for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        const Dims inner(dims.begin() + static_cast<int64_t>(axis), dims.end());
        const bool has_bias = random() % 2 == 0;
        const Numbers x = Random(dtype, dims, random, 1, 3);
        const Numbers scale = Random(dtype, inner, random);
        const Numbers bias =
            has_bias ? Random(dtype, inner, random) : Numbers{};
        Attributes attributes = Epsilon();
        attributes.Set("axis", static_cast<int64_t>(axis));
        const std::vector<Numbers> out =
            Evaluate({.code = OperatorCode::kLayerNormalization,
                      .attributes = attributes,
                      .inputs = {x, scale, bias},
                      .outputs = 3,
                      .absent_outputs = axis % 2 == 0 ? 0U : 2U,
                      .layout_ulps = 8,
                      .layout_scale = 4,
                      // ONNX leaves the mean of nothing open.
                      .reference = dims[0] != 0});
        uint32_t mask = 0;
        for (std::size_t d = axis; d < dims.size(); ++d) mask |= 1U << d;
        std::vector<Number> expected(x.values.size());
        std::vector<Number> means, factors;
        ForEachGroup(dims, mask, [&](const Dims& places) {
          const Moments m = MomentsOf(x, places);
          const Number factor =
              1 / std::sqrt(m.variance + static_cast<Number>(kEpsilon));
          means.push_back(m.mean);
          factors.push_back(factor);
          for (std::size_t i = 0; i < places.size(); ++i) {
            expected[places[i]] =
                (x.values[places[i]] - m.mean) * factor * scale.values[i] +
                (has_bias ? bias.values[i] : 0);
          }
        });
        ExpectNear(out[0], expected, 8, "layer normalization", 4);
        if (axis % 2 == 0) ExpectNear(out[1], means, 4, "mean");
        ExpectNear(out[2], factors, 16, "inverse deviation");
      }
    }
  }
}

TEST(NormalizationTest, InstanceNormalization) {
  std::mt19937 random(3);
  for (const DType dtype : kFloatDTypes) {
    for (const Dims& dims :
         {Dims{2, 3, 4}, Dims{1, 2, 30, 50}, Dims{2, 2, 2, 2, 2}}) {
      const Numbers x = Random(dtype, dims, random, 1, 3);
      const Numbers scale = Random(dtype, {dims[1]}, random);
      const Numbers bias = Random(dtype, {dims[1]}, random);
      const Numbers y = Evaluate({.code = OperatorCode::kInstanceNormalization,
                                  .attributes = Epsilon(),
                                  .inputs = {x, scale, bias},
                                  .layout_ulps = 8,
                                  .layout_scale = 4})[0];
      std::vector<Number> expected(x.values.size());
      std::size_t group = 0;
      ForEachGroup(dims, ~3U, [&](const Dims& places) {
        const std::size_t c = group++ % static_cast<std::size_t>(dims[1]);
        const Moments m = MomentsOf(x, places);
        for (const int64_t p : places) {
          expected[p] =
              (x.values[p] - m.mean) /
                  std::sqrt(m.variance + static_cast<Number>(kEpsilon)) *
                  scale.values[c] +
              bias.values[c];
        }
      });
      ExpectNear(y, expected, 8, "instance normalization", 4);
    }
  }
}

TEST(NormalizationTest, BatchNormalization) {
  std::mt19937 random(4);
  for (const DType dtype : kFloatDTypes) {
    for (const Dims& dims :
         {Dims{2, 3}, Dims{2, 3, 4}, Dims{1, 3, 20, 30}, Dims{0, 2, 3}}) {
      const Dims channels = {dims[1]};
      const Numbers x = Random(dtype, dims, random);
      const Numbers scale = Random(dtype, channels, random);
      const Numbers bias = Random(dtype, channels, random);
      const Numbers mean = Random(dtype, channels, random);
      const Numbers variance = Random(dtype, channels, random, 0.5, 2);
      const Numbers y = Evaluate({.code = OperatorCode::kBatchNormalization,
                                  .attributes = Epsilon(),
                                  .inputs = {x, scale, bias, mean, variance},
                                  .layout_ulps = 1,
                                  .layout_scale = 8})[0];
      std::vector<Number> expected;
      ForEachIndex(dims, [&](int64_t i, std::span<const int64_t> index) {
        const int64_t c = index[1];
        expected.push_back(
            (x.values[i] - mean.values[c]) /
                std::sqrt(variance.values[c] + static_cast<Number>(kEpsilon)) *
                scale.values[c] +
            bias.values[c]);
      });
      ExpectNear(y, expected, 4, "batch normalization", 8);
    }
  }
}

}  // namespace
}  // namespace ebb::kernels
