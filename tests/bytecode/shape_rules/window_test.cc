#include "bytecode/shape_rules/window.h"

#include <gtest/gtest.h>

#include "tests/bytecode/shape_rules/rule_runner.h"

namespace ebb {
namespace {

TEST(ConvRule, CountsWindows) {
  EXPECT_EQ(Infer("conv", "", "f32[2,3,5,5] f32[8,3,3,3] f32[8]"),
            "f32[2,8,3,3]");
  EXPECT_EQ(Infer("conv", "strides=[2,2] pads=[1,1,1,1]",
                  "f32[1,3,224,224] f32[64,3,7,7]"),
            "f32[1,64,110,110]");
  EXPECT_EQ(Infer("conv", "dilations=[2]", "f32[1,1,7] f32[1,1,3]"),
            "f32[1,1,3]");
  EXPECT_EQ(
      Infer("conv", "group=4 kernel_shape=[1,1]", "f32[1,4,2,2] f32[8,1,1,1]"),
      "f32[1,8,2,2]");
  EXPECT_EQ(Infer("conv", "", "f32[0,3,5] f32[8,3,3]"), "f32[0,8,3]");
}

TEST(ConvRule, AutoPad) {
  EXPECT_EQ(Infer("conv", "auto_pad='SAME_UPPER' strides=[2]",
                  "f32[1,1,5] f32[1,1,3]"),
            "f32[1,1,3]");
  EXPECT_EQ(Infer("conv", "auto_pad='SAME_LOWER' strides=[3]",
                  "f32[1,1,n] f32[1,1,3]"),
            "f32[1,1,ceil((n)/3)]");
  EXPECT_EQ(
      Infer("conv", "auto_pad='VALID' pads=[9,9]", "f32[1,1,5] f32[1,1,3]"),
      "f32[1,1,3]");
}

TEST(ConvRule, Symbolic) {
  EXPECT_EQ(Infer("conv", "pads=[1,1]", "f32[n,3,w] f32[8,3,3]"), "f32[n,8,w]");
  EXPECT_EQ(Infer("conv", "strides=[2] pads=[1,1]", "f32[n,3,w] f32[8,3,3]"),
            "f32[n,8,floor((w-1)/2)+1]");
  EXPECT_EQ(Infer("conv", "", "f32[n,c,w] f32[m,3,3]"), "f32[n,m,w-2]");
  EXPECT_EQ(Infer("conv", "", "f32[*] f32[m,3,3]"), "f32[*]");
}

TEST(ConvRule, Errors) {
  EXPECT_EQ(Infer("conv", "", "f32[1,4,5] f32[8,3,3]"),
            "error: Conv: channels of the input and of the weights times "
            "group: 4 against 3");
  EXPECT_EQ(Infer("conv", "group=2", "f32[1,4,5] f32[7,2,3]"),
            "error: Conv: group 2 does not divide the 7 channels of the "
            "weights");
  EXPECT_EQ(Infer("conv", "group=0", "f32[1,4,5] f32[7,2,3]"),
            "error: Conv: group 0 is not positive");
  EXPECT_EQ(Infer("conv", "strides=[0]", "f32[1,3,5] f32[8,3,3]"),
            "error: Conv: strides 0 is below 1");
  EXPECT_EQ(Infer("conv", "strides=[1,1]", "f32[1,3,5] f32[8,3,3]"),
            "error: Conv: strides has 2 entries, expected 1");
  EXPECT_EQ(Infer("conv", "pads=[-1,0]", "f32[1,3,5] f32[8,3,3]"),
            "error: Conv: pads -1 is below 0");
  EXPECT_EQ(Infer("conv", "kernel_shape=[5]", "f32[1,3,5] f32[8,3,3]"),
            "error: Conv: kernel_shape and dim 2 of the weights: 5 against "
            "3");
  EXPECT_EQ(Infer("conv", "", "f32[1,3,2] f32[8,3,3]"),
            "error: Conv: spatial axis 0: a kernel of 3 on an input of 2 "
            "gives an output of 0");
  EXPECT_EQ(Infer("conv", "", "f32[1,3,5] f32[8,3,3] f32[7]"),
            "error: Conv: bias and output channels: 7 against 8");
  EXPECT_EQ(Infer("conv", "", "f32[1,3,5] f32[8,3,3,3]"),
            "error: Conv: input has rank 3, weights have rank 4");
  EXPECT_EQ(Infer("conv", "", "f32[1,3] f32[8,3]"),
            "error: Conv: input 0 has rank 2, expected 3 or more");
  EXPECT_EQ(Infer("conv", "auto_pad='SAME'", "f32[1,3,5] f32[8,3,3]"),
            "error: Conv: auto_pad 'SAME' is none of NOTSET, VALID, "
            "SAME_UPPER, SAME_LOWER");
  EXPECT_EQ(Infer("conv", "", "i32[1,3,5] i32[8,3,3]").substr(0, 30),
            "error: Conv: input 0 is i32, e");
  EXPECT_EQ(
      Infer("conv", "dilations=[9223372036854775807]", "f32[1,3,5] f32[8,3,3]"),
      "error: Conv: dims overflow int64");
}

TEST(PoolRule, CeilModeDropsWindowsInTheEndPadding) {
  EXPECT_EQ(Infer("max_pool", "kernel_shape=[3,3] strides=[2,2] ceil_mode=1",
                  "f32[1,1,4,4]"),
            "f32[1,1,2,2]");
  // The third window would start at 4 - 1 = 3, the end padding.
  EXPECT_EQ(
      Infer("max_pool", "kernel_shape=[1] strides=[2] ceil_mode=1 pads=[0,1]",
            "f32[1,1,2]"),
      "f32[1,1,1]");
  EXPECT_EQ(Infer("average_pool", "kernel_shape=[3] strides=[2]", "f32[1,1,6]"),
            "f32[1,1,2]");
  EXPECT_EQ(Infer("average_pool", "kernel_shape=[3] strides=[2] ceil_mode=1",
                  "f32[1,1,6]"),
            "f32[1,1,3]");
}

TEST(PoolRule, GivesIndicesAsTheSecondOutput) {
  EXPECT_EQ(Infer("max_pool", "kernel_shape=[2,2]", "u8[1,3,n,5]", 2),
            "u8[1,3,n-1,4] i64[1,3,n-1,4]");
  EXPECT_EQ(Infer("max_pool", "kernel_shape=[2,2]", "f32[*]", 2),
            "f32[*] i64[*]");
}

TEST(PoolRule, Errors) {
  EXPECT_EQ(Infer("max_pool", "kernel_shape=[2]", "f32[1,1,4,4]"),
            "error: MaxPool: kernel_shape has 1 entries, expected 2");
  EXPECT_EQ(Infer("max_pool", "kernel_shape=[]", "f32[1,1,4]"),
            "error: MaxPool: kernel_shape is missing");
  EXPECT_EQ(Infer("max_pool", "kernel_shape=[2] storage_order=2", "f32[1,1,4]"),
            "error: MaxPool: storage_order 2 is neither 0 nor 1");
  EXPECT_EQ(
      Infer("average_pool", "kernel_shape=[2]", "i8[1,1,4]").substr(0, 36),
      "error: AveragePool: input 0 is i8, e");
}

TEST(ConvTransposeRule, InvertsConv) {
  EXPECT_EQ(Infer("conv_transpose", "", "f32[1,1,3,3] f32[1,2,3,3]"),
            "f32[1,2,5,5]");
  EXPECT_EQ(Infer("conv_transpose", "strides=[3,2] output_padding=[1,1]",
                  "f32[1,1,3,3] f32[1,2,3,3]"),
            "f32[1,2,10,8]");
  EXPECT_EQ(Infer("conv_transpose", "strides=[3,2] pads=[1,2,1,2]",
                  "f32[1,1,3,3] f32[1,2,3,3]"),
            "f32[1,2,7,3]");
  EXPECT_EQ(Infer("conv_transpose", "strides=[3,2] output_shape=[10,8]",
                  "f32[1,1,3,3] f32[1,2,3,3]"),
            "f32[1,2,10,8]");
  EXPECT_EQ(Infer("conv_transpose", "strides=[2,2] auto_pad='SAME_UPPER'",
                  "f32[1,1,3,3] f32[1,2,3,3]"),
            "f32[1,2,6,6]");
  EXPECT_EQ(Infer("conv_transpose", "group=2", "f32[1,4,n] f32[4,3,2]"),
            "f32[1,6,n+1]");
  EXPECT_EQ(
      Infer("conv_transpose", "output_padding=[1]", "f32[1,1,3] f32[1,2,3]"),
      "error: ConvTranspose: output_padding 1 is not below stride or "
      "dilation 1");
}

TEST(ConvGeometry, SplitsSamePadding) {
  Attributes attributes;
  attributes.Set("auto_pad", std::string("SAME_UPPER"));
  attributes.Set("strides", std::vector<int64_t>{2, 1});
  const Dims x = {1, 1, 4, 5};
  const Dims w = {1, 1, 3, 2};
  auto g = ConvGeometry(attributes, x, w);
  ASSERT_TRUE(g.has_value()) << g.error().message;
  EXPECT_EQ(g->axes[0].output, 2);
  EXPECT_EQ(g->axes[0].pad_begin, 0);
  EXPECT_EQ(g->axes[0].pad_end, 1);
  EXPECT_EQ(g->axes[1].output, 5);
  EXPECT_EQ(g->axes[1].pad_begin, 0);
  EXPECT_EQ(g->axes[1].pad_end, 1);
  attributes.Set("auto_pad", std::string("SAME_LOWER"));
  g = ConvGeometry(attributes, x, w);
  ASSERT_TRUE(g.has_value());
  EXPECT_EQ(g->axes[0].pad_begin, 1);
  EXPECT_EQ(g->axes[0].pad_end, 0);
}

TEST(ConvTransposeGeometry, CutsToOutputShape) {
  Attributes attributes;
  attributes.Set("strides", std::vector<int64_t>{2});
  attributes.Set("output_shape", std::vector<int64_t>{4});
  const Dims x = {1, 1, 3};
  const Dims w = {1, 1, 2};
  auto g = ConvTransposeGeometry(attributes, x, w);
  ASSERT_TRUE(g.has_value()) << g.error().message;
  EXPECT_EQ(g->axes[0].output, 4);  // Of 6: one cut at either end.
  EXPECT_EQ(g->axes[0].pad_begin, 1);
  EXPECT_EQ(g->axes[0].pad_end, 1);
  attributes.Set("output_shape", std::vector<int64_t>{9});
  g = ConvTransposeGeometry(attributes, x, w);
  ASSERT_TRUE(g.has_value());
  EXPECT_EQ(g->axes[0].output, 9);  // More than the windows reach.
  EXPECT_EQ(g->axes[0].pad_begin, 0);
}

TEST(PoolGeometry, FailsOnOverflow) {
  Attributes attributes;
  const int64_t huge = std::numeric_limits<int64_t>::max();
  attributes.Set("kernel_shape", std::vector<int64_t>{2});
  attributes.Set("pads", std::vector<int64_t>{huge, huge});
  const auto g = PoolGeometry(attributes, Dims{1, 1, 4});
  ASSERT_FALSE(g.has_value());
}

}  // namespace
}  // namespace ebb
