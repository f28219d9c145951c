#include <gtest/gtest.h>

#include "tests/kernels/conv_case.h"

namespace ebb::kernels {
namespace {

const ConvCase kCases[] = {
    {.x = {1, 2, 3, 3}, .w = {2, 3, 3, 3}},
    {.x = {1, 4, 5, 6}, .w = {4, 7, 2, 2}, .strides = {2, 2}},
    {.x = {2, 3, 4, 5},
     .w = {3, 2, 3, 3},
     .strides = {3, 2},
     .pads = {1, 1, 1, 1}},
    {.x = {1, 6, 4, 4},
     .w = {6, 2, 4, 4},
     .strides = {2, 2},
     .pads = {1, 1, 1, 1},
     .group = 3},
    {.x = {1, 5, 4, 4}, .w = {5, 1, 3, 3}, .strides = {2, 2}, .group = 5},
    {.x = {1, 2, 5, 5}, .w = {2, 3, 3, 3}, .dilations = {2, 2}},
    {.x = {1, 2, 5, 5},
     .w = {2, 3, 3, 2},
     .strides = {2, 3},
     .dilations = {2, 3}},
    {.x = {1, 2, 3, 4}, .w = {2, 3, 2, 1}, .strides = {4, 3}},
    {.x = {1, 2, 3, 3},
     .w = {2, 3, 3, 3},
     .strides = {3, 2},
     .output_padding = {1, 1}},
    {.x = {1, 2, 3, 3},
     .w = {2, 3, 3, 3},
     .strides = {3, 2},
     .output_shape = {10, 8}},
    {.x = {1, 2, 3, 3},
     .w = {2, 3, 3, 3},
     .strides = {2, 2},
     .auto_pad = "SAME_UPPER"},
    {.x = {1, 2, 3, 3},
     .w = {2, 3, 3, 3},
     .strides = {2, 2},
     .auto_pad = "SAME_LOWER"},
    {.x = {1, 3, 10}, .w = {3, 4, 5}, .strides = {3}, .pads = {1, 2}},
    {.x = {1, 2, 3, 4, 3},
     .w = {2, 3, 2, 3, 2},
     .strides = {2, 1, 2},
     .pads = {0, 1, 0, 1, 1, 0}},
    {.x = {1, 50, 9, 9}, .w = {50, 30, 4, 4}, .strides = {2, 2}},
    {.x = {0, 2, 3, 3}, .w = {2, 3, 3, 3}},
    {.x = {1, 0, 3, 3}, .w = {0, 3, 3, 3}},
};

class ConvTransposeTest : public testing::TestWithParam<DType> {};

TEST_P(ConvTransposeTest, AgreesWithTheDefinition) {
  for (const ConvCase& c : kCases) {
    SCOPED_TRACE(ConvText(c));
    const TestTensor x = RandomTensor(GetParam(), c.x, 1);
    const TestTensor w = RandomTensor(GetParam(), c.w, 2);
    const TestTensor bias = RandomTensor(GetParam(), {c.w[1] * c.group}, 3);
    const std::vector<double> expected = NaiveConv(c, x, w, bias, true);
    for (const Backend backend : {Backend::kPortable, Backend::kOneDnn}) {
      for (const int threads : {1, 3}) {
        for (const bool last : {false, true}) {
          std::vector<int> order = {0};
          for (std::size_t d = 2; d < c.x.size(); ++d) {
            order.push_back(static_cast<int>(d));
          }
          order.insert(last ? order.end() : order.begin() + 1, 1);
          const TestTensor y = RunCase({.code = OperatorCode::kConvTranspose,
                                        .attributes = ConvAttributes(c),
                                        .inputs = {Relaid(x, order), w, bias},
                                        .backend = backend,
                                        .threads = threads,
                                        .output_order = order})[0];
          EXPECT_LE(Difference(y, expected),
                    Tolerance(GetParam(), 2 * ConvDepth(c)))
              << "threads " << threads << " channels last " << last;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, ConvTransposeTest,
                         testing::Values(DType::kF32, DType::kF64, DType::kF16,
                                         DType::kBF16),
                         DTypeTestName);

TEST(ConvTransposePrepare, StridesWithoutBoundGiveAnError) {
  const ConvCase c{
      .x = {1, 1, 2, 2}, .w = {1, 1, 1, 1}, .strides = {1000, 1000}};
  EXPECT_EQ(TryCase({.code = OperatorCode::kConvTranspose,
                     .attributes = ConvAttributes(c),
                     .inputs = {RandomTensor(DType::kF32, c.x, 1),
                                RandomTensor(DType::kF32, c.w, 2)}})
                .error()
                .message,
            "conv_transpose: the strides' product is above 65536");
}

}  // namespace
}  // namespace ebb::kernels
