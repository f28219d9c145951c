#include "tools/compare.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tools/element.h"
#include "tools/host_tensor.h"

namespace ebb::tools {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

HostTensor Of(DType dtype, const std::vector<double>& values) {
  HostTensor tensor =
      HostTensor::Make(dtype, {static_cast<int64_t>(values.size())}).value();
  for (std::size_t i = 0; i < values.size(); ++i) {
    SetElement(dtype, tensor.bytes().data(), static_cast<int64_t>(i),
               values[i]);
  }
  return tensor;
}

std::optional<std::string> Difference(const HostTensor& got,
                                      const HostTensor& expected,
                                      Tolerance tolerance = {}) {
  return FindDifference(got.View(), expected.View(), tolerance);
}

TEST(CompareTest, DtypeAndShapeAreExact) {
  EXPECT_EQ(Difference(Of(DType::kF32, {1}), Of(DType::kF64, {1})),
            "is f32[1], expected f64[1]");
  EXPECT_EQ(Difference(Of(DType::kF32, {1, 2}), Of(DType::kF32, {1})),
            "is f32[2], expected f32[1]");
}

TEST(CompareTest, FloatsWithinBothTolerances) {
  const Tolerance tolerance{.rtol = 0.1, .atol = 0.5};
  EXPECT_EQ(
      Difference(Of(DType::kF64, {11.5}), Of(DType::kF64, {10}), tolerance),
      std::nullopt);
  EXPECT_NE(
      Difference(Of(DType::kF64, {11.6}), Of(DType::kF64, {10}), tolerance),
      std::nullopt);
}

TEST(CompareTest, NanEqualsNanAndInfinitiesBySign) {
  EXPECT_EQ(Difference(Of(DType::kF32, {kNan, kInf, -kInf}),
                       Of(DType::kF32, {kNan, kInf, -kInf})),
            std::nullopt);
  EXPECT_NE(Difference(Of(DType::kF32, {kNan}), Of(DType::kF32, {0})),
            std::nullopt);
  EXPECT_NE(Difference(Of(DType::kF32, {0}), Of(DType::kF32, {kNan})),
            std::nullopt);
  EXPECT_NE(Difference(Of(DType::kF32, {kInf}), Of(DType::kF32, {-kInf})),
            std::nullopt);
  EXPECT_NE(Difference(Of(DType::kF32, {1e30}), Of(DType::kF32, {kInf})),
            std::nullopt);
}

TEST(CompareTest, IntegersAndBoolsAreExact) {
  EXPECT_NE(Difference(Of(DType::kI32, {1000}), Of(DType::kI32, {1001}),
                       {.rtol = 1, .atol = 1}),
            std::nullopt);
  HostTensor big = HostTensor::Make(DType::kI64, {1}).value();
  HostTensor near = HostTensor::Make(DType::kI64, {1}).value();
  const int64_t values[] = {INT64_MAX, INT64_MAX - 1};
  std::memcpy(big.bytes().data(), &values[0], sizeof values[0]);
  std::memcpy(near.bytes().data(), &values[1], sizeof values[1]);
  EXPECT_NE(Difference(big, near), std::nullopt);
  EXPECT_EQ(Difference(Of(DType::kBool, {1}), Of(DType::kBool, {1})),
            std::nullopt);
  EXPECT_NE(Difference(Of(DType::kI4, {-8, 7, 1}), Of(DType::kI4, {-8, 7, 2})),
            std::nullopt);
}

TEST(CompareTest, HalvesMayBeOffByTheirLastBit) {
  EXPECT_EQ(Difference(Of(DType::kF16, {1.001}), Of(DType::kF16, {1})),
            std::nullopt);
  EXPECT_NE(Difference(Of(DType::kF16, {1.01}), Of(DType::kF16, {1})),
            std::nullopt);
}

TEST(CompareTest, StringsAreExact) {
  const std::vector<std::string> a = {"x", "yes"};
  const std::vector<std::string> b = {"x", "yet"};
  const auto got = HostTensor::MakeStrings(a, {2});
  const auto expected = HostTensor::MakeStrings(b, {2});
  EXPECT_EQ(Difference(*got, *got), std::nullopt);
  EXPECT_EQ(Difference(*got, *expected),
            "1 of 2 elements differs, the first at [1]: \"yes\", expected "
            "\"yet\"");
}

TEST(CompareTest, SaysHowManyAndWhere) {
  HostTensor got = Of(DType::kF32, {1, 2, 3, 4, 5, 6});
  HostTensor expected = Of(DType::kF32, {1, 2, 3, 4, 6, 8});
  got.Reshape({2, 3});
  expected.Reshape({2, 3});
  EXPECT_EQ(Difference(got, expected),
            "2 of 6 elements differ, the first at [1,1]: 5, expected 6; the "
            "largest difference is 2");
}

}  // namespace
}  // namespace ebb::tools
