#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "bytecode/shape_rules/geometry.h"
#include "tests/kernels/gemm_case.h"

namespace ebb::kernels {
namespace {

struct PoolCase {
  std::vector<int64_t> x, kernel;
  std::vector<int64_t> strides = {}, pads = {}, dilations = {};
  int64_t ceil_mode = 0;
  std::string auto_pad = "NOTSET";
};

Attributes PoolAttributes(const PoolCase& c) {
  Attributes attributes;
  attributes.Set("kernel_shape", c.kernel);
  if (!c.strides.empty()) attributes.Set("strides", c.strides);
  if (!c.pads.empty()) attributes.Set("pads", c.pads);
  if (!c.dilations.empty()) attributes.Set("dilations", c.dilations);
  attributes.Set("ceil_mode", c.ceil_mode);
  attributes.Set("auto_pad", c.auto_pad);
  return attributes;
}

const PoolCase kCases[] = {
    {.x = {1, 3, 8, 9}, .kernel = {2, 2}, .strides = {2, 2}},
    {.x = {2, 3, 8, 40},
     .kernel = {3, 3},
     .strides = {2, 2},
     .pads = {1, 1, 1, 1}},
    {.x = {1, 2, 7, 7}, .kernel = {7, 7}},
    {.x = {1, 2, 7, 8}, .kernel = {3, 2}, .dilations = {2, 3}},
    {.x = {1, 2, 7, 8},
     .kernel = {3, 3},
     .strides = {2, 3},
     .pads = {1, 0, 1, 2},
     .ceil_mode = 1},
    {.x = {1, 1, 6, 6}, .kernel = {3, 3}, .strides = {4, 4}, .ceil_mode = 1},
    {.x = {1, 2, 5, 6},
     .kernel = {3, 3},
     .strides = {2, 2},
     .auto_pad = "SAME_UPPER"},
    {.x = {1, 2, 5, 6},
     .kernel = {2, 3},
     .strides = {1, 2},
     .auto_pad = "SAME_LOWER"},
    {.x = {2, 3, 20}, .kernel = {5}, .strides = {3}, .pads = {2, 2}},
    {.x = {1, 2, 4, 5, 6},
     .kernel = {2, 3, 2},
     .strides = {1, 2, 2},
     .pads = {1, 1, 0, 0, 1, 1}},
    {.x = {0, 2, 5, 5}, .kernel = {2, 2}},
    {.x = {1, 0, 5, 5}, .kernel = {2, 2}},
};

std::vector<int> ChannelsLast(std::size_t rank) {
  std::vector<int> order = {0};
  for (std::size_t d = 2; d < rank; ++d) order.push_back(static_cast<int>(d));
  order.push_back(1);
  return order;
}

void ExpectReference(TestCase test, double tolerance) {
  const auto expected = ReferenceValues(test);
  const TestTensor x = test.inputs[0];
  for (const int threads : {1, 3}) {
    for (const bool last : {false, true}) {
      test.threads = threads;
      test.output_order =
          last ? ChannelsLast(x.dims.size()) : std::vector<int>();
      test.inputs[0] = last ? Relaid(x, test.output_order) : x;
      const std::vector<TestTensor> y = RunCase(test);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_LE(Difference(y[i], expected[i]), tolerance)
            << DimsText(x.dims) << " output " << i << " threads " << threads
            << " channels last " << last;
      }
    }
  }
}

class MaxPoolTest : public testing::TestWithParam<DType> {};

TEST_P(MaxPoolTest, AgreesWithTheReference) {
  for (const PoolCase& c : kCases) {
    for (const int64_t storage_order : {0, 1}) {
      TestCase test{.code = OperatorCode::kMaxPool,
                    .attributes = PoolAttributes(c),
                    .inputs = {RandomTensor(GetParam(), c.x, 1)}};
      test.attributes.Set("storage_order", storage_order);
      for (const std::size_t outputs : {1, 2}) {
        test.outputs = outputs;
        ExpectReference(test, 0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, MaxPoolTest,
                         testing::Values(DType::kF32, DType::kF64, DType::kF16,
                                         DType::kBF16, DType::kI8, DType::kU8),
                         DTypeTestName);

class AveragePoolTest : public testing::TestWithParam<DType> {};

TEST_P(AveragePoolTest, AgreesWithTheReference) {
  for (const PoolCase& c : kCases) {
    for (const int64_t count_include_pad : {0, 1}) {
      TestCase test{.code = OperatorCode::kAveragePool,
                    .attributes = PoolAttributes(c),
                    .inputs = {RandomTensor(GetParam(), c.x, 1)}};
      test.attributes.Set("count_include_pad", count_include_pad);
      ExpectReference(test, Tolerance(GetParam(), 16));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, AveragePoolTest,
                         testing::Values(DType::kF32, DType::kF64, DType::kF16,
                                         DType::kBF16),
                         DTypeTestName);

TEST(MaxPoolValues, NanWinsAndTheFirstOfEqualsGivesTheIndex) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const PoolCase c{.x = {1, 1, 1, 6}, .kernel = {1, 3}, .strides = {1, 3}};
  const std::vector<TestTensor> y =
      RunCase({.code = OperatorCode::kMaxPool,
               .attributes = PoolAttributes(c),
               .inputs = {MakeTensor(DType::kF32, c.x, {5, nan, 7, 2, 4, 4})},
               .outputs = 2});
  EXPECT_EQ(Difference(y[0], {nan, 4}), 0);
  EXPECT_EQ(Values(y[1]), (std::vector<double>{1, 4}));
  const std::vector<TestTensor> alone =
      RunCase({.code = OperatorCode::kMaxPool,
               .attributes = PoolAttributes(c),
               .inputs = {MakeTensor(DType::kF32, c.x, {5, nan, 7, 2, 4, 4})}});
  EXPECT_EQ(Difference(alone[0], {nan, 4}), 0);
}

TEST(MaxPoolValues, MinusInfinityIsAValueLikeOthers) {
  const double inf = std::numeric_limits<double>::infinity();
  const PoolCase c{.x = {1, 1, 2, 2}, .kernel = {2, 2}};
  EXPECT_EQ(
      Values(RunCase({.code = OperatorCode::kMaxPool,
                      .attributes = PoolAttributes(c),
                      .inputs = {MakeTensor(DType::kF32, c.x,
                                            {-inf, -inf, -inf, -inf})}})[0]),
      (std::vector<double>{-inf}));
}

TEST(PoolProperty, RandomWindowsAgreeWithTheReference) {
  std::mt19937 engine(7);
  const auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() % (high - low + 1));
  };
  for (int i = 0; i < 60; ++i) {
    const int64_t rank = pick(1, 3);
    PoolCase c{.x = {pick(1, 2), pick(1, 5)}, .kernel = {}};
    c.ceil_mode = pick(0, 1);
    for (int64_t a = 0; a < rank; ++a) {
      c.kernel.push_back(pick(1, 3));
      c.strides.push_back(pick(1, 3));
      c.dilations.push_back(pick(1, 2));
      c.x.push_back(pick(5, 12));
    }
    for (int64_t a = 0; a < 2 * rank; ++a) c.pads.push_back(pick(0, 1));
    SCOPED_TRACE(i);
    TestCase test{.code = OperatorCode::kMaxPool,
                  .attributes = PoolAttributes(c),
                  .inputs = {RandomTensor(DType::kF32, c.x, i)},
                  .outputs = 2};
    ExpectReference(test, 0);
    test.outputs = 1;
    ExpectReference(test, 0);
    test.code = OperatorCode::kAveragePool;
    test.attributes.Set("count_include_pad", pick(0, 1));
    ExpectReference(test, Tolerance(DType::kF32, 27));
  }
}

}  // namespace
}  // namespace ebb::kernels
