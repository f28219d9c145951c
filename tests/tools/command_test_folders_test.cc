#include "tools/command_test_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "tests/compiler/onnx/model_builder.h"
#include "tests/tools/process.h"

namespace ebb::tools {
namespace {

using onnx::TensorProto;
using testing::EndsWith;
using testing::HasSubstr;

class CommandTestFoldersTest : public testing::Test {
 protected:
  // y = x + x over f32[2]; z = Gather(x, i) where `gathers`.
  std::string Model(bool gathers = false) {
    onnx::GraphProto graph;
    graph.Input("x", onnx::kFloat, {2}).Output("y");
    if (gathers) {
      graph.Input("i", onnx::kInt64, {1});
      graph.Add(onnx::NodeProto("Gather", {"x", "i"}, {"y"}));
    } else {
      graph.Add(onnx::NodeProto("Add", {"x", "x"}, {"y"}));
    }
    return onnx::ModelOf(graph);
  }

  void Floats(const std::string& file, const std::vector<float>& values) {
    folder_.Write(file, TensorProto::Floats(
                            file.find("input") != std::string::npos ? "x" : "y",
                            {static_cast<int64_t>(values.size())}, values)
                            .bytes());
  }
  void Index(const std::string& file, int64_t index) {
    folder_.Write(file, TensorProto::Ints("i", {index}).bytes());
  }

  void MakePassing(const std::string& name) {
    folder_.Write(name + "/model.onnx", Model());
    Floats(name + "/test_data_set_0/input_0.pb", {1, 2});
    Floats(name + "/test_data_set_0/output_0.pb", {2, 4});
  }

  ProcessResult Test(std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"test", folder_.path()});
    return CallEbb(options);
  }

  TestFolderOnDisk folder_;
};

