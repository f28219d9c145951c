#include <gtest/gtest.h>

#include <limits>

#include "bytecode/shape_rules/geometry.h"
#include "tests/kernels/gemm_case.h"

namespace ebb::kernels {
namespace {

constexpr const char* kCoordinateModes[] = {
    "half_pixel",          "half_pixel_symmetric", "pytorch_half_pixel",
    "align_corners",       "asymmetric",           "tf_crop_and_resize",
    "tf_half_pixel_for_nn"};

struct ResizeCase {
  std::vector<int64_t> x;
  std::vector<double> scales = {};
  std::vector<double> sizes = {};
};

const ResizeCase kCases[] = {
    {.x = {1, 2, 4, 5}, .scales = {1, 1, 2, 2}},
    {.x = {1, 2, 4, 5}, .scales = {1, 1, 2.5, 0.5}},
    {.x = {1, 2, 7, 8}, .scales = {1, 1, 0.6F, 0.8F}},
    {.x = {1, 2, 7, 8}, .sizes = {1, 2, 3, 11}},
    {.x = {2, 3, 4}, .sizes = {3, 5, 2}},
    {.x = {2, 5}, .sizes = {1, 1}},
    {.x = {1, 1, 3, 4, 5}, .sizes = {1, 1, 6, 2, 9}},
    {.x = {3, 4, 5}, .scales = {2, 1, 1}},
    {.x = {1, 3, 4}, .scales = {1, 1, 1}},
    {.x = {0, 3}, .scales = {1, 2}},
    {.x = {6}, .scales = {3}},
};

TestCase MakeCase(const ResizeCase& c, DType dtype, const char* mode,
                  const char* coordinates) {
  TestCase test{.code = OperatorCode::kResize,
                .inputs = {RandomTensor(dtype, c.x, 1), {}, {}, {}}};
  test.attributes.Set("mode", std::string(mode));
  test.attributes.Set("coordinate_transformation_mode",
                      std::string(coordinates));
  const auto rank = static_cast<int64_t>(c.x.size());
  if (std::string(coordinates) == "tf_crop_and_resize") {
    std::vector<double> roi;
    for (int64_t a = 0; a < rank; ++a) roi.push_back(a % 2 == 0 ? 0 : 0.25);
    for (int64_t a = 0; a < rank; ++a) roi.push_back(a % 2 == 0 ? 1 : 1.125);
    test.inputs[1] = MakeTensor(DType::kF32, {2 * rank}, roi);
    test.attributes.Set("extrapolation_value", 10.0F);
  }
  if (!c.scales.empty()) {
    test.inputs[2] = MakeTensor(DType::kF32, {rank}, c.scales);
  } else {
    test.inputs[3] = MakeTensor(DType::kI64, {rank}, c.sizes);
  }
  return test;
}

void ExpectReference(TestCase test, double tolerance) {
  const std::vector<double> expected = ReferenceValues(test)[0];
  const TestTensor x = test.inputs[0];
  std::vector<int> reversed;
  for (std::size_t d = x.dims.size(); d-- > 0;) {
    reversed.push_back(static_cast<int>(d));
  }
  for (const int threads : {1, 3}) {
    test.threads = threads;
    test.inputs[0] = x;
    test.output_order = {};
    EXPECT_LE(Difference(RunCase(test)[0], expected), tolerance)
        << "threads " << threads;
    test.inputs[0] = Relaid(x, reversed);
    test.output_order = reversed;
    EXPECT_LE(Difference(RunCase(test)[0], expected), tolerance)
        << "reversed order of dims";
  }
}

TEST(ResizeNearest, AllModesAgreeWithTheReference) {
  for (const ResizeCase& c : kCases) {
    for (const char* coordinates : kCoordinateModes) {
      for (const char* nearest :
           {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
        SCOPED_TRACE(DimsText(c.x) + " " + coordinates + " " + nearest);
        TestCase test = MakeCase(c, DType::kF32, "nearest", coordinates);
        test.attributes.Set("nearest_mode", std::string(nearest));
        ExpectReference(test, 0);
      }
    }
  }
}

TEST(ResizeNearest, TakesEveryDType) {
  for (const DType dtype : {DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
                            DType::kU8, DType::kI16, DType::kU16, DType::kI32,
                            DType::kU32, DType::kI64, DType::kU64}) {
    SCOPED_TRACE(DTypeName(dtype));
    ExpectReference(MakeCase(kCases[1], dtype, "nearest", "tf_crop_and_resize"),
                    0);
  }
}

class ResizeWeightedTest : public testing::TestWithParam<DType> {};

TEST_P(ResizeWeightedTest, AllModesAgreeWithTheReference) {
  const DType dtype = GetParam();
  for (const ResizeCase& c : kCases) {
    for (const char* coordinates : kCoordinateModes) {
      for (const char* mode : {"linear", "cubic"}) {
        for (const int64_t antialias : {0, 1}) {
          for (const int64_t exclude_outside : {0, 1}) {
            SCOPED_TRACE(DimsText(c.x) + " " + coordinates + " " + mode +
                         " antialias " + std::to_string(antialias) +
                         " exclude_outside " + std::to_string(exclude_outside));
            TestCase test = MakeCase(c, dtype, mode, coordinates);
            test.attributes.Set("antialias", antialias);
            test.attributes.Set("exclude_outside", exclude_outside);
            // Cubic weights are several times larger than their sum.
            ExpectReference(test, 32 * Tolerance(dtype, 16));
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, ResizeWeightedTest,
                         testing::Values(DType::kF32, DType::kF64, DType::kF16,
                                         DType::kBF16),
                         DTypeTestName);

TEST(ResizeWeighted, IntegersAreTruncatedAndClamped) {
  TestCase test{.code = OperatorCode::kResize,
                .inputs = {MakeTensor(DType::kU8, {4}, {0, 255, 255, 0}),
                           {},
                           MakeTensor(DType::kF32, {1}, {2}),
                           {}}};
  test.attributes.Set("mode", std::string("cubic"));
  // The exact values undershoot at the ends and overshoot in the middle.
  const std::vector<double> y = Values(RunCase(test)[0]);
  EXPECT_EQ(y.front(), 0);
  EXPECT_EQ(y[3], 255);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(y[i], y[7 - i]);
}

TEST(ResizeWeighted, IntegersAgreeWithTheReference) {
  for (const DType dtype : {DType::kI8, DType::kU8, DType::kI32, DType::kI64}) {
    ExpectReference(MakeCase(kCases[0], dtype, "linear", "half_pixel"), 0);
  }
}

TEST(ResizeWeighted, WhatHasNoWeightIsNotLookedAt) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  TestCase test{.code = OperatorCode::kResize,
                .inputs = {MakeTensor(DType::kF32, {3}, {1, nan, 3}),
                           {},
                           {},
                           MakeTensor(DType::kI64, {1}, {5})}};
  test.attributes.Set("mode", std::string("linear"));
  test.attributes.Set("coordinate_transformation_mode",
                      std::string("align_corners"));
  EXPECT_EQ(Difference(RunCase(test)[0], {1, nan, nan, nan, 3}), 0);
}

TEST(ResizeTies, HalfWayPlacesAreExact) {
  // Places 0.5, 2.5, 4.5 of 6 elements, by sizes.
  TestCase test{.code = OperatorCode::kResize,
                .inputs = {MakeTensor(DType::kF32, {6}, {0, 1, 2, 3, 4, 5}),
                           {},
                           {},
                           MakeTensor(DType::kI64, {1}, {3})}};
  EXPECT_EQ(Values(RunCase(test)[0]), (std::vector<double>{0, 2, 4}));
  test.attributes.Set("nearest_mode", std::string("round_prefer_ceil"));
  EXPECT_EQ(Values(RunCase(test)[0]), (std::vector<double>{1, 3, 5}));
}

TEST(ResizePrepare, AxesAndAspectRatio) {
  for (const char* policy : {"not_larger", "not_smaller"}) {
    TestCase test{.code = OperatorCode::kResize,
                  .inputs = {RandomTensor(DType::kF32, {2, 4, 6}, 1),
                             {},
                             {},
                             MakeTensor(DType::kI64, {2}, {9, 7})}};
    test.attributes.Set("axes", std::vector<int64_t>{2, 1});
    test.attributes.Set("keep_aspect_ratio_policy", std::string(policy));
    for (const char* mode : {"nearest", "linear", "cubic"}) {
      test.attributes.Set("mode", std::string(mode));
      ExpectReference(test, 4 * Tolerance(DType::kF32, 16));
    }
  }
}

}  // namespace
}  // namespace ebb::kernels
