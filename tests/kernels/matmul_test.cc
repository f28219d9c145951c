#include <gtest/gtest.h>

#include <numeric>

#include "bytecode/shape_rules/geometry.h"
#include "tests/kernels/gemm_case.h"

namespace ebb::kernels {
namespace {

// Sums in double, indices by the definition.
std::vector<double> NaiveMatMul(const TestTensor& a, const TestTensor& b) {
  const MatMulGeometry g = *ResolveMatMul(a.dims, b.dims);
  const std::vector<double> av = Values(a);
  const std::vector<double> bv = Values(b);
  const auto offsets = [&](const Dims& own, int64_t matrix) {
    std::vector<int64_t> result;
    const Dims strides = BroadcastStrides(own, g.batch);
    const int64_t count = *ElementCount(g.batch);
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i;
      int64_t offset = 0;
      for (std::size_t d = g.batch.size(); d-- > 0;) {
        offset += rest % g.batch[d] * strides[d];
        rest /= g.batch[d];
      }
      result.push_back(offset * matrix);
    }
    return result;
  };
  const std::vector<int64_t> a_at = offsets(g.a_batch, g.m * g.k);
  const std::vector<int64_t> b_at = offsets(g.b_batch, g.k * g.n);
  std::vector<double> out;
  for (std::size_t batch = 0; batch < a_at.size(); ++batch) {
    for (int64_t i = 0; i < g.m; ++i) {
      for (int64_t j = 0; j < g.n; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < g.k; ++p) {
          sum += av[a_at[batch] + i * g.k + p] * bv[b_at[batch] + p * g.n + j];
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

struct Shapes {
  std::vector<int64_t> a, b;
};

const Shapes kShapes[] = {
    {{2, 3}, {3, 4}},        {{1, 1}, {1, 1}},
    {{1, 300}, {300, 257}},  {{3, 700}, {700, 65}},
    {{33, 129}, {129, 100}}, {{61, 340}, {340, 77}},
    {{150, 20}, {20, 1100}}, {{5}, {5}},
    {{5}, {5, 7}},           {{4, 5}, {5}},
    {{2, 3, 4}, {4}},        {{4}, {2, 4, 3}},
    {{6, 5, 4}, {4, 3}},     {{2, 1, 3, 4}, {5, 4, 2}},
    {{5, 4}, {2, 3, 4, 1}},  {{1, 3, 1, 9}, {2, 3, 9, 40}},
    {{4, 3, 0}, {4, 0, 2}},  {{0, 3}, {3, 2}},
    {{0, 2, 3}, {3, 2}},
};

class MatMulTest : public testing::TestWithParam<DType> {};

TEST_P(MatMulTest, AgreesWithTheDefinition) {
  for (const Shapes& shapes : kShapes) {
    SCOPED_TRACE(DimsText(shapes.a) + " x " + DimsText(shapes.b));
    const TestTensor a = RandomTensor(GetParam(), shapes.a, 1);
    const TestTensor b = RandomTensor(GetParam(), shapes.b, 2);
    for (const Backend backend : {Backend::kPortable, Backend::kOneDnn}) {
      for (const int threads : {1, 3}) {
        const TestTensor y = RunCase({.code = OperatorCode::kMatMul,
                                      .inputs = {a, b},
                                      .backend = backend,
                                      .threads = threads})[0];
        EXPECT_LE(Difference(y, NaiveMatMul(a, b)),
                  Tolerance(GetParam(), shapes.a.back()))
            << "threads " << threads;
      }
    }
  }
}

TEST_P(MatMulTest, ReadsOperandsOfAnyStrides) {
  const DType dtype = GetParam();
  for (const int64_t rows : {1, 2, 9, 70}) {
    SCOPED_TRACE(rows);
    const TestTensor a = RandomTensor(dtype, {2, rows, 45}, 3);
    const TestTensor b = RandomTensor(dtype, {2, 45, 90}, 4);
    const std::vector<double> expected = NaiveMatMul(a, b);
    for (const std::vector<int>& order :
         {std::vector{0, 1, 2}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}) {
      for (const int64_t gap : {1, 2}) {
        for (const Backend backend : {Backend::kPortable, Backend::kOneDnn}) {
          const TestTensor y = RunCase(
              {.code = OperatorCode::kMatMul,
               .inputs = {Relaid(a, order, gap), Relaid(b, order, 3 - gap)},
               .backend = backend,
               .threads = 2})[0];
          EXPECT_LE(Difference(y, expected), Tolerance(dtype, 45));
        }
      }
    }
  }
}

TEST_P(MatMulTest, ThreadsDoNotChangeTheBits) {
  const TestTensor a = RandomTensor(GetParam(), {130, 400}, 5);
  const TestTensor b = RandomTensor(GetParam(), {400, 300}, 6);
  const TestTensor one =
      RunCase({.code = OperatorCode::kMatMul, .inputs = {a, b}})[0];
  const TestTensor three = RunCase(
      {.code = OperatorCode::kMatMul, .inputs = {a, b}, .threads = 3})[0];
  EXPECT_EQ(Values(one), Values(three));
}

INSTANTIATE_TEST_SUITE_P(DTypes, MatMulTest,
                         testing::Values(DType::kF32, DType::kF64, DType::kF16,
                                         DType::kBF16, DType::kI32, DType::kU32,
                                         DType::kI64, DType::kU64),
                         DTypeTestName);

TEST(MatMulIntegers, Wrap) {
  const TestTensor a = MakeTensor(DType::kI32, {1, 2}, {2147483647, 2});
  const TestTensor b = MakeTensor(DType::kI32, {2, 1}, {3, 5});
  // 6442450951 modulo 2^32.
  EXPECT_EQ(
      Values(RunCase({.code = OperatorCode::kMatMul, .inputs = {a, b}})[0])[0],
      -2147483641.0);
}

TEST(MatMulValues, NanAndInfinityPassThrough) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const TestTensor a = MakeTensor(DType::kF32, {2, 2}, {inf, 0, nan, 1});
  const TestTensor b = MakeTensor(DType::kF32, {2, 2}, {1, 0, 0, 2});
  EXPECT_EQ(
      Difference(RunCase({.code = OperatorCode::kMatMul, .inputs = {a, b}})[0],
                 {inf, nan, nan, nan}),
      0);
}

TEST(MatMulPrepare, UnpacksAConstantThatNoKernelWantsPacked) {
  const TestTensor a = RandomTensor(DType::kF32, {6, 37}, 7);
  const TestTensor b = RandomTensor(DType::kF32, {37, 50}, 8);
  const TestTensor packed =
      Packed(b, {.outer_order = {1, 0}, .blocks = {{0, 8}, {1, 16}}});
  const TestTensor y =
      RunCase({.code = OperatorCode::kMatMul, .inputs = {a, packed}})[0];
  EXPECT_LE(Difference(y, NaiveMatMul(a, b)), Tolerance(DType::kF32, 37));
}

}  // namespace
}  // namespace ebb::kernels
