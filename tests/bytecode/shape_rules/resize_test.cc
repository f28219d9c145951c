#include "bytecode/shape_rules/resize.h"

#include <gtest/gtest.h>

#include "tests/bytecode/shape_rules/rule_runner.h"

namespace ebb {
namespace {

TEST(ResizeRule, Scales) {
  EXPECT_EQ(Infer("resize", "", "f32[1,1,2,2] - f32[4]={1,1,2,3}"),
            "f32[1,1,4,6]");
  EXPECT_EQ(
      Infer("resize", "mode='linear'", "f32[1,1,2,4] - f32[4]={1,1,0.6,0.6}"),
      "f32[1,1,1,2]");
  // In f32, as exporters have it: 10 * 0.7f is 7.
  EXPECT_EQ(Infer("resize", "", "f32[10] - f32[1]={0.699999988}"), "f32[7]");
  EXPECT_EQ(Infer("resize", "axes=[3,2]", "f32[1,1,2,4] - f32[2]={2,3}"),
            "f32[1,1,6,8]");
  EXPECT_EQ(Infer("resize", "", "f32[n,c,h,w] - f32[4]={1,1,2,0.5}"),
            "f32[n,c,2*h,floor((w)/2)]");
  EXPECT_EQ(Infer("resize", "", "f32[h] - f32[1]={0.3}"), "f32[?]");
  EXPECT_EQ(Infer("resize", "", "f32[2,3] - f32[2]"), "f32[?,?]");
}

TEST(ResizeRule, Sizes) {
  EXPECT_EQ(Infer("resize", "", "f32[1,1,2,2] - - i64[4]={1,1,7,8}"),
            "f32[1,1,7,8]");
  EXPECT_EQ(Infer("resize", "", "f32[1,1,2,2] - f32[0] i64[4]={1,1,7,8}"),
            "f32[1,1,7,8]");
  EXPECT_EQ(Infer("resize", "", "f32[n,2] - - i64[2]={n,m}"), "f32[n,m]");
  EXPECT_EQ(Infer("resize", "keep_aspect_ratio_policy='not_larger' axes=[2,3]",
                  "f32[1,1,2,4] - - i64[2]={7,8}"),
            "f32[1,1,4,8]");
  EXPECT_EQ(Infer("resize", "keep_aspect_ratio_policy='not_smaller' axes=[2,3]",
                  "f32[1,1,2,4] - - i64[2]={7,8}"),
            "f32[1,1,7,14]");
}

TEST(ResizeRule, CropsToTheRegion) {
  EXPECT_EQ(
      Infer("resize", "coordinate_transformation_mode='tf_crop_and_resize'",
            "f32[4] f32[2]={0.25,0.75} f32[1]={3}"),
      "f32[6]");
  EXPECT_EQ(
      Infer("resize", "coordinate_transformation_mode='tf_crop_and_resize'",
            "f32[4] - f32[1]={3}"),
      "error: Resize: roi is missing");
}

TEST(ResizeRule, Errors) {
  EXPECT_EQ(Infer("resize", "", "f32[4]"),
            "error: Resize: neither scales nor sizes are given");
  EXPECT_EQ(Infer("resize", "", "f32[4] - f32[1]={2} i64[1]={8}"),
            "error: Resize: both scales and sizes are given");
  EXPECT_EQ(Infer("resize", "", "f32[4] - f32[1]={-2}"),
            "error: Resize: scale -2.000000 is not positive");
  EXPECT_EQ(Infer("resize", "", "f32[4] - f32[2]={2,2}"),
            "error: Resize: input 2 has 2 entries, expected 1");
  EXPECT_EQ(Infer("resize", "mode='area'", "f32[4] - f32[1]={2}"),
            "error: Resize: mode 'area' is unknown");
  EXPECT_EQ(Infer("resize", "antialias=1", "f32[4] - f32[1]={2}"),
            "error: Resize: antialias does not go with mode 'nearest'");
  EXPECT_EQ(Infer("resize", "", "f32[0] - - i64[1]={2}"),
            "error: Resize: cannot resize 0 elements of axis 0 to 2");
  EXPECT_EQ(Infer("resize", "", "f32[4] - f32[1]={1e30}"),
            "error: Resize: 4 elements scaled by "
            "1000000000000000019884624838656.000000 do not fit int64");
}

TEST(ResolveResize, GivesTheScaleOfTheTransformation) {
  Attributes attributes;
  attributes.Set("keep_aspect_ratio_policy", std::string("not_larger"));
  const Dims sizes = {7, 8};
  const auto g = ResolveResize(attributes, Dims{2, 4}, std::nullopt,
                               std::nullopt, DimSpan(sizes));
  ASSERT_TRUE(g.has_value()) << g.error().message;
  EXPECT_EQ(g->axes[0].output, 4);
  EXPECT_EQ(g->axes[0].scale, 2.0);
  EXPECT_EQ(g->axes[1].scale, 2.0);
}

}  // namespace
}  // namespace ebb
