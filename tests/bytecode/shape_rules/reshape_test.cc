#include "bytecode/shape_rules/reshape.h"

#include <gtest/gtest.h>

#include "tests/bytecode/shape_rules/rule_runner.h"

namespace ebb {
namespace {

TEST(ReshapeRule, KnownDims) {
  EXPECT_EQ(Infer("reshape", "", "f32[2,3,4] i64[2]={6,4}"), "f32[6,4]");
  EXPECT_EQ(Infer("reshape", "", "f32[2,3,4] i64[3]={0,-1,2}"), "f32[2,6,2]");
  EXPECT_EQ(Infer("reshape", "", "f32[1] i64[0]={}"), "f32[]");
  EXPECT_EQ(Infer("reshape", "", "f32[] i64[2]={1,-1}"), "f32[1,1]");
  EXPECT_EQ(Infer("reshape", "", "f32[0,3,4] i64[2]={0,-1}"), "f32[0,12]");
  EXPECT_EQ(Infer("reshape", "", "f32[0,3] i64[2]={3,-1}"), "f32[3,0]");
  EXPECT_EQ(Infer("reshape", "allowzero=1", "f32[0,3] i64[3]={3,4,0}"),
            "f32[3,4,0]");
}

TEST(ReshapeRule, Errors) {
  EXPECT_EQ(Infer("reshape", "", "f32[2,3] i64[2]={4,2}"),
            "error: Reshape: cannot reshape [2,3] to [4,2]");
  EXPECT_EQ(Infer("reshape", "", "f32[2,3] i64[2]={4,-1}"),
            "error: Reshape: cannot reshape [2,3] to [4,-1]");
  EXPECT_EQ(Infer("reshape", "", "f32[2,3] i64[2]={-1,-1}"),
            "error: Reshape: the shape [-1,-1] has more than one -1");
  EXPECT_EQ(Infer("reshape", "", "f32[2,3] i64[2]={-2,3}"),
            "error: Reshape: dim -2 of the shape [-2,3] is below -1");
  EXPECT_EQ(Infer("reshape", "", "f32[2,3] i64[3]={2,3,0}"),
            "error: Reshape: the shape [2,3,0] copies dim 2 of rank 2");
  EXPECT_EQ(Infer("reshape", "allowzero=1", "f32[0,3] i64[2]={0,-1}"),
            "error: Reshape: the shape [0,-1] has both 0 and -1 with "
            "allowzero");
  EXPECT_EQ(Infer("reshape", "", "f32[2,3] i64[17]"),
            "error: Reshape: output rank 17 is above the limit of 16");
  EXPECT_EQ(Infer("reshape", "", "f32[2,3] i64[1,1]={6}"),
            "error: Reshape: input 1 has rank 2, expected 1");
}

TEST(ReshapeRule, CancelsSymbols) {
  EXPECT_EQ(Infer("reshape", "", "f32[n,3,4] i64[2]={n,-1}"), "f32[n,12]");
  EXPECT_EQ(Infer("reshape", "", "f32[n,3,4] i64[2]={0,-1}"), "f32[n,12]");
  EXPECT_EQ(Infer("reshape", "", "f32[n,12] i64[3]={-1,4,3}"), "f32[n,4,3]");
  EXPECT_EQ(Infer("reshape", "", "f32[n,12] i64[2]={-1,24}"),
            "f32[floor((n)/2),24]");
  EXPECT_EQ(Infer("reshape", "", "f32[n,m] i64[1]={-1}"), "f32[(m)*(n)]");
  EXPECT_EQ(Infer("reshape", "", "f32[n,m,8] i64[4]={0,0,2,-1}"),
            "f32[n,m,2,4]");
}

TEST(ReshapeRule, LeavesOpenWhatIsFoundAtRunTime) {
  EXPECT_EQ(Infer("reshape", "", "f32[2,3] i64[3]"), "f32[?,?,?]");
  EXPECT_EQ(Infer("reshape", "", "f32[2,3] i64[?]"), "f32[*]");
  EXPECT_EQ(Infer("reshape", "", "f32[2,3] i64[2]={free,3}"), "f32[?,3]");
  EXPECT_EQ(Infer("reshape", "", "f32[*] i64[3]={0,4,-1}"), "f32[?,4,?]");
}

TEST(FlattenRule, MakesAMatrix) {
  EXPECT_EQ(Infer("flatten", "", "f32[2,3,4]"), "f32[2,12]");
  EXPECT_EQ(Infer("flatten", "axis=0", "f32[2,3,4]"), "f32[1,24]");
  EXPECT_EQ(Infer("flatten", "axis=3", "f32[2,3,4]"), "f32[24,1]");
  EXPECT_EQ(Infer("flatten", "axis=-1", "f32[2,n,4]"), "f32[2*n,4]");
  EXPECT_EQ(Infer("flatten", "axis=0", "f32[]"), "f32[1,1]");
  EXPECT_EQ(Infer("flatten", "", "f32[*]"), "f32[?,?]");
  EXPECT_EQ(Infer("flatten", "axis=4", "f32[2,3,4]"),
            "error: Flatten: axis 4 is out of range for rank 3");
}

TEST(SqueezeRule, RemovesOnes) {
  EXPECT_EQ(Infer("squeeze", "", "f32[1,3,1]"), "f32[3]");
  EXPECT_EQ(Infer("squeeze", "", "f32[1,3,1] i64[1]={-1}"), "f32[1,3]");
  EXPECT_EQ(Infer("squeeze", "", "f32[n,3,1] i64[1]={0}"), "f32[3,1]");
  EXPECT_EQ(Infer("squeeze", "", "f32[n,3,1]"), "f32[*]");
  EXPECT_EQ(Infer("squeeze", "", "f32[1,3,1] i64[1]"), "f32[?,?]");
  EXPECT_EQ(Infer("squeeze", "", "f32[1,3] i64[1]={1}"),
            "error: Squeeze: axis 1 has 3 elements, expected 1");
  EXPECT_EQ(Infer("squeeze", "", "f32[1,1] i64[2]={0,-2}"),
            "error: Squeeze: axis 0 stands twice in the axes");
  EXPECT_EQ(Infer("squeeze", "", "f32[1,1] i64[1]={2}"),
            "error: Squeeze: axis 2 is out of range for rank 2");
}

TEST(UnsqueezeRule, InsertsOnes) {
  EXPECT_EQ(Infer("unsqueeze", "", "f32[3,n] i64[2]={0,-1}"), "f32[1,3,n,1]");
  EXPECT_EQ(Infer("unsqueeze", "", "f32[] i64[]={0}"), "f32[1]");
  EXPECT_EQ(Infer("unsqueeze", "", "f32[3] i64[2]"), "f32[?,?,?]");
  EXPECT_EQ(Infer("unsqueeze", "", "f32[3] i64[2]={0,-3}"),
            "error: Unsqueeze: axis 0 stands twice in the axes");
  EXPECT_EQ(Infer("unsqueeze", "", "f32[3] i64[1]={2}"),
            "error: Unsqueeze: axis 2 is out of range for rank 2");
}

}  // namespace
}  // namespace ebb
