#include "tools/command_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstring>

#include "tests/compiler/onnx/model_builder.h"
#include "tests/tools/process.h"
#include "tools/npy.h"
#include "tools/picture.h"

namespace ebb::tools {
namespace {

using testing::HasSubstr;

class CommandRunTest : public testing::Test {
 protected:
  // y = x + x, for x of f32[n, 3]; c = Cast(x) to int32.
  std::string Model() {
    onnx::GraphProto graph;
    graph.Input("x", onnx::kFloat, {"n", 3}).Output("y").Output("a/b");
    graph.Add(onnx::NodeProto("Add", {"x", "x"}, {"y"}));
    graph.Add(onnx::NodeProto("Cast", {"x"}, {"a/b"}).Int("to", onnx::kInt32));
    return folder_.Write("m.onnx", onnx::ModelOf(graph));
  }

  std::string Npy(const std::string& name, const std::vector<float>& values,
                  std::vector<int64_t> dims) {
    HostTensor tensor = HostTensor::Make(DType::kF32, std::move(dims)).value();
    std::memcpy(tensor.bytes().data(), values.data(), tensor.bytes().size());
    const std::string path = folder_.File(name);
    EXPECT_TRUE(WriteNpy(path, tensor.View()).has_value());
    return path;
  }

  TestFolderOnDisk folder_;
};

TEST_F(CommandRunTest, SumsUpEveryOutput) {
  const std::string npy = Npy("x.npy", {1, -2, 3}, {1, 3});
  const ProcessResult result = CallEbb({"run", Model(), "--input", "x=" + npy});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output,
            "y    f32[1,3]  min -4, mean 1.333333, max 6, first 2 -4 6\n"
            "a/b  i32[1,3]  min -2, mean 0.6666667, max 3, first 1 -2 3\n");
}

TEST_F(CommandRunTest, TheNameOfTheOnlyInputMayBeLeftOut) {
  const std::string npy = Npy("x.npy", {1, -2, 3}, {1, 3});
  EXPECT_EQ(CallEbb({"run", Model(), "--input", npy}).exit_code, 0);
}

TEST_F(CommandRunTest, WritesNpyFilesUnderSafeNames) {
  const ProcessResult result =
      CallEbb({"run", Model(), "--input", "x=iota:2x3", "--output-dir",
               folder_.path() + "/out/deep"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, folder_.path() + "/out/deep/y.npy\n" +
                               folder_.path() + "/out/deep/a_b.npy\n");
  const auto y = ReadNpy(folder_.path() + "/out/deep/y.npy");
  ASSERT_TRUE(y.has_value()) << y.error().ToString();
  float values[6];
  ASSERT_EQ(y->bytes().size(), sizeof values);
  std::memcpy(values, y->bytes().data(), sizeof values);
  EXPECT_THAT(values, testing::ElementsAre(0, 2, 4, 6, 8, 10));
}

TEST_F(CommandRunTest, ReadsPbAndRaw) {
  const std::string pb = folder_.Write(
      "x.pb", onnx::TensorProto::Floats("x", {1, 3}, {1, -2, 3}).bytes());
  const ProcessResult from_pb = CallEbb({"run", Model(), "-i", "x=" + pb});
  EXPECT_EQ(from_pb.exit_code, 0) << from_pb.errors;
  const float values[] = {1, -2, 3};
  std::string bytes(sizeof values, '\0');
  std::memcpy(bytes.data(), values, sizeof values);
  const std::string raw = folder_.Write("x.bin", bytes);
  const ProcessResult from_raw =
      CallEbb({"run", Model(), "-i", "x=" + raw, "--shape", "x=1x3"});
  EXPECT_EQ(from_raw.exit_code, 0) << from_raw.errors;
  EXPECT_EQ(from_raw.output, from_pb.output);
  const ProcessResult wrong =
      CallEbb({"run", Model(), "-i", "x=" + raw, "--shape", "x=2x3"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.errors,
              HasSubstr("x.bin: holds 12 bytes, f32[2,3] needs 24"));
}

TEST_F(CommandRunTest, RandomInputsFollowTheSeed) {
  const std::string model = Model();
  const auto run = [&](const std::string& seed) {
    return CallEbb({"run", model, "--shape", "x=2x3", "--fill", "random",
                    "--seed", seed})
        .output;
  };
  EXPECT_EQ(run("7"), run("7"));
  EXPECT_NE(run("7"), run("8"));
}

TEST_F(CommandRunTest, MissingInputsAreNamedWithTheirTypes) {
  const std::string model = Model();
  const ProcessResult result = CallEbb({"run", model});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.errors,
            "ebb: " + model +
                ": inputs: not given: x (f32[n, 3]); use --input NAME=FILE, "
                "or --fill random for all\n");
}

TEST_F(CommandRunTest, OpenDimsNeedASize) {
  const std::string model = Model();
  const ProcessResult result = CallEbb({"run", model, "--fill", "ones"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors,
              HasSubstr("input \"x\" (f32[n, 3]): dim 0 is unknown: give "
                        "sizes with --shape x="));
}

TEST_F(CommandRunTest, WrongInputsAreRefused) {
  const std::string model = Model();
  const std::string npy = Npy("x.npy", {1, -2, 3, 4}, {1, 4});
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"-i", "x=" + npy}, "f32[1,4]"},
      {{"-i", "q=" + npy}, "names no input; the model has: x (f32[n, 3])"},
      {{"-i", "x=" + npy, "-i", "x=" + npy}, "is given twice"},
      {{"-i", "x=" + folder_.File("no.npy")}, "no.npy: cannot open"},
      {{"-i", "x=" + folder_.Write("bad.npy", "?")}, "bad.npy: not a npy file"},
      {{"-i", "x=" + folder_.Write("bad.pb", "\x0a")}, "bad.pb"},
      {{"--fill", "ones", "--shape", "z=1"}, "the model has no input \"z\""},
  };
  for (const auto& [words, message] : cases) {
    std::vector<std::string> all = {"run", model};
    all.insert(all.end(), words.begin(), words.end());
    const ProcessResult result = CallEbb(all);
    EXPECT_GT(result.exit_code, 0) << message;
    EXPECT_THAT(result.errors, HasSubstr(message));
    EXPECT_EQ(result.output, "");
  }
}

