#include "tools/command_compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <filesystem>

#include "tests/compiler/onnx/model_builder.h"
#include "tests/tools/process.h"

namespace ebb::tools {
namespace {

using testing::HasSubstr;

std::string SmallModel() {
  onnx::GraphProto graph;
  graph.Input("x", onnx::kFloat, {"n", 4}).Output("y").Output("z");
  graph.Initializer(onnx::TensorProto::Floats("w", {4}, {1, 2, 3, 4}));
  graph.Add(onnx::NodeProto("Add", {"x", "w"}, {"y"}));
  graph.Add(onnx::NodeProto("Relu", {"x"}, {"z"}));
  return onnx::ModelOf(graph);
}

TEST(CommandCompileTest, WritesBesideTheModelAndSaysWhatIsInIt) {
  const TestFolderOnDisk folder;
  const std::string model = folder.Write("small.onnx", SmallModel());
  const ProcessResult result = CallEbb({"compile", model});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("input         x  f32[n, 4]\n"));
  EXPECT_THAT(result.output, HasSubstr("output        y  f32[n, 4]\n"));
  EXPECT_THAT(result.output, HasSubstr("operators     2  (1 Add, 1 Relu)\n"));
  EXPECT_THAT(result.output, HasSubstr("weights       16 B"));
  const ProcessResult run =
      CallEbb({"run", folder.File("small.ebb"), "--input", "x=iota:1x4"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("y  f32[1,4]  min 1, mean 4, max 7"));
}

TEST(CommandCompileTest, JsonHasTheStatedForm) {
  const TestFolderOnDisk folder;
  const std::string model = folder.Write("small.onnx", SmallModel());
  const std::string out = folder.File("out.ebb");
  const ProcessResult result = CallEbb({"compile", model, "-o", out, "--json",
                                        "--shape", "x=3x4", "--output", "z"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto document = boost::json::parse(result.output).as_object();
  EXPECT_EQ(document.at("schema"), "ebb.compile/1");
  EXPECT_EQ(document.at("file").as_string(), out);
  EXPECT_EQ(document.at("file_bytes").to_number<std::size_t>(),
            std::filesystem::file_size(out));
  EXPECT_EQ(document.at("operator_count"), 1);
  ASSERT_EQ(document.at("outputs").as_array().size(), 1U);
  EXPECT_EQ(document.at("outputs").as_array()[0].at("name"), "z");
  EXPECT_EQ(document.at("inputs").as_array()[0].at("shape"),
            (boost::json::array{3, 4}));
}

TEST(CommandCompileTest, TargetAnyIsStatedInTheFile) {
  const TestFolderOnDisk folder;
  const std::string model = folder.Write("small.onnx", SmallModel());
  const ProcessResult result =
      CallEbb({"compile", model, "--target", "any", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(boost::json::parse(result.output).at("target"), "");
}

TEST(CommandCompileTest, EqualModelsGiveEqualFiles) {
  const TestFolderOnDisk folder;
  const std::string model = folder.Write("small.onnx", SmallModel());
  ASSERT_EQ(CallEbb({"compile", model, "-o", folder.File("1")}).exit_code, 0);
  ASSERT_EQ(CallEbb({"compile", model, "-o", folder.File("2")}).exit_code, 0);
  EXPECT_EQ(folder.Read("1"), folder.Read("2"));
}

TEST(CommandCompileTest, NeverWritesOverTheModel) {
  const TestFolderOnDisk folder;
  const std::string model = folder.Write("small.onnx", SmallModel());
  const ProcessResult result = CallEbb({"compile", model, "-o", model});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("is the model itself"));
  EXPECT_EQ(folder.Read("small.onnx"), SmallModel());
}

TEST(CommandCompileTest, LeavesTheOldFileWhenItFails) {
  const TestFolderOnDisk folder;
  const std::string model = folder.Write("bad.onnx", "\x08\x07 not a model");
  const std::string out = folder.Write("out.ebb", "old");
  const ProcessResult result = CallEbb({"compile", model, "-o", out});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("bad.onnx"));
  EXPECT_EQ(folder.Read("out.ebb"), "old");
}

TEST(CommandCompileTest, SaysWhatIsNotSupported) {
  const TestFolderOnDisk folder;
  onnx::GraphProto graph;
  graph.Input("x", onnx::kFloat, {2}).Output("y");
  graph.Add(onnx::NodeProto("Frobnicate", {"x"}, {"y"}).Name("f"));
  const std::string model = folder.Write("m.onnx", onnx::ModelOf(graph));
  const ProcessResult result = CallEbb({"compile", model});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.errors,
            "ebb: " + model +
                ": operators that are not built in: Frobnicate (1 node)\n");
}

TEST(CommandCompileTest, OutputThatCannotBeWrittenIsAFailure) {
  const TestFolderOnDisk folder;
  const std::string model = folder.Write("small.onnx", SmallModel());
  const ProcessResult result =
      CallEbb({"compile", model, "-o", folder.path() + "/no/such/out.ebb"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("/no/such/out.ebb"));
}

TEST(CommandCompileTest, WrongShapesNameTheInput) {
  const TestFolderOnDisk folder;
  const std::string model = folder.Write("small.onnx", SmallModel());
  for (const auto& [shape, message] :
       std::vector<std::pair<std::string, std::string>>{
           {"x=3", "input \"x\": has 2 dims, the shape given has 1"},
           {"x=3x5",
            "input \"x\": dim 1 is 4 in the model, 5 in the shape given"},
           {"q=1", "the model has no input \"q\""}}) {
    const ProcessResult result = CallEbb({"compile", model, "--shape", shape});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.errors, "ebb: " + model + ": " + message + "\n");
  }
}

}  // namespace
}  // namespace ebb::tools
