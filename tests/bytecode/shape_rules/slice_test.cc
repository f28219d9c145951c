#include "bytecode/shape_rules/slice.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/bytecode/shape_rules/rule_runner.h"

namespace ebb {
namespace {

// Slice of one axis: the dim of the answer, or the error.
std::string Slice(const std::string& dim, const std::string& start,
                  const std::string& end, const std::string& step = "1") {
  const std::string answer =
      Infer("slice", "",
            "f32[" + dim + "] i64[1]={" + start + "} i64[1]={" + end +
                "} i64[1]={0} i64[1]={" + step + "}");
  return answer.starts_with("f32[") ? answer.substr(4, answer.size() - 5)
                                    : answer;
}

constexpr const char* kHigh = "9223372036854775807";
constexpr const char* kLow = "-9223372036854775808";

TEST(SliceRule, ClampsToTheAxis) {
  EXPECT_EQ(Slice("10", "2", "5"), "3");
  EXPECT_EQ(Slice("10", "2", "100"), "8");
  EXPECT_EQ(Slice("10", "-3", kHigh), "3");
  EXPECT_EQ(Slice("10", "-100", "4"), "4");
  EXPECT_EQ(Slice("10", "5", "2"), "0");
  EXPECT_EQ(Slice("10", "20", "30"), "0");
  EXPECT_EQ(Slice("10", "0", "10", "3"), "4");
  EXPECT_EQ(Slice("0", "0", "10"), "0");
  EXPECT_EQ(Slice("10", "0", kHigh, kHigh), "1");
}

TEST(SliceRule, NegativeSteps) {
  EXPECT_EQ(Slice("10", "-1", kLow, "-1"), "10");
  EXPECT_EQ(Slice("10", "9", "0", "-1"), "9");
  EXPECT_EQ(Slice("10", "100", "-11", "-3"), "4");
  EXPECT_EQ(Slice("10", "2", "5", "-1"), "0");
  EXPECT_EQ(Slice("10", kHigh, kLow, kLow), "1");
  EXPECT_EQ(Slice("0", "-1", kLow, "-1"), "0");
}

TEST(SliceRule, Symbolic) {
  EXPECT_EQ(Slice("n", "0", kHigh), "n");
  EXPECT_EQ(Slice("n", "0", "4"), "min(4,n)");
  EXPECT_EQ(Slice("n", "1", kHigh), "max(n-1,0)");
  EXPECT_EQ(Slice("n", "-2", kHigh), "min(2,n)");
  EXPECT_EQ(Slice("n", "0", "-1"), "max(n-1,0)");
  EXPECT_EQ(Slice("n", "0", kHigh, "2"), "ceil((n)/2)");
  EXPECT_EQ(Slice("n", "-1", kLow, "-1"), "n");
  EXPECT_EQ(Slice("n", "0", "m"), "min(m,n)");
  EXPECT_EQ(Slice("n", "free", kHigh), "?");
  EXPECT_EQ(Slice("n", "0", "3", "free"), "?");
  EXPECT_EQ(Slice("10", "0", "m"), "min(m,10)");
}

TEST(SliceRule, DefaultsAndAxes) {
  EXPECT_EQ(Infer("slice", "", "f32[5,6,7] i64[2]={1,2} i64[2]={3,4}"),
            "f32[2,2,7]");
  EXPECT_EQ(Infer("slice", "", "f32[5,6,7] i32[1]={1} i32[1]={3} i32[1]={-1}"),
            "f32[5,6,2]");
  EXPECT_EQ(Infer("slice", "", "f32[5,n,7] i64[1] i64[1] i64[1]={1}"),
            "f32[5,?,7]");
  EXPECT_EQ(Infer("slice", "", "f32[5,n,7] i64[1] i64[1] i64[1]"),
            "f32[?,?,?]");
  EXPECT_EQ(Infer("slice", "", "f32[*] i64[1]={0} i64[1]={1}"), "f32[*]");
}

TEST(SliceRule, Errors) {
  EXPECT_EQ(Slice("10", "0", "5", "0"), "error: Slice: step of axis 0 is 0");
  EXPECT_EQ(
      Infer("slice", "", "f32[5] i64[2]={0,0} i64[2]={1,1} i64[2]={0,-1}"),
      "error: Slice: axis 0 stands twice in the axes");
  EXPECT_EQ(Infer("slice", "", "f32[5] i64[2]={0,0} i64[2]={1,1}"),
            "error: Slice: 2 axes given for rank 1");
  EXPECT_EQ(Infer("slice", "", "f32[5] i64[1]={0} i64[2]={1,1}"),
            "error: Slice: input 2 has 2 entries, expected 1");
  EXPECT_EQ(Infer("slice", "", "f32[5] i64[1]={0} i64[1]={1} i64[1]={1}"),
            "error: Slice: axis 1 is out of range for rank 1");
  EXPECT_EQ(Infer("slice", "", "f32[5] f32[1] i64[1]"),
            "error: Slice: input 1 is f32, expected one of i32 i64");
}

TEST(ResolveSlice, GivesStartsInsideTheAxis) {
  const auto slice = ResolveSlice(Dims{10, 4}, Dims{-1}, Dims{-100},
                                  OptionalList(Dims{}), std::nullopt);
  EXPECT_FALSE(slice.has_value());  // One start, no axis.
  const Dims steps = {-4};
  const auto back = ResolveSlice(Dims{10, 4}, Dims{-1}, Dims{-100},
                                 std::nullopt, DimSpan(steps));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ((*back)[0].start, 9);
  EXPECT_EQ((*back)[0].step, -4);
  EXPECT_EQ((*back)[0].count, 3);
  EXPECT_EQ((*back)[1].start, 0);
  EXPECT_EQ((*back)[1].count, 4);
}

TEST(PadRule, AddsAndCrops) {
  EXPECT_EQ(Infer("pad", "", "f32[2,3] i64[4]={0,1,2,3}"), "f32[4,7]");
  EXPECT_EQ(Infer("pad", "", "f32[2,3] i64[4]={0,-1,0,-2}"), "f32[2,0]");
  EXPECT_EQ(Infer("pad", "", "f32[2,3] i64[2]={1,1} f32[] i64[1]={-1}"),
            "f32[2,5]");
  EXPECT_EQ(Infer("pad", "mode='reflect'", "i32[n,3] i64[4]={1,0,1,0}"),
            "i32[n+2,3]");
  EXPECT_EQ(Infer("pad", "", "f32[n,3] i64[4]"), "f32[?,?]");
  EXPECT_EQ(Infer("pad", "mode='edge'", "f32[0] i64[2]={0,0}"), "f32[0]");
}

TEST(PadRule, Errors) {
  EXPECT_EQ(Infer("pad", "", "f32[2,3] i64[4]={0,-2,0,-2}"),
            "error: Pad: dim 1: pads -2 and -2 crop more than the 3 elements "
            "of axis 0");
  EXPECT_EQ(Infer("pad", "", "f32[2,3] i64[3]={0,0,0}"),
            "error: Pad: pads has 3 entries, expected 2 for each of 2 axes");
  EXPECT_EQ(Infer("pad", "mode='mirror'", "f32[2] i64[2]={0,0}"),
            "error: Pad: mode 'mirror' is none of constant, reflect, edge, "
            "wrap");
  EXPECT_EQ(Infer("pad", "mode='edge'", "f32[0] i64[2]={1,0}"),
            "error: Pad: dim 0: axis 0 is empty, there is nothing to "
            "repeat");
  EXPECT_EQ(Infer("pad", "", "f32[2] i64[2]={0,0} f64[]"),
            "error: Pad: input 0 is f32, input 2 is f64");
  EXPECT_EQ(Infer("pad", "", "f32[2] i64[2]={0,0} f32[2]"),
            "error: Pad: elements of input 2, a scalar: 2 against 1");
}

}  // namespace
}  // namespace ebb
