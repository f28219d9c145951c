#include "vm/interpreter.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/vm/test_program.h"

namespace ebb::vm {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

// A function that stores integer registers 0 … count - 1 in its result.
void ReturnInts(TestProgram& p, FunctionBuilder& f, int64_t count) {
  f.AddResult("ints", p.Tensor(DType::kI64, {count}));
  p.Alloc(f, 20, 21, DType::kI64, {I(count)});
  std::vector<IntOperand> registers;
  for (int64_t i = 0; i < count; ++i) registers.push_back(R(i));
  f.Emit(Opcode::kStoreInts).Out(21).IntList(registers);
  p.Return(f, {21});
  f.Finish();
}

// The result of one binary instruction.
Expected<int64_t> RunBinary(Opcode opcode, int64_t a, int64_t b) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.Emit(opcode).DefInt(0).Int(I(a)).Int(I(b)).Name("n");
  ReturnInts(p, f, 1);
  const auto session = MakeSession(p.Load());
  RETURN_IF_ERROR(session->Run());
  return OutputElements<int64_t>(*session)[0];
}

TEST(InterpreterTest, IntegersRoundTowardMinusInfinity) {
  EXPECT_EQ(RunBinary(Opcode::kIntAdd, 3, -5).value(), -2);
  EXPECT_EQ(RunBinary(Opcode::kIntSub, 3, -5).value(), 8);
  EXPECT_EQ(RunBinary(Opcode::kIntMul, 3, -5).value(), -15);
  EXPECT_EQ(RunBinary(Opcode::kIntFloorDiv, -7, 2).value(), -4);
  EXPECT_EQ(RunBinary(Opcode::kIntFloorDiv, 7, -2).value(), -4);
  EXPECT_EQ(RunBinary(Opcode::kIntFloorDiv, -7, -2).value(), 3);
  EXPECT_EQ(RunBinary(Opcode::kIntCeilDiv, -7, 2).value(), -3);
  EXPECT_EQ(RunBinary(Opcode::kIntCeilDiv, 7, 2).value(), 4);
  EXPECT_EQ(RunBinary(Opcode::kIntMod, -7, 3).value(), 2);
  EXPECT_EQ(RunBinary(Opcode::kIntMod, 7, -3).value(), -2);
  EXPECT_EQ(RunBinary(Opcode::kIntMin, 3, -5).value(), -5);
  EXPECT_EQ(RunBinary(Opcode::kIntMax, 3, -5).value(), 3);
  EXPECT_EQ(RunBinary(Opcode::kIntLess, 3, 4).value(), 1);
  EXPECT_EQ(RunBinary(Opcode::kIntLess, 4, 4).value(), 0);
}

TEST(InterpreterTest, OverflowTrapsAndNamesFunctionInstructionAndValue) {
  ExpectError(RunBinary(Opcode::kIntAdd, kMax, 1), ErrorCode::kOutOfRange,
              "function \"main\", instruction 0 (int_add), value \"n\": "
              "9223372036854775807 + 1 overflows int64");
  ExpectError(RunBinary(Opcode::kIntSub, kMin, 1), ErrorCode::kOutOfRange,
              "- 1 overflows");
  ExpectError(RunBinary(Opcode::kIntMul, kMin, -1), ErrorCode::kOutOfRange,
              "* -1 overflows");
  ExpectError(RunBinary(Opcode::kIntFloorDiv, 1, 0), ErrorCode::kOutOfRange,
              "1 / 0 divides by zero");
  ExpectError(RunBinary(Opcode::kIntFloorDiv, kMin, -1), ErrorCode::kOutOfRange,
              "/ -1 overflows");
  ExpectError(RunBinary(Opcode::kIntCeilDiv, kMin, -1), ErrorCode::kOutOfRange,
              "/ -1 overflows");
  ExpectError(RunBinary(Opcode::kIntMod, 1, 0), ErrorCode::kOutOfRange,
              "1 modulo 0 divides by zero");
  ExpectError(RunBinary(Opcode::kIntMod, kMin, -1), ErrorCode::kOutOfRange,
              "modulo -1 overflows");
}

