#include <gtest/gtest.h>

#include <cmath>

#include "bytecode/half.h"
#include "tests/kernels/gemm_case.h"
#include "vm/kernels/portable/gemm_elements.h"
#include "vm/kernels/portable/gemm_micro.h"

namespace ebb::kernels {
namespace {

struct GemmCase {
  int64_t m, n, k;
  bool trans_a, trans_b;
  float alpha, beta;
  std::optional<std::vector<int64_t>> c;
};

std::vector<double> NaiveGemm(const GemmCase& g, const TestTensor& a,
                              const TestTensor& b, const TestTensor& c) {
  const std::vector<double> av = Values(a);
  const std::vector<double> bv = Values(b);
  const std::vector<double> cv = g.c.has_value() ? Values(c) : av;
  std::vector<double> out;
  for (int64_t i = 0; i < g.m; ++i) {
    for (int64_t j = 0; j < g.n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < g.k; ++p) {
        sum += av[g.trans_a ? p * g.m + i : i * g.k + p] *
               bv[g.trans_b ? j * g.k + p : p * g.n + j];
      }
      sum *= g.alpha;
      if (g.c.has_value()) {
        const std::vector<int64_t>& dims = *g.c;
        const int64_t columns = dims.empty() ? 1 : dims.back();
        const int64_t rows = dims.size() < 2 ? 1 : dims[0];
        sum += static_cast<double>(g.beta) *
               cv[(rows == 1 ? 0 : i) * columns + (columns == 1 ? 0 : j)];
      }
      // Integers are truncated by the store.
      out.push_back(sum);
    }
  }
  return out;
}

const GemmCase kCases[] = {
    {3, 4, 5, false, false, 1, 1, std::nullopt},
    {3, 4, 5, true, false, 2, 1, std::vector<int64_t>{4}},
    {1, 40, 50, false, true, 1, 1, std::vector<int64_t>{40}},
    {2, 300, 70, false, true, 1, 1, std::vector<int64_t>{1, 300}},
    {17, 33, 400, true, true, 0.5F, -2, std::vector<int64_t>{17, 33}},
    {9, 70, 30, false, false, 1, 3, std::vector<int64_t>{9, 1}},
    {5, 6, 7, false, true, -1, 2, std::vector<int64_t>{}},
    {5, 6, 7, false, true, 1, 0, std::vector<int64_t>{6}},
    {5, 6, 0, false, false, 1, 1, std::vector<int64_t>{6}},
    {0, 6, 3, false, false, 1, 1, std::vector<int64_t>{6}},
    {200, 90, 64, false, true, 1, 1, std::vector<int64_t>{90}},
};

class GemmTest : public testing::TestWithParam<DType> {};

TEST_P(GemmTest, AgreesWithTheDefinition) {
  const DType dtype = GetParam();
  for (const GemmCase& g : kCases) {
    // Fractional factors of integers have a test of their own.
    if (!IsFloat(dtype) && std::trunc(g.alpha) != g.alpha) continue;
    SCOPED_TRACE(testing::Message() << g.m << "x" << g.n << "x" << g.k);
    Attributes attributes;
    attributes.Set("alpha", g.alpha);
    attributes.Set("beta", g.beta);
    attributes.Set("transA", int64_t{g.trans_a});
    attributes.Set("transB", int64_t{g.trans_b});
    const std::vector<int64_t> a_dims =
        g.trans_a ? std::vector{g.k, g.m} : std::vector{g.m, g.k};
    const std::vector<int64_t> b_dims =
        g.trans_b ? std::vector{g.n, g.k} : std::vector{g.k, g.n};
    const DType narrow = dtype;
    const TestTensor a = RandomTensor(narrow, a_dims, 1);
    const TestTensor b = RandomTensor(narrow, b_dims, 2);
    std::vector<TestTensor> inputs = {a, b};
    TestTensor c;
    if (g.c.has_value()) inputs.push_back(c = RandomTensor(narrow, *g.c, 3));
    std::vector<double> expected = NaiveGemm(g, a, b, c);
    if (IsUnsignedInteger(dtype)) {
      const double modulus = DTypeBits(dtype) == 32 ? 0x1p32 : 0x1p64;
      for (double& value : expected) {
        if (value < 0) value += modulus;
      }
    }
    for (const Backend backend : {Backend::kPortable, Backend::kOneDnn}) {
      for (const int threads : {1, 2}) {
        const TestTensor y = RunCase({.code = OperatorCode::kGemm,
                                      .attributes = attributes,
                                      .inputs = inputs,
                                      .backend = backend,
                                      .threads = threads})[0];
        EXPECT_LE(Difference(y, expected), Tolerance(dtype, g.k));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, GemmTest,
                         testing::Values(DType::kF32, DType::kF64, DType::kF16,
                                         DType::kBF16, DType::kI32, DType::kU32,
                                         DType::kI64, DType::kU64),
                         DTypeTestName);

TEST(GemmIntegers, FractionalFactorsTruncateTowardZero) {
  Attributes attributes;
  attributes.Set("alpha", 0.5F);
  attributes.Set("beta", 0.25F);
  const TestTensor a = MakeTensor(DType::kI32, {2, 1}, {3, -3});
  const TestTensor b = MakeTensor(DType::kI32, {1, 1}, {1});
  const TestTensor c = MakeTensor(DType::kI32, {1}, {1});
  // 1.75 and -1.25.
  EXPECT_EQ(Values(RunCase({.code = OperatorCode::kGemm,
                            .attributes = attributes,
                            .inputs = {a, b, c}})[0]),
            (std::vector<double>{1, -1}));
}

TEST(MicroKernel, EveryOneAddsUpItsTile) {
  for (const MicroKernel<float>& kernel : MicroKernels<float>()) {
    constexpr int64_t kDepth = 37;
    std::vector<float> a(kDepth * kernel.rows);
    std::vector<float> b(kDepth + kernel.columns);
    std::vector<float> c(kernel.rows * (kernel.columns + 3), 1);
    std::vector<int64_t> offsets(kDepth);
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<float>(i % 7) - 3;
    }
    for (std::size_t i = 0; i < b.size(); ++i) {
      b[i] = static_cast<float>(i % 5) - 2;
    }
    // Rows of B that overlap, as in a slab.
    for (int64_t p = 0; p < kDepth; ++p) offsets[p] = kDepth - 1 - p;
    kernel.run(kDepth, a.data(), b.data(), offsets.data(), c.data(),
               kernel.columns + 3, true);
    for (int i = 0; i < kernel.rows; ++i) {
      for (int j = 0; j < kernel.columns; ++j) {
        float expected = 1;
        for (int64_t p = 0; p < kDepth; ++p) {
          expected += a[p * kernel.rows + i] * b[offsets[p] + j];
        }
        ASSERT_EQ(c[i * (kernel.columns + 3) + j], expected)
            << kernel.rows << "x" << kernel.columns;
      }
      EXPECT_EQ(c[i * (kernel.columns + 3) + kernel.columns], 1);
    }
  }
}

TEST(Elements, HalvesConvertAsTheScalarFunctionsDo) {
  std::vector<uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i] = static_cast<uint16_t>(i);
  }
  std::vector<float> wide(halves.size());
  LoadRow<float>(DType::kF16, halves.data(), 0, 1, 65536, wide.data());
  std::vector<uint16_t> narrow(2 * halves.size());
  StoreRow<float>(DType::kF16, wide.data(), 65536, narrow.data(), 0, 2);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const float expected = F16ToF32(halves[i]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(wide[i]));
      continue;
    }
    ASSERT_EQ(wide[i], expected) << i;
    ASSERT_EQ(narrow[2 * i], halves[i]) << i;
  }
}

}  // namespace
}  // namespace ebb::kernels
