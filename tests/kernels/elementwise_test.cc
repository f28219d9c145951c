// Every elementwise operator over all its dtypes and random broadcast shapes,
// against the same formula on long doubles.
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "tests/kernels/elementwise_case.h"

namespace ebb::kernels {
namespace {

using Unary = std::function<Number(Number)>;

struct UnaryCase {
  OperatorCode code;
  Unary f;
  double ulps;
  double low = -4;
  double high = 4;
  Attributes attributes = {};
  // Results that cancel are exact next to numbers of this size only.
  Number scale = 0;
};

Attributes With(std::string_view name, AttributeValue value) {
  Attributes attributes;
  attributes.Set(name, std::move(value));
  return attributes;
}

Number Clamp01(Number x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
Number GeluOf(Number x) {
  return x / 2 * (1 + std::erf(x / std::sqrt(Number{2})));
}

std::vector<UnaryCase> FloatUnaries() {
  using enum OperatorCode;
  return {
      {kNeg, [](Number x) { return -x; }, 0},
      {kAbs, [](Number x) { return std::fabs(x); }, 0},
      {kSqrt, [](Number x) { return std::sqrt(x); }, 0, 0, 1000},
      {kExp, [](Number x) { return std::exp(x); }, 1, -80, 80},
      {kLog, [](Number x) { return std::log(x); }, 1, 0.001, 1000},
      {kErf, [](Number x) { return std::erf(x); }, 2},
      {kReciprocal, [](Number x) { return 1 / x; }, 1},
      {kRelu, [](Number x) { return x < 0 ? 0 : x; }, 0},
      {kLeakyRelu,
       [](Number x) { return x < 0 ? static_cast<Number>(0.25F) * x : x; }, 1,
       -4, 4, With("alpha", 0.25F)},
      {kSigmoid, [](Number x) { return 1 / (1 + std::exp(-x)); }, 3, -20, 20},
      {kHardSigmoid,
       [](Number x) { return Clamp01(static_cast<Number>(0.2F) * x + 0.5L); },
       2,
       -4,
       4,
       {},
       1},
      {kHardSwish,
       [](Number x) { return x * Clamp01(x / 6 + 0.5L); },
       4,
       -4,
       4,
       {},
       1},
      {kTanh, [](Number x) { return std::tanh(x); }, 2},
      {kGelu, GeluOf, 4, -1, 6},
      {kGelu,
       [](Number x) {
         const Number inner =
             0.79788456080286535588L * (x + 0.044715L * x * x * x);
         return x / 2 * (1 + std::tanh(inner));
       },
       6, -1, 6, With("approximate", std::string("tanh"))},
  };
}

void CheckUnary(const UnaryCase& c, DType dtype, std::mt19937& random,
                const Dims& dims) {
  const Numbers x = Random(dtype, dims, random, c.low, c.high);
  const Numbers y = Evaluate({.code = c.code,
                              .attributes = c.attributes,
                              .inputs = {x},
                              .layout_ulps = 1})[0];
  std::vector<Number> expected;
  for (const Number value : x.values) expected.push_back(c.f(value));
  ExpectNear(y, expected, dtype == DType::kF64 ? 4 : c.ulps,
             std::string(InfoOf(c.code).name), c.scale);
}

TEST(ElementwiseTest, UnaryFloatsAreRight) {
  std::mt19937 random(1);
  for (const UnaryCase& c : FloatUnaries()) {
    for (const DType dtype : kFloatDTypes) {
      CheckUnary(c, dtype, random, {});
      CheckUnary(c, dtype, random, {0, 3});
      CheckUnary(c, dtype, random, {1500});
      for (int i = 0; i < 4; ++i) {
        CheckUnary(c, dtype, random, RandomDims(random, 5));
      }
    }
  }
}

TEST(ElementwiseTest, UnaryFloatsOfSpecialValues) {
  using enum OperatorCode;
  struct Special {
    OperatorCode code;
    std::vector<Number> x;
    std::vector<Number> y;
  };
  const std::vector<Special> specials = {
      {kExp,
       {kNan, kInfinity, -kInfinity, 0, -200},
       {kNan, kInfinity, 0, 1, 0}},
      {kLog,
       {kNan, kInfinity, 0, -1, 1},
       {kNan, kInfinity, -kInfinity, kNan, 0}},
      {kTanh, {kNan, kInfinity, -kInfinity, 100}, {kNan, 1, -1, 1}},
      {kErf, {kNan, kInfinity, -kInfinity, 100}, {kNan, 1, -1, 1}},
      {kSigmoid, {kNan, kInfinity, -kInfinity}, {kNan, 1, 0}},
      {kRelu, {kNan, kInfinity, -kInfinity}, {kNan, kInfinity, 0}},
      {kSqrt, {kNan, kInfinity, -1}, {kNan, kInfinity, kNan}},
      {kHardSigmoid, {kNan, kInfinity, -kInfinity}, {kNan, 1, 0}},
      {kReciprocal, {0, kInfinity}, {kInfinity, 0}},
  };
  for (const Special& s : specials) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      const auto n = static_cast<int64_t>(s.x.size());
      const Numbers y =
          Evaluate({.code = s.code, .inputs = {Data(dtype, {n}, s.x)}})[0];
      ExpectNear(y, s.y, 0, std::string(InfoOf(s.code).name));
    }
  }
}

TEST(ElementwiseTest, UnaryIntegersWrap) {
  using enum OperatorCode;
  std::mt19937 random(2);
  for (const DType dtype : kIntegerDTypes) {
    const bool is_signed = IsSignedInteger(dtype);
    if (is_signed) {
      CheckUnary({kNeg, [](Number x) { return -x; }, 0}, dtype, random, {300});
      CheckUnary({kRelu, [](Number x) { return x < 0 ? 0 : x; }, 0}, dtype,
                 random, {300});
    }
    CheckUnary({kAbs, [](Number x) { return x < 0 ? -x : x; }, 0}, dtype,
               random, {300});
  }
}

uint64_t BitsOf(Number x) {
  return x < 0 ? static_cast<uint64_t>(static_cast<int64_t>(x))
               : static_cast<uint64_t>(x);
}

// Integers modulo 2^64, where sums are the same whatever the signs.
Number Sum(DType dtype, Number a, Number b) {
  return IsFloat(dtype) ? a + b : static_cast<Number>(BitsOf(a) + BitsOf(b));
}
Number Quotient(DType dtype, Number a, Number b) {
  if (IsFloat(dtype)) return a / b;
  return b == 0 ? 0 : std::trunc(a / b);
}

TEST(ElementwiseTest, ArithmeticBroadcasts) {
  using enum OperatorCode;
  std::mt19937 random(3);
  for (const DType dtype : NumericDTypes()) {
    CheckBinaryShapes(
        kAdd, [=](Number a, Number b) { return Sum(dtype, a, b); }, 0, dtype,
        random);
    CheckBinaryShapes(
        kSub, [](Number a, Number b) { return a - b; }, 0, dtype, random);
    CheckBinaryShapes(
        kDiv, [=](Number a, Number b) { return Quotient(dtype, a, b); }, 1,
        dtype, random);
    CheckBinaryShapes(
        kMin, [](Number a, Number b) { return a < b ? a : b; }, 0, dtype,
        random);
    CheckBinaryShapes(
        kMax, [](Number a, Number b) { return a > b ? a : b; }, 0, dtype,
        random);
  }
  for (const DType dtype : kFloatDTypes) {
    CheckBinaryShapes(
        kMul, [](Number a, Number b) { return a * b; }, 1, dtype, random);
  }
}

TEST(ElementwiseTest, IntegerProductsWrap) {
  std::mt19937 random(4);
  for (const DType dtype : kIntegerDTypes) {
    const Numbers a = Random(dtype, {500}, random);
    const Numbers b = Random(dtype, {500}, random);
    const Numbers y =
        Evaluate({.code = OperatorCode::kMul, .inputs = {a, b}})[0];
    std::vector<Number> expected;
    for (std::size_t i = 0; i < 500; ++i) {
      expected.push_back(RoundTo(
          dtype,
          static_cast<Number>(BitsOf(a.values[i]) * BitsOf(b.values[i]))));
    }
    ExpectNear(y, expected, 0, "mul");
  }
}

TEST(ElementwiseTest, DivisionNeverTraps) {
  const Number lowest = std::numeric_limits<int32_t>::min();
  const Numbers y =
      Evaluate({.code = OperatorCode::kDiv,
                .inputs = {Data(DType::kI32, {5}, {lowest, lowest, 7, -7, 0}),
                           Data(DType::kI32, {5}, {-1, 0, -2, 2, 0})}})[0];
  ExpectNear(y, {lowest, 0, -3, -3, 0}, 0, "div");
}

TEST(ElementwiseTest, MinAndMaxHandNansOn) {
  for (const DType dtype : kFloatDTypes) {
    const Numbers a = Data(dtype, {4}, {kNan, 1, kNan, 2});
    const Numbers b = Data(dtype, {4}, {1, kNan, kNan, -3});
    ExpectNear(Evaluate({.code = OperatorCode::kMin, .inputs = {a, b}})[0],
               {kNan, kNan, kNan, -3}, 0, "min");
    ExpectNear(Evaluate({.code = OperatorCode::kMax, .inputs = {a, b}})[0],
               {kNan, kNan, kNan, 2}, 0, "max");
  }
}

TEST(ElementwiseTest, PReluScalesNegatives) {
  std::mt19937 random(5);
  for (const DType dtype : kFloatDTypes) {
    CheckBinary(OperatorCode::kPRelu,
                [](Number x, Number slope) { return x < 0 ? x * slope : x; }, 1,
                dtype, random, {2, 3, 40}, {3, 1});
  }
  CheckBinary(OperatorCode::kPRelu,
              [](Number x, Number slope) {
                return x < 0 ? RoundTo(DType::kI32, x * slope) : x;
              },
              0, DType::kI32, random, {4, 5}, {5});
}

TEST(ElementwiseTest, PowOfAllPairs) {
  std::mt19937 random(10);
  const std::vector<DType> bases = {DType::kF32,  DType::kF64, DType::kF16,
                                    DType::kBF16, DType::kI32, DType::kI64};
  for (const DType base : bases) {
    for (const DType exponent : NumericDTypes()) {
      const Numbers a = Data(base, {6}, {1, 2, 3, 4, 0, 5});
      for (const Number power : {0.0L, 1.0L, 2.0L, 3.0L, 5.0L}) {
        const Numbers b = Data(exponent, {}, {power});
        const Numbers y =
            Evaluate({.code = OperatorCode::kPow, .inputs = {a, b}})[0];
        std::vector<Number> expected;
        for (const Number x : a.values) expected.push_back(std::pow(x, power));
        ExpectNear(y, expected, 1, "pow");
      }
    }
  }
  const auto pow = [](const Numbers& a, const Numbers& b) {
    return Evaluate({.code = OperatorCode::kPow, .inputs = {a, b}})[0];
  };
  ExpectNear(pow(Data(DType::kF32, {3}, {-kInfinity, 4, 0}),
                 Data(DType::kF32, {}, {0.5L})),
             {kInfinity, 2, 0}, 0, "square root");
  ExpectNear(pow(Data(DType::kF32, {3}, {2, 3, 4}),
                 Data(DType::kF64, {3}, {-1, 0.5L, 1.5L})),
             {0.5L, std::sqrt(3.0L), 8}, 1, "mixed");
  ExpectNear(pow(Data(DType::kI32, {4}, {3, 2, -1, 7}),
                 Data(DType::kI64, {4}, {40, -1, -3, 0})),
             {RoundTo(DType::kI32, 12157665459056928801.0L), 0, -1, 1}, 0,
             "integer power wraps");
  ExpectNear(
      pow(Data(DType::kI64, {2}, {9, 10}), Data(DType::kF32, {2}, {0.5L, 2})),
      {3, 100}, 0, "integer base, float exponent");
}

TEST(ElementwiseTest, ResultsInPlaceAreTheSame) {
  std::mt19937 random(11);
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kI8}) {
    const int64_t n = 20000;
    const int bytes = DTypeBits(dtype) / 8;
    const Numbers a = Random(dtype, {n}, random);
    std::vector<std::byte> memory(n * bytes), apart(n * bytes);
    for (int64_t i = 0; i < n; ++i) {
      StoreNumber(dtype, a.values[i], memory.data() + i * bytes);
    }
    const int64_t dims[] = {n};
    const int64_t strides[] = {1};
    const Operand operand{.kind = OperandKind::kTensor,
                          .dtype = dtype,
                          .dims = dims,
                          .strides = strides};
    const Operand inputs[] = {operand, operand};
    const Operand outputs[] = {operand};
    const Attributes none;
    auto prepared = Prepare(Request{.info = InfoOf(OperatorCode::kMul),
                                    .attributes = none,
                                    .inputs = inputs,
                                    .outputs = outputs});
    ASSERT_TRUE(prepared.has_value());
    const void* in[] = {memory.data(), memory.data()};
    void* out[] = {apart.data()};
    ASSERT_TRUE(RunAll(**prepared, in, out, nullptr).ok());
    void* same[] = {memory.data()};
    ASSERT_TRUE(RunAll(**prepared, in, same, nullptr).ok());
    EXPECT_EQ(memory, apart);
  }
}

TEST(ElementwiseTest, UnknownDTypesAreNamed) {
  const int64_t dims[] = {2};
  const int64_t strides[] = {1};
  const Operand operand{.kind = OperandKind::kTensor,
                        .dtype = DType::kString,
                        .dims = dims,
                        .strides = strides};
  const Operand operands[] = {operand};
  const Attributes none;
  const auto prepared = Prepare(Request{.info = InfoOf(OperatorCode::kRelu),
                                        .attributes = none,
                                        .inputs = operands,
                                        .outputs = operands});
  ASSERT_FALSE(prepared.has_value());
  EXPECT_EQ(prepared.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(prepared.error().message,
            "relu: no kernel for dtypes (string) -> (string)");
}

}  // namespace
}  // namespace ebb::kernels
