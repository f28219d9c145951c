#include "tools/command_inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "tests/compiler/onnx/model_builder.h"
#include "tests/tools/process.h"

namespace ebb::tools {
namespace {

using testing::HasSubstr;

onnx::GraphProto Graph() {
  onnx::GraphProto graph;
  graph.Input("x", onnx::kFloat, {"batch", 4}).Output("y");
  graph.Initializer(onnx::TensorProto::Floats("w", {4}, {1, 2, 3, 4}));
  graph.Add(onnx::NodeProto("Add", {"x", "w"}, {"s"}));
  graph.Add(onnx::NodeProto("Relu", {"s"}, {"y"}));
  return graph;
}

TEST(CommandInspectTest, ShowsModelAndCompiledForm) {
  const TestFolderOnDisk folder;
  const std::string model = folder.Write("m.onnx", onnx::ModelOf(Graph()));
  const ProcessResult result = CallEbb({"inspect", model});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  for (const char* line :
       {"opset         ai.onnx 17\n", "input         x  f32[batch, 4]\n",
        "nodes         2\n", "initializers  1\n", "  Add           1\n",
        "  dynamic dims  batch\n", "  weights       1, 16 B\n",
        "  operators     1 Add, 1 Relu\n", "  registers     main: "}) {
    EXPECT_THAT(result.output, HasSubstr(line));
  }
  EXPECT_THAT(result.output, testing::Not(HasSubstr("Not supported")));
}

TEST(CommandInspectTest, NamesAllThatIsUnsupportedAndIsDone) {
  const TestFolderOnDisk folder;
  onnx::GraphProto graph = Graph();
  graph.Add(onnx::NodeProto("Frobnicate", {"x"}, {"p"}).Name("first"));
  graph.Add(onnx::NodeProto("Frobnicate", {"p"}, {"q"}));
  graph.Add(onnx::NodeProto("Twist", {"q"}, {"r"}).Domain("com.example"));
  const std::string model = folder.Write("m.onnx", onnx::ModelOf(graph));
  const ProcessResult text = CallEbb({"inspect", model});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.output, HasSubstr("Not supported\n"
                                     "  what               count  nodes\n"
                                     "  Frobnicate             2  first, q\n"
                                     "  com.example.Twist      1  r\n"));
  const ProcessResult json = CallEbb({"inspect", model, "--json"});
  const auto document = boost::json::parse(json.output).as_object();
  EXPECT_EQ(document.at("schema"), "ebb.inspect/1");
  EXPECT_TRUE(document.at("compiled").is_null());
  EXPECT_EQ(document.at("unsupported").as_array()[1].at("what"),
            "com.example.Twist");
}

TEST(CommandInspectTest, CompiledFilesTellTheirInterface) {
  const TestFolderOnDisk folder;
  const std::string model = folder.Write("m.onnx", onnx::ModelOf(Graph()));
  const std::string ebb = folder.File("m.ebb");
  ASSERT_EQ(CallEbb({"compile", model, "-o", ebb}).exit_code, 0);
  const ProcessResult result = CallEbb({"inspect", ebb});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("producer  ebb 0.1.0\n"));
  EXPECT_THAT(result.output, HasSubstr("opset     ai.onnx 17\n"));
  EXPECT_THAT(result.output, HasSubstr("input     x  f32[batch, 4]\n"));
}

TEST(CommandInspectTest, AModelThatDoesNotCompileIsShownAndFails) {
  const TestFolderOnDisk folder;
  onnx::GraphProto graph;
  graph.Input("x", onnx::kFloat, {2}).Output("y");
  graph.Add(onnx::NodeProto("Add", {"x"}, {"y"}).Name("lonely"));
  const std::string model = folder.Write("m.onnx", onnx::ModelOf(graph));
  const ProcessResult result = CallEbb({"inspect", model});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.output, HasSubstr("input         x  f32[2]\n"));
  EXPECT_THAT(result.errors, HasSubstr("node \"lonely\" (Add, opset 17)"));
}

TEST(CommandInspectTest, NamesThatAreNotUtf8StayJson) {
  const TestFolderOnDisk folder;
  onnx::GraphProto graph;
  graph.Input("x\xff\x01", onnx::kFloat, {2}).Output("y");
  graph.Add(onnx::NodeProto("Relu", {"x\xff\x01"}, {"y"}));
  const std::string model = folder.Write("m.onnx", onnx::ModelOf(graph));
  const ProcessResult result = CallEbb({"inspect", model, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  boost::system::error_code error;
  const auto document = boost::json::parse(result.output, error);
  ASSERT_FALSE(error) << error.message();
  EXPECT_EQ(document.at("onnx").at("inputs").as_array()[0].at("name"),
            "x\xef\xbf\xbd\x01");
}

}  // namespace
}  // namespace ebb::tools
