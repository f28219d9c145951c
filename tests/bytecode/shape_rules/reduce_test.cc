#include "bytecode/shape_rules/reduce.h"

#include <gtest/gtest.h>

#include "tests/bytecode/shape_rules/rule_runner.h"

namespace ebb {
namespace {

TEST(ReduceRule, Axes) {
  EXPECT_EQ(Infer("reduce_sum", "", "f32[2,3,4] i64[1]={1}"), "f32[2,1,4]");
  EXPECT_EQ(Infer("reduce_sum", "keepdims=0", "f32[2,3,4] i64[2]={0,-1}"),
            "f32[3]");
  EXPECT_EQ(Infer("reduce_max", "keepdims=0", "bool[2,n] i64[1]={0}"),
            "bool[n]");
  EXPECT_EQ(Infer("reduce_mean", "", "f32[0,3] i64[1]={0}"), "f32[1,3]");
}

TEST(ReduceRule, AbsentOrEmptyAxesMeanAllOrNone) {
  EXPECT_EQ(Infer("reduce_sum", "", "f32[2,3]"), "f32[1,1]");
  EXPECT_EQ(Infer("reduce_sum", "keepdims=0", "f32[2,3] i64[0]={}"), "f32[]");
  EXPECT_EQ(Infer("reduce_sum", "keepdims=0", "f32[2,3] i64[0]"), "f32[]");
  EXPECT_EQ(Infer("reduce_sum", "noop_with_empty_axes=1", "f32[2,3]"),
            "f32[2,3]");
  EXPECT_EQ(Infer("reduce_sum", "keepdims=0", "f32[*]"), "f32[]");
  EXPECT_EQ(Infer("reduce_sum", "", "f32[]"), "f32[]");
}

TEST(ReduceRule, AxesFoundAtRunTime) {
  EXPECT_EQ(Infer("reduce_sum", "", "f32[2,3] i64[1]"), "f32[?,?]");
  EXPECT_EQ(Infer("reduce_sum", "keepdims=0", "f32[2,3] i64[1]"), "f32[?]");
  EXPECT_EQ(Infer("reduce_sum", "keepdims=0", "f32[2,3] i64[?]"), "f32[*]");
}

TEST(ReduceRule, Errors) {
  EXPECT_EQ(Infer("reduce_sum", "", "f32[2,3] i64[1]={2}"),
            "error: ReduceSum: axis 2 is out of range for rank 2");
  EXPECT_EQ(Infer("reduce_sum", "", "f32[2,3] i64[2]={1,-1}"),
            "error: ReduceSum: axis 1 stands twice in the axes");
  EXPECT_EQ(Infer("reduce_sum", "", "bool[2]").substr(0, 35),
            "error: ReduceSum: input 0 is bool, ");
}

TEST(ArgRule, GivesIndices) {
  EXPECT_EQ(Infer("arg_max", "axis=1", "f32[2,3]"), "i64[2,1]");
  EXPECT_EQ(Infer("arg_max", "axis=-2 keepdims=0", "f32[2,n]"), "i64[n]");
  EXPECT_EQ(Infer("arg_max", "", "f32[*]"), "i64[*]");
  EXPECT_EQ(Infer("arg_max", "", "f32[0,3]"),
            "error: ArgMax: axis 0 is empty and has no largest element");
  EXPECT_EQ(Infer("arg_max", "", "f32[]"),
            "error: ArgMax: axis 0 is out of range for rank 0");
}

TEST(AxisRule, ChecksTheAxis) {
  EXPECT_EQ(Infer("softmax", "", "f32[2,n]"), "f32[2,n]");
  EXPECT_EQ(Infer("log_softmax", "axis=-3", "f32[2,n]"),
            "error: LogSoftmax: axis -3 is out of range for rank 2");
}

}  // namespace
}  // namespace ebb
