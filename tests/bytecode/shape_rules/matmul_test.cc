#include "bytecode/shape_rules/matmul.h"

#include <gtest/gtest.h>

#include "tests/bytecode/shape_rules/rule_runner.h"

namespace ebb {
namespace {

TEST(MatMulRule, MatricesVectorsAndBatches) {
  EXPECT_EQ(Infer("matmul", "", "f32[2,3] f32[3,4]"), "f32[2,4]");
  EXPECT_EQ(Infer("matmul", "", "f32[3] f32[3,4]"), "f32[4]");
  EXPECT_EQ(Infer("matmul", "", "f32[2,3] f32[3]"), "f32[2]");
  EXPECT_EQ(Infer("matmul", "", "f32[3] f32[3]"), "f32[]");
  EXPECT_EQ(Infer("matmul", "", "f32[5,1,2,3] f32[7,3,4]"), "f32[5,7,2,4]");
  EXPECT_EQ(Infer("matmul", "", "f32[7,2,3] f32[3]"), "f32[7,2]");
  EXPECT_EQ(Infer("matmul", "", "i32[2,0] i32[0,4]"), "i32[2,4]");
  EXPECT_EQ(Infer("matmul", "", "f32[b,n,k] f32[b,k,m]"), "f32[b,n,m]");
  EXPECT_EQ(Infer("matmul", "", "f32[*] f32[k,m]"), "f32[*]");
}

TEST(MatMulRule, Errors) {
  EXPECT_EQ(Infer("matmul", "", "f32[2,3] f32[4,5]"),
            "error: MatMul: [2,3] times [4,5], columns and rows: 3 against "
            "4");
  EXPECT_EQ(Infer("matmul", "", "f32[] f32[4]"),
            "error: MatMul: input 0 has rank 0, expected 1 or more");
  EXPECT_EQ(Infer("matmul", "", "f32[2,2,3] f32[3,3,5]"),
            "error: MatMul: [2] and [3] do not broadcast: 2 against 3");
}

TEST(GemmRule, TransposesAndBroadcastsTheBias) {
  EXPECT_EQ(Infer("gemm", "", "f32[2,3] f32[3,4] f32[4]"), "f32[2,4]");
  EXPECT_EQ(Infer("gemm", "transA=1 transB=1", "f32[3,2] f32[4,3] f32[2,1]"),
            "f32[2,4]");
  EXPECT_EQ(Infer("gemm", "", "f32[n,3] f32[*]"), "f32[n,?]");
  EXPECT_EQ(Infer("gemm", "", "f32[2,3] f32[3,4] f32[3]"),
            "error: Gemm: input 2 [3] does not broadcast to [2,4]");
  EXPECT_EQ(Infer("gemm", "", "f32[2,3] f32[4,3]"),
            "error: Gemm: [2,3] times [4,3], columns and rows: 3 against 4");
  EXPECT_EQ(Infer("gemm", "", "f32[2,3,1] f32[3,4]"),
            "error: Gemm: input 0 has rank 3, expected 2");
}

TEST(BatchNormalizationRule, WantsOneValuePerChannel) {
  EXPECT_EQ(Infer("batch_normalization", "",
                  "f32[n,3,5] f32[3] f32[3] f32[3] f32[3]"),
            "f32[n,3,5]");
  EXPECT_EQ(
      Infer("batch_normalization", "", "f32[2,3] f32[3] f32[3] f32[4] f32[3]"),
      "error: BatchNormalization: elements of input 3 and channels: 4 "
      "against 3");
  EXPECT_EQ(
      Infer("batch_normalization", "", "f32[3] f32[3] f32[3] f32[3] f32[3]"),
      "error: BatchNormalization: input 0 has rank 1, expected 2 or "
      "more");
  EXPECT_EQ(Infer("instance_normalization", "", "f32[2,3,4] f32[3] f32[3]"),
            "f32[2,3,4]");
}

TEST(LayerNormalizationRule, GivesMeanAndDeviation) {
  EXPECT_EQ(
      Infer("layer_normalization", "axis=1", "f16[n,3,4] f16[3,4] f16[3,4]", 3),
      "f16[n,3,4] f32[n,1,1] f32[n,1,1]");
  EXPECT_EQ(Infer("layer_normalization", "", "f32[2,4] f32[1,4]"), "f32[2,4]");
  EXPECT_EQ(Infer("layer_normalization", "", "f32[2,4] f32[3]"),
            "error: LayerNormalization: dim 0 of input 1 and the normalised "
            "dims: 3 against 4");
  EXPECT_EQ(Infer("layer_normalization", "axis=0", "f32[2,4] f32[4]"),
            "error: LayerNormalization: input 1 has rank 1, expected 2");
  EXPECT_EQ(Infer("layer_normalization", "stash_type=16", "f32[2] f32[2]"),
            "error: LayerNormalization: stash_type 16, expected 1 (f32)");
}

}  // namespace
}  // namespace ebb