TEST_F(CommandTestFoldersTest, ALineAFolderAndTheSumLast) {
  MakePassing("a");
  MakePassing("b");
  Floats("b/test_data_set_0/output_0.pb", {2, 5});
  folder_.Write("c/model.onnx", [] {
    onnx::GraphProto graph;
    graph.Output("y").Add(onnx::NodeProto("Frobnicate", {}, {"y"}));
    return onnx::ModelOf(graph);
  }());
  const ProcessResult result = Test({"--jobs", "2"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output,
            "pass  " + folder_.path() + "/a\nFAIL  " + folder_.path() +
                "/b: test_data_set_0: output \"y\": 1 of 2 elements differs, "
                "the first at [1]: 4, expected 5; the largest difference is "
                "1\nskip  " +
                folder_.path() +
                "/c: not built in: Frobnicate\n1 passed, 1 failed, 1 "
                "skipped\n");
}

TEST_F(CommandTestFoldersTest, ToleranceMayBeGivenByOptionOrFile) {
  MakePassing("a");
  Floats("a/test_data_set_0/output_0.pb", {2, 4.5F});
  EXPECT_EQ(Test().exit_code, 1);
  EXPECT_EQ(Test({"--atol", "0.6"}).exit_code, 0);
  EXPECT_EQ(Test({"--rtol", "0.2"}).exit_code, 0);
  const std::string file = folder_.Write(
      "t.json",
      R"({"models": [{"id": "a", "rtol": 0, "output_atol": {"y": 0.5}}]})");
  EXPECT_EQ(Test({"--tolerances", file}).exit_code, 0);
  EXPECT_EQ(Test({"--rtol", "-1"}).exit_code, 2);
}

TEST_F(CommandTestFoldersTest, SetsRunInTheOrderOfTheirNumbers) {
  MakePassing("a");
  Floats("a/test_data_set_10/input_0.pb", {1, 2, 3});
  Floats("a/test_data_set_2/input_0.pb", {3, 4});
  Floats("a/test_data_set_2/output_0.pb", {0, 0});
  const ProcessResult result = Test();
  EXPECT_THAT(result.output, HasSubstr("test_data_set_2: output \"y\""));
}

TEST_F(CommandTestFoldersTest, ASetWithoutOutputsOnlyHasToRun) {
  folder_.Write("a/model.onnx", Model());
  Floats("a/test_data_set_0/input_0.pb", {1, 2});
  EXPECT_EQ(Test().exit_code, 0);
}

TEST_F(CommandTestFoldersTest, NothingRunIsAFailure) {
  EXPECT_EQ(Test().output,
            "skip  " + folder_.path() +
                ": no model.onnx or model.ebb\n0 passed, 0 failed, 1 "
                "skipped\n");
  EXPECT_EQ(Test().exit_code, 1);
}

TEST_F(CommandTestFoldersTest, RejectionsAreAskedFor) {
  folder_.Write("bad/model.onnx", "nonsense");
  folder_.Write("bad/expect.txt", "must be rejected with a clear error\n");
  EXPECT_EQ(Test().exit_code, 0) << Test().output;
  folder_.Write("bad/model.onnx", Model());
  Floats("bad/test_data_set_0/input_0.pb", {1, 2});
  const ProcessResult accepted = Test();
  EXPECT_EQ(accepted.exit_code, 1);
  EXPECT_THAT(accepted.output, HasSubstr("was accepted"));
  folder_.Write("bad/expect.txt", "should be fine\n");
  EXPECT_THAT(Test().output, HasSubstr("expect.txt: the first line is"));
}

TEST_F(CommandTestFoldersTest, RunsMayHaveToBeRejectedAndTheModelLivesOn) {
  folder_.Write("g/model.onnx", Model(/*gathers=*/true));
  folder_.Write("g/expect.txt", "the run must be rejected\n");
  for (const char* set : {"test_data_set_0", "test_data_set_1"}) {
    Floats(std::string("g/") + set + "/input_0.pb", {1, 2});
    Index(std::string("g/") + set + "/input_1.pb", 7);
  }
  EXPECT_EQ(Test().exit_code, 0) << Test().output;
  // A set with outputs has to run, between the others.
  Index("g/test_data_set_1/input_1.pb", -1);
  Floats("g/test_data_set_1/output_0.pb", {2});
  EXPECT_EQ(Test().exit_code, 0) << Test().output;
  Index("g/test_data_set_0/input_1.pb", 1);
  EXPECT_THAT(Test().output,
              HasSubstr("test_data_set_0: was accepted, but the run must be "
                        "rejected"));
}

TEST_F(CommandTestFoldersTest, WrongDtypeAndShapeAreDifferences) {
  MakePassing("a");
  folder_.Write(
      "a/test_data_set_0/output_0.pb",
      TensorProto("y", onnx::kFloat, {2, 1}).Raw(std::string(8, '\0')).bytes());
  EXPECT_THAT(Test().output, HasSubstr("is f32[2], expected f32[2,1]"));
  folder_.Write("a/test_data_set_0/output_0.pb",
                TensorProto::Ints("y", {2, 4}).bytes());
  EXPECT_THAT(Test().output, HasSubstr("is f32[2], expected i64[2]"));
}

TEST_F(CommandTestFoldersTest, DataThatContradictsItsModelIsTheCasesFault) {
  MakePassing("a");
  Floats("a/test_data_set_0/input_0.pb", {1, 2, 3});
  EXPECT_THAT(Test().output,
              HasSubstr("does not fit its own model: input \"x\" is f32[3], "
                        "declared f32[2]"));
}

TEST_F(CommandTestFoldersTest, CompiledModelsAndCompileOptionsWorkToo) {
  MakePassing("a");
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{
           {"--via-ebb"},
           {"--no-kill"},
           {"--via-ebb", "--no-kill", "--threads", "2"},
           {"--backend", "portable", "--allocator", "naive"},
           {"--no-fold", "--no-cse", "--no-pack"}}) {
    EXPECT_EQ(Test(options).exit_code, 0) << options[0];
  }
  ASSERT_EQ(CallEbb({"compile", folder_.path() + "/a/model.onnx", "-o",
                     folder_.File("b/model.ebb")})
                .exit_code,
            0);
  Floats("b/test_data_set_0/input_0.pb", {1, 2});
  Floats("b/test_data_set_0/output_0.pb", {2, 4});
  const ProcessResult result = Test();
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, EndsWith("2 passed, 0 failed, 0 skipped\n"));
}

TEST_F(CommandTestFoldersTest, DamagedDataNamesItsFile) {
  MakePassing("a");
  folder_.Write("a/test_data_set_0/output_0.pb", "\x0a\xff");
  EXPECT_THAT(Test().output, HasSubstr("a/test_data_set_0/output_0.pb"));
}

TEST_F(CommandTestFoldersTest, JsonHasTheStatedForm) {
  MakePassing("a");
  const ProcessResult result = Test({"--json"});
  const auto document = boost::json::parse(result.output).as_object();
  EXPECT_EQ(document.at("schema"), "ebb.test/1");
  EXPECT_EQ(document.at("passed"), 1);
  const auto& one = document.at("cases").as_array()[0].as_object();
  EXPECT_EQ(one.at("result"), "passed");
  EXPECT_EQ(one.at("folder").as_string(), folder_.path() + "/a");
}

}  // namespace
}  // namespace ebb::tools
