// Cast between all pairs of the numeric dtypes and bool.
#include <cmath>
#include <limits>

#include "tests/kernels/operator_case.h"

namespace ebb::kernels {
namespace {

constexpr Number kNan = std::numeric_limits<Number>::quiet_NaN();
constexpr Number kInfinity = std::numeric_limits<Number>::infinity();

Numbers Cast(const Numbers& x, DType to) {
  Attributes attributes;
  attributes.Set("to", static_cast<int64_t>(to));
  return Evaluate({.code = OperatorCode::kCast,
                   .attributes = attributes,
                   .inputs = {x}})[0];
}

bool HoldsTruncated(DType integer, Number value) {
  const Number truncated = std::trunc(value);
  return RoundTo(integer, truncated) == truncated;
}

TEST(CastTest, ValuesThatFitAreKeptOrRounded) {
  std::mt19937 random(1);
  for (const DType from : AllDTypes()) {
    for (const DType to : AllDTypes()) {
      Numbers x = Random(from, {1300}, random, -100, 100);
      if (IsFloat(from) && !IsFloat(to)) {
        for (Number& value : x.values) {
          if (to != DType::kBool && !HoldsTruncated(to, value)) value = 1.5L;
        }
      }
      ExpectNear(Cast(x, to), x.values, 0,
                 "cast of " + std::string(DTypeName(from)));
    }
  }
}

TEST(CastTest, ShapesAndEmptyTensors) {
  std::mt19937 random(2);
  for (const Dims& dims : {Dims{}, Dims{0}, Dims{2, 0, 3}, Dims{3, 1, 40}}) {
    const Numbers x = Random(DType::kF16, dims, random);
    const Numbers y = Cast(x, DType::kF64);
    EXPECT_EQ(y.dims, dims);
    ExpectNear(y, x.values, 0, "cast");
  }
}

TEST(CastTest, NarrowFloatsRoundToNearestEven) {
  const Numbers x = Data(DType::kF32, {8},
                         {1 + 0x1p-11L, 1 + 0x3p-11L, 65519, 65520, 0x1p-24L,
                          0x1p-25L, 0x1.8p-24L, kNan});
  ExpectNear(Cast(x, DType::kF16),
             {1, 1 + 0x1p-9L, 65504, kInfinity, 0x1p-24L, 0, 0x1p-23L, kNan}, 0,
             "f32 to f16");
  const Numbers y = Data(DType::kF32, {4},
                         {1 + 0x1p-8L, 1 + 0x3p-8L,
                          std::numeric_limits<float>::max(), -kInfinity});
  ExpectNear(Cast(y, DType::kBF16), {1, 1 + 0x1p-6L, kInfinity, -kInfinity}, 0,
             "f32 to bf16");
  // In one step: by way of f32 this would first round down to a tie.
  const Numbers z = Data(DType::kF64, {1}, {1 + 0x1p-11L + 0x1p-40L});
  ExpectNear(Cast(z, DType::kF16), {1 + 0x1p-10L}, 0, "f64 to f16");
}

TEST(CastTest, AllHalvesSurviveTheWayThroughF32) {
  for (const DType half : {DType::kF16, DType::kBF16}) {
    Numbers x{half, {65536}, {}};
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const auto place = static_cast<uint16_t>(bits);
      x.values.push_back(LoadNumber(half, &place));
    }
    const Numbers wide = Cast(x, DType::kF32);
    ExpectNear(wide, x.values, 0, "widened");
    ExpectNear(Cast(wide, half), x.values, 0, "narrowed");
  }
}

TEST(CastTest, FloatsOutOfRangeBecomeTheLowestInteger) {
  for (const DType from : {DType::kF32, DType::kF64}) {
    const Numbers x =
        Data(from, {5}, {kNan, kInfinity, -kInfinity, 1e30L, -1e30L});
    const Number lowest32 = std::numeric_limits<int32_t>::min();
    const Number lowest64 =
        static_cast<Number>(std::numeric_limits<int64_t>::min());
    ExpectNear(Cast(x, DType::kI32), std::vector<Number>(5, lowest32), 0,
               "i32");
    ExpectNear(Cast(x, DType::kI64), std::vector<Number>(5, lowest64), 0,
               "i64");
    // Through i32, whose lowest number has 16 zero bits at the end.
    ExpectNear(Cast(x, DType::kI16), {0, 0, 0, 0, 0}, 0, "i16");
    ExpectNear(Cast(x, DType::kBool), {1, 1, 1, 1, 1}, 0, "bool");
  }
  const Numbers negative = Data(DType::kF32, {3}, {-1, -1.9L, 300});
  ExpectNear(Cast(negative, DType::kU8), {255, 255, 44}, 0, "u8");
  ExpectNear(Cast(negative, DType::kU32), {4294967295.0L, 4294967295.0L, 300},
             0, "u32");
  ExpectNear(Cast(Data(DType::kF64, {2}, {0x1p63L, 0x1.8p63L}), DType::kU64),
             {0x1p63L, 0x1.8p63L}, 0, "u64");
}

TEST(CastTest, StringsHaveNoKernel) {
  Attributes attributes;
  attributes.Set("to", static_cast<int64_t>(DType::kString));
  const auto result = TryEvaluate({.code = OperatorCode::kCast,
                                   .attributes = attributes,
                                   .inputs = {Data(DType::kF32, {1}, {1})}});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace ebb::kernels
