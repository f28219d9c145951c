// The C++ wrapper, and the examples that use both interfaces.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "bytecode/writer.h"
#include "tests/vm/test_program.h"
#include "vm/ebb.hpp"

namespace ebb::vm {
namespace {

// y = f(x), z = x + 1; f is an external function when it has a name.
std::vector<std::byte> ModelBytes(const std::string& function) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.AddParam("x", p.Symbolic(DType::kF32, {"n", "3"}));
  f.AddResult("y", p.Any());
  f.AddResult("z", p.Any());
  if (function.empty()) {
    f.Emit(Opcode::kOpAlloc)
        .Site(p.Site(OperatorCode::kNeg))
        .DefHolds({1})
        .Ins({In(0)});
  } else {
    f.Emit(Opcode::kCallExternal)
        .String(p.module().AddExternal(function))
        .DefHolds({1})
        .Uses({0})
        .IntList({});
  }
  f.Emit(Opcode::kConstant)
      .DefHold(2)
      .Constant(p.Repeat<float>(DType::kF32, {1}, 1.0F));
  f.Emit(Opcode::kOpAlloc)
      .Site(p.Site(OperatorCode::kAdd))
      .DefHolds({3})
      .Ins({In(0), In(2)});
  p.Return(f, {1, 3});
  f.Finish();
  return bytecode::ModuleToBytes(p.Finish()).value();
}

TEST(EbbWrapperTest, RunsAndThrows) {
  const auto bytes = ModelBytes("square");
  EXPECT_THROW(ebb::Program::LoadBytes(bytes.data(), bytes.size()),
               ebb::Exception);
  bool fail = false;
  ebb::Program program = ebb::Program::LoadBytes(
      bytes.data(), bytes.size(),
      {{"square", [&fail](ebb::Call& call) {
          if (fail) throw std::runtime_error("no squares today");
          const ebb::TensorRef x = call.tensor(0);
          auto* y =
              static_cast<float*>(call.MakeTensor(0, x.dtype(), x.dims()));
          for (std::size_t i = 0; i < x.size(); ++i) {
            y[i] = x.data<float>()[i] * x.data<float>()[i];
          }
        }}});
  EXPECT_EQ(program.input_count(), 1U);
  EXPECT_STREQ(program.output(1).name, "z");
  ebb_session_options options{};
  options.memory_limit_bytes = 1 << 20;
  ebb::Session session(program, options);
  // The session keeps all it needs.
  program = ebb::Program::LoadBytes(bytes.data(), bytes.size(),
                                    {{"square", [](ebb::Call&) {}}});
  const float x[] = {1, 2, 3};
  session.SetInput("x", x, {1, 3});
  session.Run();
  EXPECT_EQ(session.Output(0).data<float>()[2], 9);
  EXPECT_EQ(session.Output("z").data<float>()[2], 4);
  EXPECT_EQ(session.Output("z").dims(), (std::vector<int64_t>{1, 3}));
  EXPECT_THROW(session.Output(0).data<double>(), ebb::Exception);
  ebb::Value value = session.TakeOutput(0);
  session.SetInput(0, value);
  session.Run();
  EXPECT_EQ(session.Output(0).data<float>()[2], 81);
  EXPECT_EQ(value.tensor().data<float>()[2], 9);
  session.DonateInput(0, std::move(value));
  fail = true;
  try {
    session.Run();
    ADD_FAILURE();
  } catch (const ebb::Exception& exception) {
    EXPECT_NE(std::string(exception.what()).find("no squares today"),
              std::string::npos);
    EXPECT_EQ(exception.code(), EBB_INVALID_ARGUMENT);
  }
  EXPECT_EQ(session.Stats().run_count, 3U);
}

TEST(EbbWrapperTest, ExamplesRun) {
  const std::string path = ::testing::TempDir() + "ebb_wrapper_test.ebb";
  {
    const auto bytes = ModelBytes("");
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  for (const char* name : {"embed_c", "embed_cc"}) {
    const std::string program = std::string(EBB_BINARY_DIR "/bin/") + name;
    ASSERT_TRUE(std::filesystem::exists(program)) << program;
    FILE* pipe = popen((program + " " + path + " 2>&1").c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string text;
    char buffer[256];
    while (fgets(buffer, sizeof(buffer), pipe) != nullptr) text += buffer;
    EXPECT_EQ(pclose(pipe), 0) << text;
    EXPECT_EQ(text.substr(0, text.find("memory")),
              "y: f32[1,3] -1 -1 -1\nz: f32[1,3] 2 2 2\n");
    EXPECT_NE(text.find("memory peak: 128 bytes, weights: 4 bytes"),
              std::string::npos)
        << text;
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace ebb::vm