TEST(InterpreterTest, LoopsAndBranches) {
  // Sum of 0 … 9.
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.Emit(Opcode::kIntMove).DefInt(0).Int(I(0));
  f.Emit(Opcode::kIntMove).DefInt(1).Int(I(0));
  const auto loop = f.NewLabel();
  const auto done = f.NewLabel();
  f.Bind(loop);
  f.Emit(Opcode::kIntLess).DefInt(2).Int(R(1)).Int(I(10));
  f.Emit(Opcode::kBranchIfZero).Int(R(2)).Label(done);
  f.Emit(Opcode::kIntAdd).DefInt(0).Int(R(0)).Int(R(1));
  f.Emit(Opcode::kIntAdd).DefInt(1).Int(R(1)).Int(I(1));
  f.Emit(Opcode::kJump).Label(loop);
  f.Bind(done);
  ReturnInts(p, f, 1);
  const auto session = MakeSession(p.Load());
  ASSERT_OK(session->Run());
  EXPECT_EQ(OutputElements<int64_t>(*session), std::vector<int64_t>{45});
}

// f(n) = n == 0 ? x : f(n - 1), n in an i64 scalar.
TestProgram Recursion(int64_t depth) {
  TestProgram p;
  const auto type = p.Tensor(DType::kI64, {});
  const auto id = p.module().DeclareFunction("down");
  {
    FunctionBuilder f = p.Function("main");
    f.AddResult("y", type);
    p.Alloc(f, 0, 1, DType::kI64, {});
    f.Emit(Opcode::kStoreInts).Out(1).IntList({I(depth)});
    f.Emit(Opcode::kCall)
        .Function(id)
        .DefHolds({2})
        .Passes({PassOperand::Move(1)});
    p.Return(f, {2});
    p.module().module().entry = f.Finish();
  }
  FunctionBuilder f(p.module(), id);
  f.AddParam("n", type, /*donated=*/true);
  f.AddResult("y", type);
  const auto end = f.NewLabel();
  f.Emit(Opcode::kLoadInt).DefInt(0).Use(0).Int(I(0));
  f.Emit(Opcode::kBranchIfZero).Int(R(0)).Label(end);
  f.Emit(Opcode::kIntSub).DefInt(0).Int(R(0)).Int(I(1));
  f.Emit(Opcode::kStoreInts).Out(0).IntList({R(0)});
  f.Emit(Opcode::kCall)
      .Function(id)
      .DefHolds({1})
      .Passes({PassOperand::Move(0)});
  p.Return(f, {1});
  f.Bind(end);
  p.Return(f, {0});
  f.Finish();
  return p;
}

