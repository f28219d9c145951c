#include "bytecode/shape_rules/elementwise.h"

#include <gtest/gtest.h>

#include "tests/bytecode/shape_rules/rule_runner.h"

namespace ebb {
namespace {

TEST(SameRule, KeepsDimsAndDType) {
  EXPECT_EQ(Infer("relu", "", "f32[2,n]"), "f32[2,n]");
  EXPECT_EQ(Infer("neg", "", "i8[]"), "i8[]");
  EXPECT_EQ(Infer("abs", "", "u64[0,3]"), "u64[0,3]");
  EXPECT_EQ(Infer("not", "", "bool[*]"), "bool[*]");
  EXPECT_EQ(Infer("gelu", "approximate='tanh'", "bf16[4]"), "bf16[4]");
  EXPECT_EQ(Infer("lrn", "size=3", "f32[1,2,3,4]"), "f32[1,2,3,4]");
  EXPECT_EQ(Infer("identity", "", "bool[3]"), "bool[3]");
}

TEST(SameRule, RejectsDTypesThatTheOperatorHasNot) {
  EXPECT_EQ(Infer("not", "", "f32[2]"),
            "error: Not: input 0 is f32, expected one of bool");
  EXPECT_EQ(Infer("exp", "", "i32[2]"),
            "error: Exp: input 0 is i32, expected one of f32 f16 f64 bf16");
  EXPECT_EQ(Infer("identity", "", "string[2]").substr(0, 45),
            "error: Identity: input 0 is string, expected ");
}

TEST(SameRule, RejectsBadAttributes) {
  EXPECT_EQ(Infer("gelu", "approximate='fast'", "f32[4]"),
            "error: Gelu: approximate 'fast' is neither none nor tanh");
  EXPECT_EQ(Infer("lrn", "size=0", "f32[1,2,3]"),
            "error: Lrn: size 0 is not positive");
}

TEST(BroadcastRule, FollowsNumpy) {
  EXPECT_EQ(Infer("add", "", "f32[2,3,4] f32[4]"), "f32[2,3,4]");
  EXPECT_EQ(Infer("add", "", "f32[2,1,4] f32[3,1]"), "f32[2,3,4]");
  EXPECT_EQ(Infer("add", "", "f32[] f32[3]"), "f32[3]");
  EXPECT_EQ(Infer("add", "", "i64[0,3] i64[1]"), "i64[0,3]");
  EXPECT_EQ(Infer("and", "", "bool[2,1] bool[1,5]"), "bool[2,5]");
  EXPECT_EQ(Infer("mul", "", "f32[2,3] f32[2,4]"),
            "error: Mul: [2,3] and [2,4] do not broadcast: 3 against 4");
  EXPECT_EQ(Infer("mul", "", "f32[0] f32[2]"),
            "error: Mul: [0] and [2] do not broadcast: 0 against 2");
  EXPECT_EQ(Infer("add", "", "f32[2] f64[2]"),
            "error: Add: input 0 is f32, input 1 is f64");
}

TEST(BroadcastRule, LeavesOpenWhatIsNotProved) {
  EXPECT_EQ(Infer("add", "", "f32[n,4] f32[n,4]"), "f32[n,4]");
  EXPECT_EQ(Infer("add", "", "f32[n] f32[1]"), "f32[n]");
  EXPECT_EQ(Infer("add", "", "f32[n] f32[7]"), "f32[7]");
  EXPECT_EQ(Infer("add", "", "f32[n] f32[m]"), "f32[?]");
  EXPECT_EQ(Infer("add", "", "f32[*] f32[m]"), "f32[*]");
}

TEST(CompareRule, GivesBool) {
  EXPECT_EQ(Infer("less", "", "f32[2,1] f32[3]"), "bool[2,3]");
  EXPECT_EQ(Infer("equal", "", "bool[2] bool[2]"), "bool[2]");
  EXPECT_EQ(Infer("equal", "", "bool[*] bool[2]"), "bool[*]");
  EXPECT_EQ(Infer("less", "", "bool[2] bool[2]").substr(0, 30),
            "error: Less: input 0 is bool, ");
}

TEST(PowRule, TakesExponentsOfAnyNumericDType) {
  EXPECT_EQ(Infer("pow", "", "f32[2,3] i64[3]"), "f32[2,3]");
  EXPECT_EQ(Infer("pow", "", "i32[2] f32[]"), "i32[2]");
  EXPECT_EQ(Infer("pow", "", "f32[2] bool[]").substr(0, 29),
            "error: Pow: input 1 is bool, ");
}

TEST(PReluRule, BroadcastsTheSlopeOneWay) {
  EXPECT_EQ(Infer("prelu", "", "f32[2,3,4] f32[3,1]"), "f32[2,3,4]");
  EXPECT_EQ(Infer("prelu", "", "f32[2,n] f32[m]"), "f32[2,n]");
  EXPECT_EQ(Infer("prelu", "", "f32[1,3] f32[2,3]"),
            "error: PRelu: slope [2,3] does not broadcast to [1,3]");
  EXPECT_EQ(Infer("prelu", "", "f32[3] f32[1,3]"),
            "error: PRelu: slope [1,3] does not broadcast to [3]");
}

TEST(WhereRule, BroadcastsThree) {
  EXPECT_EQ(Infer("where", "", "bool[2,1] i64[3] i64[]"), "i64[2,3]");
  EXPECT_EQ(Infer("where", "", "f32[2] i64[2] i64[2]"),
            "error: Where: input 0 is f32, expected one of bool");
  EXPECT_EQ(Infer("where", "", "bool[2] i64[2] f32[2]"),
            "error: Where: input 1 is i64, input 2 is f32");
}

TEST(ClipRule, TakesScalarsThatMayBeAbsent) {
  EXPECT_EQ(Infer("clip", "", "f32[2,3]"), "f32[2,3]");
  EXPECT_EQ(Infer("clip", "", "f32[2,3] - f32[]"), "f32[2,3]");
  EXPECT_EQ(Infer("clip", "", "i8[2,3] i8[1] i8[]"), "i8[2,3]");
  EXPECT_EQ(Infer("clip", "", "f32[2] f32[2]"),
            "error: Clip: elements of input 1, a scalar: 2 against 1");
  EXPECT_EQ(Infer("clip", "", "f32[2] f64[]"),
            "error: Clip: input 0 is f32, input 1 is f64");
}

TEST(CastRule, GivesTheDTypeAskedFor) {
  EXPECT_EQ(Infer("cast", "to=7", "f32[2,n]"), "i64[2,n]");
  EXPECT_EQ(Infer("cast", "to=9", "f16[*]"), "bool[*]");
  EXPECT_EQ(Infer("cast", "to=99", "f32[2]"), "error: Cast: to 99 is no dtype");
  EXPECT_EQ(Infer("cast", "to=8", "f32[2]").substr(0, 26),
            "error: Cast: to is string,");
  EXPECT_EQ(Infer("cast", "", "f32[2]"),
            "error: Cast: attribute 'to' is missing");
}

TEST(Dispatch, ChecksNumberAndPresenceOfOperands) {
  EXPECT_EQ(Infer("add", "", "f32[2]"),
            "error: Add: 1 inputs, expected 2 to 2");
  EXPECT_EQ(Infer("add", "", "f32[2] -"), "error: Add: input 1 is absent");
  EXPECT_EQ(Infer("relu", "", "f32[2]", 2),
            "error: Relu: 2 outputs, expected 1 to 1");
  EXPECT_EQ(Infer("relu", "", "f32[2,-3]"),
            "error: Relu: input 0 has a negative dim, -3");
  EXPECT_EQ(Infer("relu", "", "f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"),
            "error: Relu: input 0 has rank 17, the limit is 16");
}

TEST(Dispatch, RejectsSizesBeyondInt64) {
  EXPECT_EQ(Infer("add", "", "f32[4294967296,1] f32[1,4294967296]"),
            "error: Add: bytes of output 0, f32[4294967296,4294967296], "
            "overflow int64");
  // 2^62 elements of one byte fit, of four they do not.
  EXPECT_EQ(Infer("add", "", "u8[2147483648,1] u8[1,2147483648]"),
            "u8[2147483648,2147483648]");
  EXPECT_EQ(Infer("add", "", "f32[2147483648,1] f32[1,2147483648]"),
            "error: Add: bytes of output 0, f32[2147483648,2147483648], "
            "overflow int64");
  EXPECT_EQ(Infer("tile", "",
                  "f32[4611686018427387904] i64[1]={4611686018427387904}"),
            "error: Tile: dims overflow int64");
}

}  // namespace
}  // namespace ebb
