// Comparisons, logic, Where and Clip.
#include "tests/kernels/elementwise_case.h"

namespace ebb::kernels {
namespace {

TEST(SelectTest, ComparisonsOfAllDTypes) {
  using enum OperatorCode;
  std::mt19937 random(6);
  const std::vector<std::pair<OperatorCode, Binary>> comparisons = {
      {kEqual, [](Number a, Number b) { return a == b; }},
      {kLess, [](Number a, Number b) { return a < b; }},
      {kLessOrEqual, [](Number a, Number b) { return a <= b; }},
      {kGreater, [](Number a, Number b) { return a > b; }},
      {kGreaterOrEqual, [](Number a, Number b) { return a >= b; }},
  };
  for (const auto& [code, f] : comparisons) {
    for (const DType dtype : NumericDTypes()) {
      CheckBinaryShapes(code, f, 0, dtype, random);
    }
    const Numbers nan = Data(DType::kF32, {2}, {kNan, kNan});
    const Numbers one = Data(DType::kF32, {2}, {1, kNan});
    ExpectNear(Evaluate({.code = code, .inputs = {nan, one}})[0], {0, 0}, 0,
               "comparison with NaN");
  }
  CheckBinaryShapes(
      kEqual, [](Number a, Number b) { return a == b; }, 0, DType::kBool,
      random);
}

TEST(SelectTest, Logic) {
  using enum OperatorCode;
  std::mt19937 random(7);
  CheckBinaryShapes(
      kAnd, [](Number a, Number b) { return a != 0 && b != 0; }, 0,
      DType::kBool, random);
  CheckBinaryShapes(
      kOr, [](Number a, Number b) { return a != 0 || b != 0; }, 0, DType::kBool,
      random);
  const Numbers x = Random(DType::kBool, {3, 70}, random);
  std::vector<Number> expected;
  for (const Number value : x.values) expected.push_back(value == 0);
  ExpectNear(Evaluate({.code = kNot, .inputs = {x}})[0], expected, 0, "not");
}

TEST(SelectTest, WhereChoosesByElement) {
  std::mt19937 random(8);
  for (const DType dtype : AllDTypes()) {
    for (int i = 0; i < 4; ++i) {
      const auto [c_dims, x_dims] = BroadcastPair(random);
      const Numbers c = Random(DType::kBool, c_dims, random);
      const Numbers x = Random(dtype, x_dims, random);
      const Numbers y = Random(dtype, {}, random);
      const Numbers out =
          Evaluate({.code = OperatorCode::kWhere, .inputs = {c, x, y}})[0];
      std::vector<Number> expected;
      ForEachIndex(out.dims, [&](int64_t, std::span<const int64_t> index) {
        expected.push_back(At(c, out.dims, index) != 0 ? At(x, out.dims, index)
                                                       : y.values[0]);
      });
      ExpectNear(out, expected, 0, "where");
    }
  }
}

TEST(SelectTest, ClipBounds) {
  std::mt19937 random(9);
  for (const DType dtype : NumericDTypes()) {
    const Numbers x = Random(dtype, {7, 30}, random);
    const Numbers low = Data(dtype, {}, {1});
    const Numbers high = Data(dtype, {1}, {3});
    const auto check = [&](const Numbers& lowest, const Numbers& highest) {
      const Numbers y = Evaluate(
          {.code = OperatorCode::kClip, .inputs = {x, lowest, highest}})[0];
      std::vector<Number> expected;
      for (Number value : x.values) {
        if (!lowest.values.empty() && value < lowest.values[0]) {
          value = lowest.values[0];
        }
        if (!highest.values.empty() && value > highest.values[0]) {
          value = highest.values[0];
        }
        expected.push_back(value);
      }
      ExpectNear(y, expected, 0, "clip");
    };
    check(low, high);
    check(high, low);
    check(low, {});
    check({}, high);
    check({}, {});
  }
  const Numbers x = Data(DType::kF32, {}, {kNan});
  const Numbers zero = Data(DType::kF32, {}, {0});
  ExpectNear(
      Evaluate({.code = OperatorCode::kClip, .inputs = {x, zero, zero}})[0],
      {kNan}, 0, "clip of NaN");
}

}  // namespace
}  // namespace ebb::kernels
