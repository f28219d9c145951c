// Forms that operators had in older opsets, and what they become.
#include <gtest/gtest.h>

#include <string>

#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/onnx/import.h"
#include "compiler/onnx/reader.h"
#include "tests/compiler/onnx/model_builder.h"

namespace ebb::onnx {
namespace {

// One node, named "n", over inputs x: f32[n, 3, 8, 8] and v: f32[3] and a few
// small weights; its result is y. Gives the text of the function's body
// without bindings of constants and without types, or the error.
std::string Form(NodeProto node, int64_t opset) {
  GraphProto graph;
  graph.Input("x", kFloat, {"n", 3, 8, 8}).Input("v", kFloat, {3});
  graph.Initializer(TensorProto::Floats("f", {}, {0.5F}));
  graph.Initializer(TensorProto::Floats("scales", {4}, {1, 1, 2, 2}));
  graph.Initializer(TensorProto::Floats("none", {0}, {}));
  graph.Initializer(TensorProto::Ints("ones", {1}));
  graph.Initializer(TensorProto::Ints("pads", {0, 0, 1, 1, 0, 0, 1, 1}));
  graph.Add(node.Name("n")).Output("y");
  const std::string bytes = ModelOf(graph, opset);
  const auto model = ReadModel(AsBytes(bytes));
  if (!model.has_value()) return model.error().ToString();
  const auto module = ImportModel(*model, "", {});
  if (!module.has_value()) return module.error().ToString();
  const Status status = ir::Verify(*module);
  EXPECT_TRUE(status.has_value()) << status.error().ToString();
  const std::string text = ir::Print(*module);
  std::string body;
  std::size_t at = text.find("func @main");
  at = text.find('\n', at) + 1;
  while (at < text.size() && text[at] == ' ') {
    const std::size_t end = text.find('\n', at);
    std::string line = text.substr(at + 2, end - at - 2);
    // Types and nodes are not what this is about.
    if (const auto type = line.find(" : "); type != line.npos)
      line.resize(type);
    if (line.find("= constant") == line.npos) body += line + "\n";
    at = end + 1;
  }
  return body;
}

TEST(OpsetFormsTest, BroadcastBeforeOpset7LinesUpFromTheAxis) {
  EXPECT_EQ(Form(NodeProto("Add", {"x", "v"}, {"y"})
                     .Int("broadcast", 1)
                     .Int("axis", 1),
                 6),
            "%y_unsqueeze = unsqueeze %v, %axes\n"
            "%y = add %x, %y_unsqueeze\n"
            "return %y\n");
  EXPECT_EQ(Form(NodeProto("Mul", {"x", "f"}, {"y"}).Int("broadcast", 1), 6),
            "%y = mul %x, %f\nreturn %y\n");
  EXPECT_EQ(Form(NodeProto("Add", {"x", "v"}, {"y"})
                     .Int("broadcast", 1)
                     .Int("axis", 4),
                 6),
            "node \"n\" (Add, opset 6): axis 4 does not place 1 dims in 4");
  EXPECT_EQ(Form(NodeProto("Add", {"x", "f"}, {"y"}).Int("axis", 1), 7),
            "node \"n\" (Add, opset 7): has an attribute \"axis\" that the "
            "operator does not know");
}

TEST(OpsetFormsTest, ClipHadItsBoundsAsAttributes) {
  EXPECT_EQ(Form(NodeProto("Clip", {"x"}, {"y"}).Float("max", 6), 6),
            "%y = clip %x, _, %max\nreturn %y\n");
  EXPECT_EQ(Form(NodeProto("Clip", {"x"}, {"y"}), 6),
            "%y = clip %x\nreturn %y\n");
  EXPECT_EQ(Form(NodeProto("Clip", {"x", "", "f"}, {"y"}), 11),
            "%y = clip %x, _, %f\nreturn %y\n");
  EXPECT_EQ(Form(NodeProto("Clip", {"x"}, {"y"}).Float("min", 0), 11),
            "node \"n\" (Clip, opset 11): has an attribute \"min\" that the "
            "operator does not know");
}

TEST(OpsetFormsTest, PadHadItsPadsAsAttributes) {
  EXPECT_EQ(Form(NodeProto("Pad", {"x"}, {"y"})
                     .Ints("pads", {0, 0, 1, 1, 0, 0, 1, 1})
                     .Float("value", 2),
                 2),
            "%y = pad %x, %pads_1, %value {mode=\"constant\"}\nreturn %y\n");
  EXPECT_EQ(
      Form(NodeProto("Pad", {"x", "pads"}, {"y"}).String("mode", "edge"), 11),
      "%y = pad %x, %pads {mode=\"edge\"}\nreturn %y\n");
  EXPECT_EQ(Form(NodeProto("Pad", {"x"}, {"y"}), 2),
            "node \"n\" (Pad, opset 2): needs pads");
}

TEST(OpsetFormsTest, SliceHadItsPlacesAsAttributes) {
  EXPECT_EQ(Form(NodeProto("Slice", {"x"}, {"y"})
                     .Ints("starts", {1})
                     .Ints("ends", {3})
                     .Ints("axes", {2}),
                 9),
            "%y = slice %x, %starts, %ends, %axes\nreturn %y\n");
  EXPECT_EQ(Form(NodeProto("Slice", {"x"}, {"y"}).Ints("starts", {1}), 9),
            "node \"n\" (Slice, opset 9): needs starts and ends");
  EXPECT_EQ(Form(NodeProto("Slice", {"x"}, {"y"}), 10),
            "node \"n\" (Slice, opset 10): needs at least 3 inputs, has 1");
}

TEST(OpsetFormsTest, SqueezeHadItsAxesAsAttribute) {
  EXPECT_EQ(Form(NodeProto("Unsqueeze", {"x"}, {"y"}).Ints("axes", {0}), 11),
            "%y = unsqueeze %x, %axes\nreturn %y\n");
  EXPECT_EQ(Form(NodeProto("Unsqueeze", {"x", "ones"}, {"y"}), 13),
            "%y = unsqueeze %x, %ones\nreturn %y\n");
  EXPECT_EQ(
      Form(NodeProto("Unsqueeze", {"x", "ones"}, {"y"}).Ints("axes", {0}), 13),
      "node \"n\" (Unsqueeze, opset 13): has axes as attribute and as "
      "input");
  EXPECT_EQ(Form(NodeProto("Unsqueeze", {"x"}, {"y"}), 13),
            "node \"n\" (Unsqueeze, opset 13): needs axes");
}

TEST(OpsetFormsTest, ReduceHadItsAxesAsAttribute) {
  EXPECT_EQ(Form(NodeProto("ReduceMean", {"x"}, {"y"}).Ints("axes", {-1}), 13),
            "%y = reduce_mean %x, %axes {keepdims=1, noop_with_empty_axes=0}\n"
            "return %y\n");
  EXPECT_EQ(Form(NodeProto("ReduceSum", {"x", "ones"}, {"y"})
                     .Int("keepdims", 0)
                     .Int("noop_with_empty_axes", 1),
                 13),
            "%y = reduce_sum %x, %ones {keepdims=0, noop_with_empty_axes=1}\n"
            "return %y\n");
  EXPECT_EQ(
      Form(NodeProto("ReduceSum", {"x", "ones"}, {"y"}).Ints("axes", {1}), 13),
      "node \"n\" (ReduceSum, opset 13): has axes twice");
}

TEST(OpsetFormsTest, SoftmaxFlattenedBeforeOpset13) {
  EXPECT_EQ(Form(NodeProto("Softmax", {"x"}, {"y"}), 11),
            "%y_shape_of = shape_of %x\n"
            "%y_flatten = flatten %x {axis=1}\n"
            "%y_softmax = softmax %y_flatten {axis=1}\n"
            "%y = reshape %y_softmax, %y_shape_of {allowzero=1}\n"
            "return %y\n");
  EXPECT_EQ(Form(NodeProto("Softmax", {"x"}, {"y"}).Int("axis", 3), 11),
            "%y = softmax %x {axis=-1}\nreturn %y\n");
  EXPECT_EQ(Form(NodeProto("Softmax", {"x"}, {"y"}).Int("axis", 1), 13),
            "%y = softmax %x {axis=1}\nreturn %y\n");
  EXPECT_EQ(Form(NodeProto("Softmax", {"x"}, {"y"}).Int("axis", 5), 11),
            "node \"n\" (Softmax, opset 11): axis 5 is outside a rank of 4");
}

TEST(OpsetFormsTest, PReluSlopeOfOneDimWentAlongTheChannels) {
  EXPECT_EQ(Form(NodeProto("PRelu", {"x", "v"}, {"y"}), 6),
            "%y_unsqueeze = unsqueeze %v, %axes\n"
            "%y = prelu %x, %y_unsqueeze\nreturn %y\n");
}

TEST(OpsetFormsTest, UpsampleBecomesResize) {
  const std::string mode =
      " {coordinate_transformation_mode=\"asymmetric\", "
      "mode=\"nearest\", nearest_mode=\"floor\"}\nreturn %y\n";
  EXPECT_EQ(
      Form(NodeProto("Upsample", {"x"}, {"y"}).Floats("scales", {1, 1, 2, 2}),
           7),
      "%y = resize %x, _, %scales_1" + mode);
  EXPECT_EQ(Form(NodeProto("Upsample", {"x", "scales"}, {"y"}), 9),
            "%y = resize %x, _, %scales" + mode);
  EXPECT_EQ(Form(NodeProto("Upsample", {"x"}, {"y"}), 9),
            "node \"n\" (Upsample, opset 9): needs scales");
}

TEST(OpsetFormsTest, ResizeTakesEmptyListsForAbsentOnes) {
  EXPECT_EQ(Form(NodeProto("Resize", {"x", "none", "scales"}, {"y"}), 13),
            "%y = resize %x, _, %scales {mode=\"nearest\"}\nreturn %y\n");
  EXPECT_EQ(
      Form(NodeProto("Resize", {"x", "scales"}, {"y"}), 10),
      "%y = resize %x, _, %scales {coordinate_transformation_mode="
      "\"asymmetric\", mode=\"nearest\", nearest_mode=\"floor\"}\nreturn %y\n");
}

TEST(OpsetFormsTest, SplitCountsItsResults) {
  EXPECT_EQ(Form(NodeProto("Split", {"x"}, {"y", "z"})
                     .Int("axis", 2)
                     .Ints("split", {2, 6}),
                 11),
            "%y, %z = split %x, %split {axis=2}\nreturn %y\n");
  EXPECT_EQ(
      Form(NodeProto("Split", {"x"}, {"y", "z"}).Int("num_outputs", 3), 18),
      "node \"n\" (Split, opset 18): num_outputs is 3, the node names 2 "
      "results");
}

TEST(OpsetFormsTest, DropoutGivesItsInputAndAFullMask) {
  EXPECT_EQ(Form(NodeProto("Dropout", {"x"}, {"y"}).Float("ratio", 0.5F), 10),
            "return %x\n");
  const std::string mask = Form(NodeProto("Dropout", {"x"}, {"a", "y"}), 12);
  EXPECT_EQ(mask,
            "%a_shape_of = shape_of %x\n"
            "%y = full %a_shape_of, %one\nreturn %y\n");
  EXPECT_EQ(Form(NodeProto("Dropout", {"x"}, {"y"}).Int("is_test", 0), 6),
            "node \"n\" (Dropout, opset 6): Dropout in training mode");
}

TEST(OpsetFormsTest, BatchNormalizationIgnoresOldAttributes) {
  const std::vector<std::string> inputs = {"x", "v", "v", "v", "v"};
  const std::string result =
      "%y = batch_normalization %x, %v, %v, %v, %v {epsilon=1e-05}\nreturn "
      "%y\n";
  EXPECT_EQ(Form(NodeProto("BatchNormalization", inputs, {"y"})
                     .Float("momentum", 0.1F)
                     .Int("spatial", 1),
                 7),
            result);
  EXPECT_EQ(
      Form(NodeProto("BatchNormalization", inputs, {"y"}).Int("spatial", 0), 7),
      "node \"n\" (BatchNormalization, opset 7): BatchNormalization with "
      "spatial=0");
}

TEST(OpsetFormsTest, VariadicOperatorsBecomeChains) {
  EXPECT_EQ(Form(NodeProto("Sum", {"x", "f", "x"}, {"y"}), 8),
            "%y_add = add %x, %f\n%y = add %y_add, %x\nreturn %y\n");
  EXPECT_EQ(Form(NodeProto("Max", {"x"}, {"y"}), 8), "return %x\n");
  EXPECT_EQ(Form(NodeProto("Mean", {"x", "f"}, {"y"}), 8),
            "%y_add = add %x, %f\n%y = div %y_add, %count\nreturn %y\n");
}

TEST(OpsetFormsTest, ConstantsInAllForms) {
  EXPECT_EQ(Form(NodeProto("Constant", {}, {"y"}).Float("value_float", 1), 12),
            "return %y\n");
  EXPECT_EQ(Form(NodeProto("Constant", {}, {"y"}).Ints("value_ints", {1}), 12),
            "return %y\n");
  EXPECT_EQ(Form(NodeProto("Constant", {}, {"y"})
                     .Tensor("value", TensorProto("", kFloat, {2})),
                 12),
            "node \"n\" (Constant, opset 12): tensor \"\": holds 0 bytes, "
            "f32[2] needs 8");
  EXPECT_EQ(
      Form(NodeProto("Constant", {}, {"y"}).String("value_string", "a"), 12),
      "node \"n\" (Constant, opset 12): Constant with value_string");
  EXPECT_EQ(Form(NodeProto("Constant", {}, {"y"}), 12),
            "node \"n\" (Constant, opset 12): has no value");
  EXPECT_EQ(Form(NodeProto("ConstantOfShape", {"ones"}, {"y"})
                     .Tensor("value", TensorProto::Floats("", {2}, {1, 2})),
                 9),
            "node \"n\" (ConstantOfShape, opset 9): value holds 2 elements, "
            "not one");
}

TEST(OpsetFormsTest, CastNamesTheType) {
  EXPECT_EQ(Form(NodeProto("Cast", {"x"}, {"y"}).Int("to", kFloat), 13),
            "return %x\n");
  EXPECT_EQ(Form(NodeProto("Cast", {"x"}, {"y"}).Int("to", 99), 13),
            "node \"n\" (Cast, opset 13): casts to element type 99");
}

TEST(OpsetFormsTest, GlobalPoolsReduceAllSpatialDims) {
  EXPECT_EQ(Form(NodeProto("GlobalAveragePool", {"x"}, {"y"}), 1),
            "%y = reduce_mean %x, %axes\nreturn %y\n");
  EXPECT_EQ(Form(NodeProto("GlobalMaxPool", {"v"}, {"y"}), 1),
            "node \"n\" (GlobalMaxPool, opset 1): needs a rank of at least 2, "
            "the input has 1");
}

TEST(OpsetFormsTest, RequiredAttributesAreNamed) {
  EXPECT_EQ(Form(NodeProto("MaxPool", {"x"}, {"y"}), 12),
            "node \"n\" (MaxPool, opset 12): needs the attribute kernel_shape");
  EXPECT_EQ(Form(NodeProto("Concat", {"x"}, {"y"}), 12),
            "node \"n\" (Concat, opset 12): needs the attribute axis");
  EXPECT_NE(Form(NodeProto("LRN", {"x"}, {"y"}), 12).find("size"),
            std::string::npos);
}

TEST(OpsetFormsTest, ShapeErrorsNameNodeOperatorAndOpset) {
  const std::string error = Form(NodeProto("MatMul", {"x", "v"}, {"y"}), 13);
  EXPECT_TRUE(error.starts_with("node \"n\" (MatMul, opset 13): ")) << error;
}

}  // namespace
}  // namespace ebb::onnx
