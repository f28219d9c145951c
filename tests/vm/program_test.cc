#include "vm/program.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "bytecode/writer.h"
#include "tests/vm/test_program.h"

namespace ebb::vm {
namespace {

// y = x + w + r with a plain and a repeated constant; r goes through concat so
// that its plain form is needed.
TestProgram Weights() {
  TestProgram p;
  const auto w = p.Constant<float>(DType::kF32, {4}, {1, 2, 3, 4});
  const auto r = p.Repeat<float>(DType::kF32, {4}, 10.0F);
  FunctionBuilder f = p.Function("main");
  f.AddParam("x", p.Tensor(DType::kF32, {4}));
  f.AddResult("y", p.Tensor(DType::kF32, {4}));
  f.Emit(Opcode::kConstant).DefHold(1).Constant(w);
  f.Emit(Opcode::kConstant).DefHold(2).Constant(r);
  f.Emit(Opcode::kOpAlloc)
      .Site(p.Site(OperatorCode::kAdd))
      .DefHolds({3})
      .Ins({In(0), In(1)});
  f.Emit(Opcode::kOpAlloc)
      .Site(p.Site(OperatorCode::kSoftmax))
      .DefHolds({4})
      .Ins({In(2)});
  f.Emit(Opcode::kOpAlloc)
      .Site(p.Site(OperatorCode::kAdd))
      .DefHolds({5})
      .Ins({In(3), In(4)});
  p.Return(f, {5});
  f.Finish();
  return p;
}

void ExpectRuns(const ProgramRef& program) {
  const auto session = MakeSession(program);
  std::vector<float> x = {1, 1, 1, 1};
  const std::vector<int64_t> dims = {4};
  ASSERT_OK(session->SetInput(0, View(x, dims)));
  ASSERT_OK(session->Run());
  EXPECT_EQ(OutputElements<float>(*session),
            (std::vector<float>{2.25F, 3.25F, 4.25F, 5.25F}));
}

TEST(ProgramTest, LoadsFromFileAndBytes) {
  const auto bytes = bytecode::ModuleToBytes(Weights().Finish());
  ASSERT_OK(bytes);
  const auto copied = Program::LoadBytes(*bytes, Program::Bytes::kCopy, {});
  ASSERT_OK(copied);
  ExpectRuns(*copied);
  const auto borrowed = Program::LoadBytes(*bytes, Program::Bytes::kBorrow, {});
  ASSERT_OK(borrowed);
  ExpectRuns(*borrowed);
  // At an odd address the constants have to be copied.
  std::vector<std::byte> odd(bytes->size() + 1);
  std::copy(bytes->begin(), bytes->end(), odd.begin() + 1);
  const auto shifted = Program::LoadBytes(std::span(odd).subspan(1),
                                          Program::Bytes::kBorrow, {});
  ASSERT_OK(shifted);
  ExpectRuns(*shifted);

  const std::string path =
      ::testing::TempDir() + "program_test_" +
      std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
      ".ebb";
  {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes->data()),
               static_cast<std::streamsize>(bytes->size()));
  }
  std::string note;
  const auto loaded = Program::LoadFile(
      path, {{}, [&note](const std::string& text) { note = text; }});
  ASSERT_OK(loaded);
  ExpectRuns(*loaded);
  EXPECT_NE(note.find("bytes in place"), std::string::npos) << note;
  EXPECT_EQ((*loaded)->weight_stats().in_place_bytes, 20U);
  std::filesystem::resize_file(path, bytes->size() / 2);
  const auto cut = Program::LoadFile(path, {});
  ASSERT_FALSE(cut.has_value());
  EXPECT_EQ(cut.error().where.substr(0, path.size()), path);
  std::filesystem::remove(path);
  ExpectError(Program::LoadFile(path, {}), ErrorCode::kNotFound, path);
}

TEST(ProgramTest, MissingExternalsAreNamedAtLoadAllAtOnce) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  for (const char* name : {"first", "second", "third"}) {
    f.Emit(Opcode::kCallExternal)
        .String(p.module().AddExternal(name))
        .DefHolds({})
        .Uses({})
        .IntList({});
  }
  f.Emit(Opcode::kReturn).Passes({});
  f.Finish();
  const bytecode::Module module = p.Finish();
  const auto nothing = [](ExternalCall&) -> Status { return {}; };
  ExpectError(Program::Load(module, {{{"second", nothing}}, {}}),
              ErrorCode::kNotFound,
              "external functions are not registered: \"first\", \"third\"");
  ExpectError(Program::Load(module, {{{"x", nothing}, {"x", nothing}}, {}}),
              ErrorCode::kInvalidArgument, "\"x\" is registered twice");
  ExpectError(Program::Load(module, {{{"x", nullptr}}, {}}),
              ErrorCode::kInvalidArgument, "\"x\" is empty");
}

TEST(ProgramTest, AModuleThatDoesNotVerifyIsRefused) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.Emit(Opcode::kKillTensor).Kills({3});
  f.Emit(Opcode::kReturn).Passes({});
  f.Finish();
  ASSERT_FALSE(p.TryLoad().has_value());
}

TEST(ProgramTest, MisalignedWeightsAreCopiedAndCounted) {
  TestProgram p;
  const std::vector<uint8_t> raw(9, 0);
  const auto bytes = p.Bytes(raw);
  p.AddConstant(bytecode::ConstantKind::kData, DType::kF32, {2},
                bytes.subspan(1));
  FunctionBuilder f = p.Function("main");
  f.Emit(Opcode::kReturn).Passes({});
  f.Finish();
  const ProgramRef program = p.Load();
  EXPECT_EQ(program->weight_stats().owned_bytes, 8U);
  EXPECT_EQ(program->weight_stats().in_place_bytes, 0U);
}

// Eight threads, a session each, one program whose repeated constant all of
// them want written out at once.
TEST(ProgramTest, ManyThreadsShareOne) {
  const ProgramRef program = Weights().Load();
  std::atomic<bool> go = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      while (!go.load()) std::this_thread::yield();
      for (int i = 0; i < 10; ++i) ExpectRuns(program);
    });
  }
  go.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(program->weight_stats().expanded_count, 1U);
}

TEST(ProgramTest, ASecondThreadInOneSessionIsRefused) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.Emit(Opcode::kCallExternal)
      .String(p.module().AddExternal("again"))
      .DefHolds({})
      .Uses({})
      .IntList({});
  f.Emit(Opcode::kReturn).Passes({});
  f.Finish();
  Session* running = nullptr;
  const auto again = [&running](ExternalCall&) -> Status {
    return running->Run();
  };
  const auto session = MakeSession(p.Load({{"again", again}}));
  running = session.get();
  ExpectError(session->Run(), ErrorCode::kInvalidArgument,
              "the session is running already");
  ExpectError(session->Run(), ErrorCode::kInvalidArgument,
              "the session is running already");
}

}  // namespace
}  // namespace ebb::vm
