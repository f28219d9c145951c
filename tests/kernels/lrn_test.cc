#include <gtest/gtest.h>

#include "tests/kernels/gemm_case.h"

namespace ebb::kernels {
namespace {

class LrnTest : public testing::TestWithParam<DType> {};

TEST_P(LrnTest, AgreesWithTheReference) {
  for (const int64_t size : {1, 2, 3, 5, 9, 1000}) {
    for (const float beta : {0.75F, 0.5F}) {
      for (const std::vector<int64_t>& dims :
           {std::vector<int64_t>{2, 6, 5, 4}, {1, 3, 700}, {2, 4}, {0, 3, 2}}) {
        TestCase test{.code = OperatorCode::kLrn,
                      .inputs = {RandomTensor(GetParam(), dims, 1)}};
        test.attributes.Set("size", size);
        test.attributes.Set("alpha", 0.3F);
        test.attributes.Set("beta", beta);
        test.attributes.Set("bias", 1.5F);
        const std::vector<double> expected = ReferenceValues(test)[0];
        for (const int threads : {1, 2}) {
          test.threads = threads;
          EXPECT_LE(Difference(RunCase(test)[0], expected),
                    Tolerance(GetParam(), 16))
              << "size " << size << " beta " << beta;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, LrnTest,
                         testing::Values(DType::kF32, DType::kF64, DType::kF16,
                                         DType::kBF16),
                         DTypeTestName);

TEST(LrnPrepare, RejectsASizeBelowOne) {
  TestCase test{.code = OperatorCode::kLrn,
                .inputs = {RandomTensor(DType::kF32, {1, 2, 2}, 1)}};
  test.attributes.Set("size", int64_t{0});
  const auto result = TryCase(test);
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(result.error().message.find("size 0"), std::string::npos);
}

}  // namespace
}  // namespace ebb::kernels