TEST(InterpreterTest, RecursionUpToTheDepthLimit) {
  // main is one frame, the first call of down another.
  const auto session = MakeSession(Recursion(9'998).Load());
  ASSERT_OK(session->Run());
  EXPECT_EQ(OutputElements<int64_t>(*session), std::vector<int64_t>{0});
}

TEST(InterpreterTest, DepthLimitIsAnErrorAfterWhichTheSessionRunsAgain) {
  const auto session = MakeSession(Recursion(9'999).Load());
  for (int i = 0; i < 2; ++i) {
    ExpectError(session->Run(), ErrorCode::kLimit,
                "call of \"down\": the depth of calls is limited to 10000");
    EXPECT_EQ(session->stats().live_value_count, 0U);
    EXPECT_EQ(session->stats().memory.live_bytes, 0U);
  }
  SessionOptions options;
  options.call_depth_limit = 10'001;
  EXPECT_OK(MakeSession(Recursion(9'999).Load(), options)->Run());
}

TEST(InterpreterTest, ClosuresPassCapturedValuesLast) {
  TestProgram p;
  const auto type = p.Tensor(DType::kI64, {1});
  const auto id = p.module().DeclareFunction("pick");
  {
    FunctionBuilder f = p.Function("main");
    f.AddResult("a", type);
    f.AddResult("b", type);
    for (int64_t i = 0; i < 2; ++i) {
      p.Alloc(f, 10, i, DType::kI64, {I(1)});
      f.Emit(Opcode::kStoreInts).Out(i).IntList({I(100 + i)});
    }
    f.Emit(Opcode::kMakeClosure)
        .DefHold(2)
        .Function(id)
        .Passes({PassOperand::Move(1)});
    f.Emit(Opcode::kCallClosure)
        .Use(2)
        .DefHolds({3, 4})
        .Passes({PassOperand::Move(0)});
    f.Emit(Opcode::kKillObject).Kills({2});
    p.Return(f, {3, 4});
    p.module().module().entry = f.Finish();
  }
  FunctionBuilder f(p.module(), id);
  f.AddParam("argument", type);
  f.AddParam("captured", type);
  f.AddResult("a", type);
  f.AddResult("b", type);
  f.Emit(Opcode::kReturn)
      .Passes({PassOperand::Share(1), PassOperand::Share(0)});
  f.Finish();
  const auto session = MakeSession(p.Load());
  ASSERT_OK(session->Run());
  EXPECT_EQ(OutputElements<int64_t>(*session, 0), std::vector<int64_t>{101});
  EXPECT_EQ(OutputElements<int64_t>(*session, 1), std::vector<int64_t>{100});
}

TEST(InterpreterTest, ClosureOfAnotherArityIsAnError) {
  TestProgram p;
  const auto id = p.module().DeclareFunction("nothing");
  {
    FunctionBuilder f = p.Function("main");
    p.Alloc(f, 0, 1, DType::kI64, {I(1)});
    f.Emit(Opcode::kMakeClosure)
        .DefHold(2)
        .Function(id)
        .Passes({PassOperand::Move(1)});
    f.Emit(Opcode::kCallClosure).Use(2).DefHolds({}).Passes({});
    f.Emit(Opcode::kReturn).Passes({});
    p.module().module().entry = f.Finish();
  }
  FunctionBuilder f(p.module(), id);
  f.Emit(Opcode::kReturn).Passes({});
  f.Finish();
  const auto program = p.TryLoad();
  if (!program.has_value()) return;  // The verifier may see it already.
  const auto session = MakeSession(*program);
  ExpectError(session->Run(), ErrorCode::kInvalidFile,
              "\"nothing\" takes 0 arguments, not 1");
  EXPECT_EQ(session->stats().live_value_count, 0U);
}

TEST(InterpreterTest, TuplesSequencesAndOptionals) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  for (int64_t i = 0; i < 3; ++i) {
    p.Alloc(f, 10, i, DType::kI64, {I(1)});
    f.Emit(Opcode::kStoreInts).Out(i).IntList({I(100 + i)});
  }
  f.Emit(Opcode::kMakeSequence).DefHold(3).Passes({PassOperand::Move(0)});
  f.Emit(Opcode::kSequenceInsert)
      .DefHold(4)
      .Pass(PassOperand::Share(3))
      .Pass(PassOperand::Move(1))
      .Int(I(0));
  f.Emit(Opcode::kSequenceInsert)
      .DefHold(5)
      .Pass(PassOperand::Move(4))
      .Pass(PassOperand::Move(2))
      .Int(I(2));
  // 3: [100]; 5: [101, 100, 102].
  f.Emit(Opcode::kLengthOf).DefInt(0).Use(3);
  f.Emit(Opcode::kLengthOf).DefInt(1).Use(5);
  const auto load = [&](int64_t def, int64_t object, int64_t index) {
    f.Emit(Opcode::kGetField).DefHold(7).Use(object).Int(I(index));
    f.Emit(Opcode::kLoadInt).DefInt(def).Use(7).Int(I(0));
    p.Kill(f, 7);
  };
  load(2, 5, 0);
  load(3, 5, -1);
  f.Emit(Opcode::kSequenceErase)
      .DefHold(6)
      .Pass(PassOperand::Share(5))
      .Int(I(0));
  load(4, 6, 0);
  f.Emit(Opcode::kMakeOptional).DefHold(8).Passes({});
  f.Emit(Opcode::kMakeOptional).DefHold(9).Passes({PassOperand::Share(6)});
  f.Emit(Opcode::kLengthOf).DefInt(5).Use(8);
  f.Emit(Opcode::kLengthOf).DefInt(6).Use(9);
  f.Emit(Opcode::kMakeTuple)
      .DefHold(11)
      .Passes({PassOperand::Move(3), PassOperand::Move(9)});
  f.Emit(Opcode::kLengthOf).DefInt(7).Use(11);
  f.Emit(Opcode::kKillObject).Kills({5, 6, 8, 11});
  ReturnInts(p, f, 8);
  const auto session = MakeSession(p.Load());
  ASSERT_OK(session->Run());
  EXPECT_EQ(OutputElements<int64_t>(*session),
            (std::vector<int64_t>{1, 3, 101, 102, 100, 0, 1, 2}));
  session->ReleaseOutputs();
  EXPECT_EQ(session->stats().live_value_count, 0U);
}

TEST(InterpreterTest, FieldOutOfRangeIsAnError) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.Emit(Opcode::kMakeOptional).DefHold(0).Passes({});
  f.Emit(Opcode::kGetField).DefHold(1).Use(0).Int(I(0));
  f.Emit(Opcode::kReturn).Passes({});
  f.Finish();
  ExpectError(MakeSession(p.Load())->Run(), ErrorCode::kOutOfRange,
              "index 0 of a optional of 0");
}

TEST(InterpreterTest, ValueOfAnotherKindIsAnError) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.Emit(Opcode::kMakeTuple).DefHold(0).Passes({});
  f.Emit(Opcode::kDimOf).DefInt(0).Use(0).Imm(0);
  f.Emit(Opcode::kReturn).Passes({});
  f.Finish();
  ExpectError(MakeSession(p.Load())->Run(), ErrorCode::kInvalidFile,
              "the register holds tuple, needs a tensor");
}

TEST(InterpreterTest, AMillionNestedTuplesAreReleasedWithoutRecursion) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.Emit(Opcode::kMakeTuple).DefHold(0).Passes({});
  f.Emit(Opcode::kIntMove).DefInt(0).Int(I(1'000'000));
  const auto loop = f.NewLabel();
  f.Bind(loop);
  f.Emit(Opcode::kMakeTuple).DefHold(1).Passes({PassOperand::Move(0)});
  f.Emit(Opcode::kMove).DefHold(0).Moved(1);
  f.Emit(Opcode::kIntSub).DefInt(0).Int(R(0)).Int(I(1));
  f.Emit(Opcode::kIntLess).DefInt(1).Int(R(0)).Int(I(1));
  f.Emit(Opcode::kBranchIfZero).Int(R(1)).Label(loop);
  f.Emit(Opcode::kKillObject).Kills({0});
  f.Emit(Opcode::kReturn).Passes({});
  f.Finish();
  const auto session = MakeSession(p.Load());
  ASSERT_OK(session->Run());
  EXPECT_EQ(session->stats().live_value_count, 0U);
}

TEST(InterpreterTest, Assertions) {
  const auto run = [](auto emit) -> Status {
    TestProgram p;
    FunctionBuilder f = p.Function("main");
    p.Alloc(f, 0, 1, DType::kF32, {I(2), I(3)});
    emit(p, f);
    f.Emit(Opcode::kReturn).Passes({});
    f.Finish();
    return MakeSession(p.Load())->Run();
  };
  EXPECT_OK(run([](TestProgram& p, FunctionBuilder& f) {
    const auto text = p.module().InternString("unused");
    f.Emit(Opcode::kAssertEqual).Int(I(3)).Int(I(3)).String(text);
    f.Emit(Opcode::kAssertRange).Int(I(3)).Int(I(3)).Int(I(5)).String(text);
    f.Emit(Opcode::kAssertTensor)
        .Use(1)
        .DTypeCode(DType::kF32)
        .Imm(2)
        .String(text);
  }));
  ExpectError(run([](TestProgram& p, FunctionBuilder& f) {
                f.Emit(Opcode::kAssertEqual)
                    .Int(I(3))
                    .Int(I(4))
                    .String(p.module().InternString("sizes of n"));
              }),
              ErrorCode::kShapeMismatch, "sizes of n: 3 is not 4");
  ExpectError(run([](TestProgram& p, FunctionBuilder& f) {
                f.Emit(Opcode::kAssertRange)
                    .Int(I(6))
                    .Int(I(3))
                    .Int(I(5))
                    .String(p.module().InternString("batch"));
              }),
              ErrorCode::kOutOfRange, "batch: 6 is outside [3, 5]");
  ExpectError(run([](TestProgram& p, FunctionBuilder& f) {
                f.Emit(Opcode::kAssertTensor)
                    .Use(1)
                    .DTypeCode(DType::kF32)
                    .Imm(3)
                    .String(p.module().InternString("x"));
              }),
              ErrorCode::kShapeMismatch, "x: f32[2,3] is not f32 of rank 3");
}

TEST(InterpreterTest, MemoryIsCheckedAgainstTheStorage) {
  const auto run = [](int64_t bytes, int64_t offset,
                      std::vector<IntOperand> dims,
                      std::vector<IntOperand> strides) -> Status {
    TestProgram p;
    FunctionBuilder f = p.Function("main");
    f.Emit(Opcode::kAllocStorage).DefHold(0).Int(I(bytes)).Imm(64);
    f.Emit(Opcode::kAllocTensor)
        .DefHold(1)
        .Use(0)
        .Int(I(offset))
        .DTypeCode(DType::kF32)
        .IntList(dims)
        .IntList(strides);
    f.Emit(Opcode::kReturn).Passes({});
    f.Finish();
    return MakeSession(p.Load())->Run();
  };
  EXPECT_OK(run(24, 0, {I(2), I(3)}, {}));
  EXPECT_OK(run(24, 20, {I(2), I(3)}, {I(-3), I(-1)}));
  EXPECT_OK(run(0, 0, {I(0), I(3)}, {}));
  ExpectError(run(20, 0, {I(2), I(3)}, {}), ErrorCode::kInvalidFile,
              "f32[2,3] reaches bytes [0, 24) of a storage of 20");
  ExpectError(run(24, 16, {I(2), I(3)}, {I(-3), I(-1)}),
              ErrorCode::kInvalidFile, "reaches bytes [-4, 20)");
  ExpectError(run(24, 2, {I(1)}, {}), ErrorCode::kInvalidFile,
              "offset 2 is not aligned for f32");
  ExpectError(run(24, kMax, {I(1)}, {}), ErrorCode::kInvalidFile,
              "has no size in bytes");
  ExpectError(run(24, 0, {I(kMax), I(kMax)}, {}), ErrorCode::kInvalidFile,
              "has no size in bytes");
  ExpectError(run(24, 0, {I(3)}, {I(kMax)}), ErrorCode::kInvalidFile,
              "has no size in bytes");
  ExpectError(run(24, 0, {I(-1)}, {}), ErrorCode::kInvalidFile,
              "has no size in bytes");
  ExpectError(run(-1, 0, {I(1)}, {}), ErrorCode::kInvalidFile,
              "a storage of -1 bytes");
}

TEST(InterpreterTest, ViewsOutliveTheirSourceAndStayInItsStorage) {
  const auto run =
      [](int64_t offset, std::vector<IntOperand> dims,
         std::vector<IntOperand> strides) -> Expected<std::vector<int64_t>> {
    TestProgram p;
    FunctionBuilder f = p.Function("main");
    f.AddResult("y", p.Any());
    p.Alloc(f, 0, 1, DType::kI64, {I(2), I(2)});
    f.Emit(Opcode::kStoreInts).Out(1).IntList({I(1), I(2), I(3), I(4)});
    f.Emit(Opcode::kView)
        .DefHold(2)
        .Use(1)
        .Int(I(offset))
        .DTypeCode(DType::kI64)
        .IntList(dims)
        .IntList(strides);
    p.Kill(f, 1);
    p.Return(f, {2});
    f.Finish();
    const auto session = MakeSession(p.Load());
    RETURN_IF_ERROR(session->Run());
    return OutputElements<int64_t>(*session);
  };
  EXPECT_EQ(run(8, {I(3)}, {}).value(), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(run(24, {I(2)}, {I(-2)}).value(), (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(run(0, {I(2), I(2)}, {I(1), I(2)}).value(),
            (std::vector<int64_t>{1, 3, 2, 4}));
  ExpectError(run(16, {I(3)}, {}), ErrorCode::kInvalidFile,
              "reaches bytes [16, 40) of a storage of 32");
  ExpectError(run(-8, {I(1)}, {}), ErrorCode::kInvalidFile,
              "reaches bytes [-8, 0)");
}

TEST(InterpreterTest, ExternalFunctionsSeeArgumentsAndMakeResults) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.AddParam("x", p.Tensor(DType::kF32, {-1}));
  f.AddResult("y", p.Tensor(DType::kF32, {-1}));
  f.Emit(Opcode::kCallExternal)
      .String(p.module().AddExternal("scale"))
      .DefHolds({1, kNoRegister})
      .Uses({0})
      .IntList({I(3), I(4)});
  p.Return(f, {1});
  f.Finish();
  const bytecode::Module module = p.Finish();

  const auto scale = [](ExternalCall& call) -> Status {
    TRY(const Tensor* x, call.TensorArgument(0));
    TRY(Tensor * y, call.MakeTensorResult(0, x->dtype, x->Dims()));
    EXPECT_FALSE(x->writable);
    EXPECT_TRUE(y->writable);
    const auto* from = reinterpret_cast<const float*>(x->data);
    auto* to = reinterpret_cast<float*>(y->data);
    for (int64_t i = 0; i < x->dims[0]; ++i) {
      to[i] = from[i] * static_cast<float>(call.ints()[0] * call.ints()[1]);
    }
    return {};
  };
  const auto program = Program::Load(module, {{{"scale", scale}}, {}});
  ASSERT_OK(program);
  const auto session = MakeSession(*program);
  std::vector<float> x = {1, 2};
  const std::vector<int64_t> dims = {2};
  ASSERT_OK(session->SetInput(0, View(x, dims)));
  ASSERT_OK(session->Run());
  EXPECT_EQ(OutputElements<float>(*session), (std::vector<float>{12, 24}));

  const auto fail = [](ExternalCall&) -> Status {
    return Fail(ErrorCode::kUnsupported, "not today");
  };
  const auto failing = Program::Load(module, {{{"scale", fail}}, {}});
  ASSERT_OK(failing);
  const auto second = MakeSession(*failing);
  ASSERT_OK(second->SetInput(0, View(x, dims)));
  ExpectError(second->Run(), ErrorCode::kUnsupported,
              "external function \"scale\": not today");

  const auto lazy = [](ExternalCall&) -> Status { return {}; };
  const auto lazy_program = Program::Load(module, {{{"scale", lazy}}, {}});
  const auto third = MakeSession(*lazy_program);
  ASSERT_OK(third->SetInput(0, View(x, dims)));
  ExpectError(third->Run(), ErrorCode::kInvalidArgument, "made no result 0");
  EXPECT_EQ(third->stats().live_value_count, 0U);
}

TEST(InterpreterTest, ExternalObjectsAreReleasedAtTheirLastHold) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.Emit(Opcode::kCallExternal)
      .String(p.module().AddExternal("make"))
      .DefHolds({0})
      .Uses({})
      .IntList({});
  f.Emit(Opcode::kMakeTuple).DefHold(1).Passes({PassOperand::Move(0)});
  f.Emit(Opcode::kKillObject).Kills({1});
  f.Emit(Opcode::kReturn).Passes({});
  f.Finish();
  int count = 0;
  const auto make = [&count](ExternalCall& call) -> Status {
    return call.MakeOpaqueResult(
        0, &count, [](void* object) { ++*static_cast<int*>(object); });
  };
  const auto session = MakeSession(p.Load({{"make", make}}));
  ASSERT_OK(session->Run());
  EXPECT_EQ(count, 1);
}

TEST(InterpreterTest, CancelStopsAnEndlessLoop) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  p.Alloc(f, 0, 1, DType::kF32, {I(4)});
  const auto loop = f.NewLabel();
  f.Emit(Opcode::kCallExternal)
      .String(p.module().AddExternal("stop"))
      .DefHolds({})
      .Uses({})
      .IntList({});
  f.Bind(loop);
  f.Emit(Opcode::kJump).Label(loop);
  f.Finish();
  Session* running = nullptr;
  const auto stop = [&running](ExternalCall&) -> Status {
    running->Cancel();
    return {};
  };
  const auto session = MakeSession(p.Load({{"stop", stop}}));
  running = session.get();
  for (int i = 0; i < 2; ++i) {
    ExpectError(session->Run(), ErrorCode::kCancelled, "cancelled");
    EXPECT_EQ(session->stats().live_value_count, 0U);
  }
}

}  // namespace
}  // namespace ebb::vm
