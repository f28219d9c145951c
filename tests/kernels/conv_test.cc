#include <gtest/gtest.h>

#include "tests/kernels/conv_case.h"

namespace ebb::kernels {
namespace {

const ConvCase kCases[] = {
    {.x = {1, 3, 9, 10}, .w = {4, 3, 3, 3}, .pads = {1, 1, 1, 1}},
    {.x = {2, 5, 7, 6}, .w = {7, 5, 1, 1}},
    {.x = {1, 5, 7, 6}, .w = {33, 5, 1, 1}, .strides = {2, 2}},
    {.x = {1, 4, 8, 8}, .w = {3, 4, 1, 1}, .pads = {1, 0, 0, 2}},
    {.x = {1, 3, 23, 40},
     .w = {16, 3, 7, 7},
     .strides = {2, 2},
     .pads = {3, 3, 3, 3}},
    {.x = {1, 6, 12, 12}, .w = {6, 1, 3, 3}, .pads = {1, 1, 1, 1}, .group = 6},
    {.x = {1, 6, 13, 11},
     .w = {12, 1, 5, 3},
     .strides = {2, 1},
     .pads = {2, 1, 2, 1},
     .group = 6},
    {.x = {2, 8, 6, 7}, .w = {12, 2, 3, 3}, .pads = {1, 1, 0, 0}, .group = 4},
    {.x = {1, 2, 20, 21}, .w = {5, 2, 3, 3}, .dilations = {2, 3}},
    {.x = {1, 2, 9, 9},
     .w = {5, 2, 3, 3},
     .pads = {6, 6, 6, 6},
     .dilations = {6, 6}},
    {.x = {1, 40, 14, 14}, .w = {50, 40, 3, 3}, .pads = {1, 1, 1, 1}},
    {.x = {1, 70, 7, 7}, .w = {20, 70, 3, 3}, .pads = {1, 1, 1, 1}},
    {.x = {1, 4, 7, 7}, .w = {9, 4, 7, 7}},
    {.x = {1, 3, 4, 700}, .w = {8, 3, 3, 3}, .pads = {1, 1, 1, 1}},
    {.x = {1, 2, 3, 900},
     .w = {2, 1, 3, 5},
     .strides = {1, 2},
     .pads = {1, 2, 1, 2},
     .group = 2},
    {.x = {1, 3, 50}, .w = {4, 3, 5}, .strides = {3}, .pads = {2, 1}},
    {.x = {1, 1, 2000}, .w = {6, 1, 400}, .strides = {160}},
    {.x = {2, 3, 17}, .w = {6, 1, 3}, .dilations = {4}, .group = 3},
    {.x = {1, 2, 5, 6, 7},
     .w = {3, 2, 3, 2, 3},
     .strides = {2, 1, 1},
     .pads = {1, 0, 1, 1, 1, 0}},
    {.x = {1, 2, 4, 4, 4}, .w = {3, 2, 1, 1, 1}},
    {.x = {1, 4, 4, 5, 6},
     .w = {4, 1, 3, 3, 3},
     .pads = {1, 1, 1, 1, 1, 1},
     .group = 4},
    {.x = {1, 3, 10, 11},
     .w = {2, 3, 3, 4},
     .strides = {2, 3},
     .auto_pad = "SAME_UPPER"},
    {.x = {1, 3, 10, 11},
     .w = {2, 3, 4, 4},
     .strides = {2, 3},
     .auto_pad = "SAME_LOWER"},
    {.x = {1, 3, 10, 11}, .w = {2, 3, 4, 4}, .auto_pad = "VALID"},
    {.x = {0, 3, 5, 5}, .w = {2, 3, 3, 3}},
    {.x = {1, 0, 5, 5}, .w = {2, 0, 3, 3}},
    {.x = {1, 3, 5, 5}, .w = {0, 3, 3, 3}},
    {.x = {1, 2, 3, 3}, .w = {2, 2, 3, 3}, .pads = {4, 4, 4, 4}},
};

struct Inputs {
  TestTensor x, w, bias;
};

Inputs MakeInputs(const ConvCase& c, DType dtype) {
  return {RandomTensor(dtype, c.x, 1), RandomTensor(dtype, c.w, 2),
          RandomTensor(dtype, {c.w[0]}, 3)};
}

class ConvTest : public testing::TestWithParam<DType> {};

TEST_P(ConvTest, AgreesWithTheDefinition) {
  for (const ConvCase& c : kCases) {
    SCOPED_TRACE(ConvText(c));
    const auto [x, w, bias] = MakeInputs(c, GetParam());
    const std::vector<double> expected = NaiveConv(c, x, w, bias, false);
    for (const Backend backend : {Backend::kPortable, Backend::kOneDnn}) {
      for (const int threads : {1, 3}) {
        const TestTensor y = RunCase({.code = OperatorCode::kConv,
                                      .attributes = ConvAttributes(c),
                                      .inputs = {x, w, bias},
                                      .backend = backend,
                                      .threads = threads})[0];
        EXPECT_LE(Difference(y, expected), Tolerance(GetParam(), ConvDepth(c)))
            << "threads " << threads;
      }
    }
  }
}

TEST_P(ConvTest, ReadsAndWritesChannelsLast) {
  for (const ConvCase& c : kCases) {
    SCOPED_TRACE(ConvText(c));
    const auto [x, w, bias] = MakeInputs(c, GetParam());
    const std::vector<double> expected = NaiveConv(c, x, w, {}, false);
    std::vector<int> order = {0};
    for (std::size_t d = 2; d < c.x.size(); ++d) {
      order.push_back(static_cast<int>(d));
    }
    order.push_back(1);
    for (const Backend backend : {Backend::kPortable, Backend::kOneDnn}) {
      for (const int threads : {1, 2}) {
        const TestTensor y = RunCase({.code = OperatorCode::kConv,
                                      .attributes = ConvAttributes(c),
                                      .inputs = {Relaid(x, order), w},
                                      .backend = backend,
                                      .threads = threads,
                                      .output_order = order})[0];
        EXPECT_LE(Difference(y, expected), Tolerance(GetParam(), ConvDepth(c)));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, ConvTest,
                         testing::Values(DType::kF32, DType::kF64, DType::kF16,
                                         DType::kBF16),
                         DTypeTestName);

TEST(ConvSlices, ThreadsDoNotChangeTheBits) {
  const ConvCase c{
      .x = {1, 30, 33, 35}, .w = {40, 30, 3, 3}, .pads = {1, 1, 1, 1}};
  const auto [x, w, bias] = MakeInputs(c, DType::kF32);
  std::vector<double> first;
  for (const int threads : {1, 2, 3}) {
    const std::vector<double> y =
        Values(RunCase({.code = OperatorCode::kConv,
                        .attributes = ConvAttributes(c),
                        .inputs = {x, w, bias},
                        .threads = threads})[0]);
    if (first.empty()) first = y;
    EXPECT_EQ(y, first) << threads;
  }
}

TEST(ConvPrepare, UnpacksAConstantThatNoKernelWantsPacked) {
  const ConvCase c{.x = {1, 5, 8, 8}, .w = {9, 5, 3, 3}};
  const auto [x, w, bias] = MakeInputs(c, DType::kF32);
  const TestTensor packed =
      Packed(w, {.outer_order = {0, 2, 3, 1}, .blocks = {{0, 4}}});
  const TestTensor y = RunCase({.code = OperatorCode::kConv,
                                .attributes = ConvAttributes(c),
                                .inputs = {x, packed, bias}})[0];
  EXPECT_LE(Difference(y, NaiveConv(c, x, w, bias, false)),
            Tolerance(DType::kF32, ConvDepth(c)));
}

TEST(ConvPrepare, RejectsFourSpatialAxes) {
  const ConvCase d{.x = {1, 1, 2, 2, 2, 2}, .w = {1, 1, 1, 1, 1, 1}};
  const auto [x, w, bias] = MakeInputs(d, DType::kF32);
  EXPECT_EQ(TryCase({.code = OperatorCode::kConv,
                     .attributes = ConvAttributes(d),
                     .inputs = {x, w}})
                .error()
                .message,
            "conv: 4 spatial axes, at most 3 are built in");
}

}  // namespace
}  // namespace ebb::kernels