TEST_F(CommandRunTest, TooLittleMemoryIsAFailureThatNamesValues) {
  const ProcessResult result =
      CallEbb({"run", Model(), "--input", "x=ones:100000x3", "--memory-limit",
               "100KiB"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("102400"));
}

TEST_F(CommandRunTest, AllocatorsAndThreadsGiveTheSameNumbers) {
  const std::string model = Model();
  const auto run = [&](const std::string& option, const std::string& value) {
    return CallEbb({"run", model, "--input", "x=random:5x3", option, value})
        .output;
  };
  const std::string expected = run("--allocator", "pool");
  EXPECT_THAT(expected, HasSubstr("f32[5,3]"));
  EXPECT_EQ(run("--allocator", "naive"), expected);
  EXPECT_EQ(run("--allocator", "size-bucket"), expected);
  EXPECT_EQ(run("--threads", "2"), expected);
  EXPECT_EQ(run("--backend", "portable"), expected);
}

TEST_F(CommandRunTest, StatsAndJsonTellTimesAndMemory) {
  const std::string model = Model();
  const ProcessResult text = CallEbb(
      {"run", model, "--input", "x=ones:2x3", "--stats", "--runs", "3"});
  EXPECT_THAT(text.output, HasSubstr("\nruns              3\n"));
  EXPECT_THAT(text.output, HasSubstr("\nlive peak "));
  const ProcessResult json =
      CallEbb({"run", model, "--input", "x=ones:2x3", "--json", "--runs", "3"});
  ASSERT_EQ(json.exit_code, 0) << json.errors;
  const auto document = boost::json::parse(json.output).as_object();
  EXPECT_EQ(document.at("schema"), "ebb.run/1");
  EXPECT_EQ(document.at("run_ms").as_array().size(), 3U);
  const auto& output = document.at("outputs").as_array()[0].as_object();
  EXPECT_EQ(output.at("name"), "y");
  EXPECT_EQ(output.at("dtype"), "f32");
  EXPECT_EQ(output.at("shape"), (boost::json::array{2, 3}));
  EXPECT_EQ(output.at("mean"), 2.0);
}

TEST_F(CommandRunTest, TakesPictures) {
  onnx::GraphProto graph;
  graph.Input("image", onnx::kFloat, {1, 3, 2, 4}).Output("y");
  graph.Add(onnx::NodeProto("Identity", {"image"}, {"y"}));
  const std::string model = folder_.Write("picture.onnx", onnx::ModelOf(graph));
  Picture picture;
  picture.width = 4;
  picture.height = 2;
  picture.rgb.assign(24, 0);
  picture.pixel(1, 0)[0] = 255;
  picture.pixel(3, 1)[2] = 51;
  const std::string png = folder_.File("p.png");
  ASSERT_TRUE(WritePng(png, picture).has_value());
  const ProcessResult result =
      CallEbb({"run", model, "--input", "image=" + png});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output,
            "y  f32[1,3,2,4]  min 0, mean 0.05, max 1, first 0 1 0 0 0 0 …\n");
  const ProcessResult scaled =
      CallEbb({"run", model, "--input", png, "--image-mean", "0.5",
               "--image-std", "0.5,0.5,0.25"});
  EXPECT_THAT(scaled.output, HasSubstr("min -2, mean -1.216667, max 1"));
  const ProcessResult refused = CallEbb({"run", Model(), "--input", png});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("does not take a picture"));
}

