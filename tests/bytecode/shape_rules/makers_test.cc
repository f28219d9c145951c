#include "bytecode/shape_rules/makers.h"

#include <gtest/gtest.h>

#include "tests/bytecode/shape_rules/rule_runner.h"

namespace ebb {
namespace {

TEST(ShapeRule, CountsDims) {
  EXPECT_EQ(Infer("shape_of", "", "f32[2,n,4]"), "i64[3]");
  EXPECT_EQ(Infer("shape_of", "start=1 end=-1", "string[2,3,4]"), "i64[1]");
  EXPECT_EQ(Infer("shape_of", "start=-10 end=10", "f32[2,3]"), "i64[2]");
  EXPECT_EQ(Infer("shape_of", "start=2 end=1", "f32[2,3]"), "i64[0]");
  EXPECT_EQ(Infer("shape_of", "", "f32[*]"), "i64[?]");
  EXPECT_EQ(Infer("size", "", "f32[*]"), "i64[]");
}

TEST(FullRule, TakesDimsFromTheShape) {
  EXPECT_EQ(Infer("full", "", "i64[2]={2,n} f32[1]"), "f32[2,n]");
  EXPECT_EQ(Infer("full", "", "i64[0]={} bool[]"), "bool[]");
  EXPECT_EQ(Infer("full", "", "i64[2] i8[]"), "i8[?,?]");
  EXPECT_EQ(Infer("full", "", "i64[?] i8[]"), "i8[*]");
  EXPECT_EQ(Infer("full", "", "i64[1]={-1} f32[1]"),
            "error: Full: input 0 holds a negative number, -1");
  EXPECT_EQ(Infer("full", "", "i64[1]={2} f32[2]"),
            "error: Full: elements of the value along dim 0: 2 against 1");
}

TEST(RangeRule, CountsSteps) {
  EXPECT_EQ(Infer("range", "", "i64[]={1} i64[]={10} i64[]={3}"), "i64[3]");
  EXPECT_EQ(Infer("range", "", "i32[]={10} i32[]={4} i32[]={-2}"), "i32[3]");
  EXPECT_EQ(Infer("range", "", "i64[]={5} i64[]={1} i64[]={1}"), "i64[0]");
  EXPECT_EQ(Infer("range", "", "f32[]={1} f32[]={2.5} f32[]={0.5}"), "f32[3]");
  EXPECT_EQ(Infer("range", "", "i64[]={0} i64[]={n} i64[]={1}"), "i64[n]");
  EXPECT_EQ(Infer("range", "", "i64[]={0} i64[]={n} i64[]={2}"),
            "i64[ceil((n)/2)]");
  EXPECT_EQ(Infer("range", "", "i64[] i64[] i64[]"), "i64[?]");
  EXPECT_EQ(Infer("range", "", "i64[]={0} i64[]={5} i64[]={0}"),
            "error: Range: delta is 0");
  EXPECT_EQ(Infer("range", "",
                  "i64[]={-9223372036854775807} "
                  "i64[]={9223372036854775807} i64[]={1}"),
            "error: Range: number of elements overflows int64");
  EXPECT_EQ(Infer("range", "", "f32[]={0} f32[]={1} i32[]={1}"),
            "error: Range: input 0 is f32, input 2 is i32");
  EXPECT_EQ(Infer("range", "", "i64[2] i64[] i64[]"),
            "error: Range: elements of input 0, a scalar: 2 against 1");
}

}  // namespace
}  // namespace ebb
