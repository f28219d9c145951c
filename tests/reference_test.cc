// The reference operators against numbers written out by hand, most of them
// from the ONNX operator text.
#include "tests/reference/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ebb::reference {
namespace {

constexpr DType kF32 = DType::kF32;
constexpr DType kI64 = DType::kI64;

struct Setting {
  const char* name;
  AttributeValue value;
};

Attributes With(std::initializer_list<Setting> settings) {
  Attributes attributes;
  for (const Setting& setting : settings) {
    attributes.Set(setting.name, setting.value);
  }
  return attributes;
}

// Runs the operator and compares its first output.
void ExpectRun(OperatorCode code, const Attributes& attributes,
               const std::vector<ReferenceTensor>& inputs,
               const ReferenceTensor& expected) {
  const auto y = Run(code, attributes, inputs);
  ASSERT_TRUE(y.has_value()) << y.error().message;
  EXPECT_EQ(Mismatch(expected, (*y)[0], 1e-6, 1e-6), "");
}

TEST(Reference, Elementwise) {
  ExpectRun(
      OperatorCode::kAdd, {},
      {FloatTensor(kF32, {2, 1}, {1, 2}), FloatTensor(kF32, {2}, {10, 20})},
      FloatTensor(kF32, {2, 2}, {11, 21, 12, 22}));
  ExpectRun(OperatorCode::kDiv, {},
            {IntTensor(DType::kI8, {3}, {-7, -128, 5}),
             IntTensor(DType::kI8, {3}, {2, -1, 0})},
            IntTensor(DType::kI8, {3}, {-3, -128, 0}));
  ExpectRun(OperatorCode::kPow, {},
            {IntTensor(kI64, {2}, {3, 2}), FloatTensor(kF32, {}, {2})},
            IntTensor(kI64, {2}, {9, 4}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ExpectRun(
      OperatorCode::kMax, {},
      {FloatTensor(kF32, {2}, {nan, 1}), FloatTensor(kF32, {2}, {1, nan})},
      FloatTensor(kF32, {2}, {nan, nan}));
  ExpectRun(OperatorCode::kClip, {},
            {IntTensor(kI64, {3}, {-5, 0, 5}), {}, IntTensor(kI64, {}, {2})},
            IntTensor(kI64, {3}, {-5, 0, 2}));
}

TEST(Reference, CastTruncatesAndWraps) {
  const auto to = [](DType dtype) {
    return With({{"to", static_cast<int64_t>(dtype)}});
  };
  ExpectRun(OperatorCode::kCast, to(DType::kU8),
            {FloatTensor(kF32, {3}, {-1.5, 2.9, 300})},
            IntTensor(DType::kU8, {3}, {255, 2, 44}));
  ExpectRun(OperatorCode::kCast, to(DType::kI32),
            {FloatTensor(kF32, {2}, {1e20, std::nan("")})},
            IntTensor(DType::kI32, {2}, {-2147483648LL, -2147483648LL}));
  ExpectRun(OperatorCode::kCast, to(DType::kBool),
            {FloatTensor(kF32, {3}, {0, -0.0, 0.1})},
            IntTensor(DType::kBool, {3}, {0, 0, 1}));
}

TEST(Reference, Products) {
  const ReferenceTensor a = FloatTensor(kF32, {2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectRun(OperatorCode::kMatMul, {}, {a, FloatTensor(kF32, {3}, {1, 0, 2})},
            FloatTensor(kF32, {2}, {7, 16}));
  ExpectRun(OperatorCode::kGemm,
            With({{"transB", int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.0F}}),
            {a, a, FloatTensor(kF32, {2}, {1, -1})},
            FloatTensor(kF32, {2, 2}, {9, 14, 18, 36.5}));
}

TEST(Reference, Windows) {
  const ReferenceTensor x =
      FloatTensor(kF32, {1, 1, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  const ReferenceTensor ones = FloatTensor(kF32, {1, 1, 2, 2}, {1, 1, 1, 1});
  ExpectRun(OperatorCode::kConv, {}, {x, ones},
            FloatTensor(kF32, {1, 1, 2, 2}, {8, 12, 20, 24}));
  ExpectRun(OperatorCode::kConvTranspose, {}, {ones, ones},
            FloatTensor(kF32, {1, 1, 3, 3}, {1, 2, 1, 2, 4, 2, 1, 2, 1}));
  const Attributes pool = With({{"kernel_shape", std::vector<int64_t>{2, 2}},
                                {"pads", std::vector<int64_t>{1, 1, 0, 0}},
                                {"strides", std::vector<int64_t>{2, 2}}});
  ExpectRun(OperatorCode::kAveragePool, pool, {x},
            FloatTensor(kF32, {1, 1, 2, 2}, {0, 1.5, 4.5, 6}));
  const auto y = reference::Run(OperatorCode::kMaxPool, pool, {x}, 2);
  ASSERT_TRUE(y.has_value());
  EXPECT_EQ(
      Mismatch(IntTensor(kI64, {1, 1, 2, 2}, {0, 2, 6, 8}), (*y)[1], 0, 0), "");
}

TEST(Reference, Reductions) {
  const ReferenceTensor x = IntTensor(kI64, {2, 2}, {1, 2, 3, -8});
  ExpectRun(OperatorCode::kReduceSum, With({{"keepdims", int64_t{0}}}),
            {x, IntTensor(kI64, {1}, {0})}, IntTensor(kI64, {2}, {4, -6}));
  ExpectRun(OperatorCode::kReduceMax, {}, {FloatTensor(kF32, {0}, {})},
            FloatTensor(kF32, {1}, {-HUGE_VAL}));
  ExpectRun(OperatorCode::kArgMax, With({{"axis", int64_t{1}}}), {x},
            IntTensor(kI64, {2, 1}, {1, 0}));
}

TEST(Reference, Movement) {
  const ReferenceTensor x = IntTensor(kI64, {2, 3}, {0, 1, 2, 3, 4, 5});
  ExpectRun(OperatorCode::kSlice, {},
            {x, IntTensor(kI64, {1}, {-1}), IntTensor(kI64, {1}, {-9}),
             IntTensor(kI64, {1}, {1}), IntTensor(kI64, {1}, {-2})},
            IntTensor(kI64, {2, 2}, {2, 0, 5, 3}));
  ExpectRun(OperatorCode::kPad, With({{"mode", std::string("reflect")}}),
            {x, IntTensor(kI64, {4}, {0, 2, 0, -1})},
            IntTensor(kI64, {2, 4}, {0, 1, 0, 1, 3, 4, 3, 4}));
  ExpectRun(OperatorCode::kTranspose, {}, {x},
            IntTensor(kI64, {3, 2}, {0, 3, 1, 4, 2, 5}));
  ExpectRun(OperatorCode::kGather, With({{"axis", int64_t{1}}}),
            {x, IntTensor(kI64, {}, {-1})}, IntTensor(kI64, {2}, {2, 5}));
  const auto y =
      reference::Run(OperatorCode::kGather, {}, {x, IntTensor(kI64, {1}, {2})});
  ASSERT_FALSE(y.has_value());
  EXPECT_EQ(y.error().code, ErrorCode::kOutOfRange);
  EXPECT_EQ(y.error().message, "index 2 is outside axis 0 of 2 elements");
}

TEST(Reference, Resize) {
  const ReferenceTensor x = FloatTensor(kF32, {4}, {1, 2, 3, 4});
  ExpectRun(OperatorCode::kResize, With({{"mode", std::string("linear")}}),
            {x, {}, FloatTensor(kF32, {1}, {0.6})},
            FloatTensor(kF32, {2}, {1.3333333, 3}));
  ExpectRun(OperatorCode::kResize, {},
            {FloatTensor(kF32, {2}, {1, 2}), {}, FloatTensor(kF32, {1}, {3})},
            FloatTensor(kF32, {6}, {1, 1, 1, 2, 2, 2}));
}

TEST(Mismatch, TellsWhatDiffers) {
  const ReferenceTensor a = FloatTensor(kF32, {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(Mismatch(a, a, 0, 0), "");
  EXPECT_EQ(Mismatch(a, FloatTensor(kF32, {2, 2}, {1, 2.5, 3, 6}), 1e-3, 0),
            "f32[2,2]: 2 of 4 elements differ; first at [0,1]: expected 2, "
            "got 2.5; worst at [1,1]: expected 4, got 6");
  EXPECT_EQ(Mismatch(a, FloatTensor(kF32, {4}, {1, 2, 3, 4}), 0, 0),
            "expected f32[2,2], got f32[4]");
  EXPECT_EQ(
      Mismatch(IntTensor(kI64, {1}, {5}), IntTensor(kI64, {1}, {6}), 1, 1),
      "i64[1]: 1 of 1 elements differ; first at [0]: expected 5, got "
      "6");
}

}  // namespace
}  // namespace ebb::reference