TEST_F(CommandRunTest, CompiledModelsTakeNoCompileOptions) {
  const std::string ebb = folder_.File("m.ebb");
  ASSERT_EQ(CallEbb({"compile", Model(), "-o", ebb}).exit_code, 0);
  const ProcessResult refused =
      CallEbb({"run", ebb, "--no-kill", "--no-fold", "--fill", "ones"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.errors,
            "ebb: " + ebb +
                ": is compiled already (ebb): --no-kill, --no-fold cannot "
                "apply\n");
  // --shape is the size of what is made up.
  const ProcessResult sized =
      CallEbb({"run", ebb, "--shape", "x=2x3", "--fill", "ones"});
  EXPECT_EQ(sized.exit_code, 0) << sized.errors;
}

TEST_F(CommandRunTest, DamagedFilesAreUnreadable) {
  const std::string ebb = folder_.File("m.ebb");
  ASSERT_EQ(CallEbb({"compile", Model(), "-o", ebb}).exit_code, 0);
  const std::string whole = folder_.Read("m.ebb");
  for (const std::size_t length : {0U, 1U, 63U, 64U, 300U}) {
    const std::string cut = folder_.Write("cut.ebb", whole.substr(0, length));
    const ProcessResult result = CallEbb({"run", cut, "--fill", "ones"});
    EXPECT_EQ(result.exit_code, 2) << length;
    EXPECT_THAT(result.errors, testing::StartsWith("ebb: " + cut + ": "));
  }
}

TEST_F(CommandRunTest, MagicTellsWhatAFileIs) {
  const std::string ebb = folder_.File("renamed.onnx");
  ASSERT_EQ(CallEbb({"compile", Model(), "-o", ebb}).exit_code, 0);
  EXPECT_EQ(CallEbb({"run", ebb, "--input", "x=ones:1x3"}).exit_code, 0);
  const std::string text = folder_.Write(
      "text",
      "# a comment\nfunc @main(%x: f32[2]) -> f32[2] { %y = relu %x "
      "return %y }");
  EXPECT_EQ(CallEbb({"run", text, "--fill", "ones"}).exit_code, 0);
}

}  // namespace
}  // namespace ebb::tools
