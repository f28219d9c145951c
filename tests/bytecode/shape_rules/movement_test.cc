#include "bytecode/shape_rules/movement.h"

#include <gtest/gtest.h>

#include "tests/bytecode/shape_rules/rule_runner.h"

namespace ebb {
namespace {

TEST(ConcatRule, SumsTheAxis) {
  EXPECT_EQ(Infer("concat", "axis=1", "f32[2,3] f32[2,4] f32[2,0]"),
            "f32[2,7]");
  EXPECT_EQ(Infer("concat", "axis=-1", "f32[2,3]"), "f32[2,3]");
  EXPECT_EQ(Infer("concat", "axis=0", "f32[n,3] f32[2,m]"), "f32[n+2,3]");
  EXPECT_EQ(Infer("concat", "axis=0", "f32[n,3] f32[*]"), "f32[*]");
  EXPECT_EQ(Infer("concat", "axis=0", "f32[2,3] f32[2,4]"),
            "error: Concat: dim 1 of input 1 and of those before: 4 against "
            "3");
  EXPECT_EQ(Infer("concat", "axis=0", "f32[2,3] f32[2]"),
            "error: Concat: input 1 has rank 1, input 0 has rank 2");
  EXPECT_EQ(Infer("concat", "axis=2", "f32[2,3] f32[2,3]"),
            "error: Concat: axis 2 is out of range for rank 2");
  EXPECT_EQ(Infer("concat", "axis=0", "f32[2,3] f64[2,3]"),
            "error: Concat: input 0 is f32, input 1 is f64");
  EXPECT_EQ(Infer("concat", "axis=0", "f32[]"),
            "error: Concat: axis 0 is out of range for rank 0");
}

TEST(SplitRule, EqualParts) {
  EXPECT_EQ(Infer("split", "axis=1", "f32[2,6]", 2), "f32[2,3] f32[2,3]");
  EXPECT_EQ(Infer("split", "", "f32[7]", 4), "f32[2] f32[2] f32[2] f32[1]");
  EXPECT_EQ(Infer("split", "", "f32[5]", 4), "f32[2] f32[2] f32[1] f32[0]");
  EXPECT_EQ(Infer("split", "", "f32[0]", 2), "f32[0] f32[0]");
  EXPECT_EQ(Infer("split", "", "f32[n]", 1), "f32[n]");
}

TEST(SplitRule, GivenSizes) {
  EXPECT_EQ(Infer("split", "", "f32[6] i64[2]={2,4}", 2), "f32[2] f32[4]");
  EXPECT_EQ(Infer("split", "", "f32[n] i64[2]={2,m}", 2), "f32[2] f32[m]");
  EXPECT_EQ(Infer("split", "", "f32[6,3] i64[2]", 2), "f32[?,3] f32[?,3]");
  EXPECT_EQ(Infer("split", "", "f32[6] i64[2]={2,3}", 2),
            "error: Split: split sizes sum to 5, the axis has 6 elements");
  EXPECT_EQ(Infer("split", "", "f32[6] i64[2]={7,-1}", 2),
            "error: Split: split size -1 is negative");
  EXPECT_EQ(Infer("split", "", "f32[6] i64[3]={2,2,2}", 2),
            "error: Split: split has 3 sizes for 2 outputs");
}

TEST(GatherRule, PutsIndicesInPlaceOfTheAxis) {
  EXPECT_EQ(Infer("gather", "axis=1", "f32[2,3,4] i64[5,6]"), "f32[2,5,6,4]");
  EXPECT_EQ(Infer("gather", "", "f32[2,3] i32[]"), "f32[3]");
  EXPECT_EQ(Infer("gather", "axis=-1", "f32[n,3] i64[m]"), "f32[n,m]");
  EXPECT_EQ(Infer("gather", "", "f32[2,3] i64[*]"), "f32[*]");
  EXPECT_EQ(Infer("gather", "", "f32[] i64[]"),
            "error: Gather: input 0 has rank 0, expected 1 or more");
  EXPECT_EQ(Infer("gather", "", "f32[3] f32[1]"),
            "error: Gather: input 1 is f32, expected one of i32 i64");
  EXPECT_EQ(Infer("gather", "axis=2", "f32[2,3] i64[1]"),
            "error: Gather: axis 2 is out of range for rank 2");
}

TEST(TransposeRule, PermutesDims) {
  EXPECT_EQ(Infer("transpose", "", "f32[2,3,4]"), "f32[4,3,2]");
  EXPECT_EQ(Infer("transpose", "perm=[1,0,2]", "f32[n,3,4]"), "f32[3,n,4]");
  EXPECT_EQ(Infer("transpose", "perm=[1,0]", "f32[*]"), "f32[?,?]");
  EXPECT_EQ(Infer("transpose", "", "f32[]"), "f32[]");
  EXPECT_EQ(Infer("transpose", "perm=[0,0]", "f32[2,3]"),
            "error: Transpose: axis 0 stands twice in the axes");
  EXPECT_EQ(Infer("transpose", "perm=[0,2]", "f32[2,3]"),
            "error: Transpose: axis 2 is out of range for rank 2");
  EXPECT_EQ(Infer("transpose", "perm=[0]", "f32[2,3]"),
            "error: Transpose: perm has 1 entries, the rank is 2");
  EXPECT_EQ(Infer("transpose", "perm=[0,-1]", "f32[2,3]"),
            "error: Transpose: perm -1 is negative");
}

TEST(ExpandRule, BroadcastsBothWays) {
  EXPECT_EQ(Infer("expand", "", "f32[3,1] i64[3]={2,1,6}"), "f32[2,3,6]");
  EXPECT_EQ(Infer("expand", "", "f32[3,4] i64[1]={1}"), "f32[3,4]");
  EXPECT_EQ(Infer("expand", "", "f32[3] i64[0]={}"), "f32[3]");
  EXPECT_EQ(Infer("expand", "", "f32[1,4] i64[2]={n,4}"), "f32[n,4]");
  EXPECT_EQ(Infer("expand", "", "f32[5,1,4] i64[2]"), "f32[5,?,4]");
  EXPECT_EQ(Infer("expand", "", "f32[4] i64[2]"), "f32[?,4]");
  EXPECT_EQ(Infer("expand", "", "f32[4] i64[?]"), "f32[*]");
  EXPECT_EQ(Infer("expand", "", "f32[3] i64[1]={2}"),
            "error: Expand: [3] and [2] do not broadcast: 3 against 2");
  EXPECT_EQ(Infer("expand", "", "f32[3] i64[1]={-1}"),
            "error: Expand: input 1 holds a negative number, -1");
}

TEST(TileRule, MultipliesDims) {
  EXPECT_EQ(Infer("tile", "", "f32[2,3] i64[2]={2,0}"), "f32[4,0]");
  EXPECT_EQ(Infer("tile", "", "f32[n,3] i64[2]={2,1}"), "f32[2*n,3]");
  EXPECT_EQ(Infer("tile", "", "f32[*] i64[2]={2,1}"), "f32[?,?]");
  EXPECT_EQ(Infer("tile", "", "f32[2,3] i64[1]={2}"),
            "error: Tile: repeats has 1 entries, the rank is 2");
  EXPECT_EQ(Infer("tile", "", "f32[2] i64[1]={-2}"),
            "error: Tile: input 1 holds a negative number, -2");
}

}  // namespace
}  // namespace ebb
