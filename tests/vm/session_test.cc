#include "vm/session.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "tests/vm/test_program.h"

namespace ebb::vm {
namespace {

const std::vector<int64_t> kDims4 = {4};

// y = x + w, f32[4]; w may be left out and is then all 10. Both outputs too:
// w itself.
TestProgram AddWithDefault() {
  TestProgram p;
  const auto type = p.Tensor(DType::kF32, {4});
  FunctionBuilder f = p.Function("main");
  f.AddParam("x", type);
  f.AddParam("w", type);
  f.AddResult("y", type);
  f.function().params[1].optional_feed = true;
  f.function().params[1].default_value =
      p.Repeat<float>(DType::kF32, {4}, 10.0F);
  p.Alloc(f, 2, 3, DType::kF32, {I(4)});
  p.Op(f, p.Site(OperatorCode::kAdd), 3, {In(0), In(1)});
  p.Return(f, {3});
  f.Finish();
  return p;
}

TEST(SessionTest, InputsAreForgottenAfterTheRun) {
  const auto session = MakeSession(AddWithDefault().Load());
  std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> w = {5, 5, 5, 5};
  ASSERT_OK(session->SetInput(0, View(x, kDims4)));
  ASSERT_OK(session->SetInput(1, View(w, kDims4)));
  ASSERT_OK(session->Run());
  EXPECT_EQ(OutputElements<float>(*session), (std::vector<float>{6, 7, 8, 9}));
  // Without a feed the default, not the value fed before.
  ASSERT_OK(session->SetInput(0, View(x, kDims4)));
  ASSERT_OK(session->Run());
  EXPECT_EQ(OutputElements<float>(*session),
            (std::vector<float>{11, 12, 13, 14}));
  ExpectError(session->Run(), ErrorCode::kInvalidArgument,
              "inputs are not set: \"x\"");
  EXPECT_EQ(x, (std::vector<float>{1, 2, 3, 4}));
  ExpectError(session->Output(0), ErrorCode::kInvalidArgument,
              "there are no outputs");
}

TEST(SessionTest, InputsThatDoNotFitAreRefusedByName) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.AddParam("a", p.Symbolic(DType::kF32, {"n", "3"}));
  f.AddParam("b", p.Symbolic(DType::kF32, {"n"}));
  f.AddParam("c", p.Tensor(DType::kI64, {}));
  f.Emit(Opcode::kReturn).Passes({});
  f.Finish();
  const auto session = MakeSession(p.Load());
  std::vector<float> data(12);
  std::vector<int64_t> scalar = {7};
  const std::vector<int64_t> none;
  const std::vector<int64_t> one = {1};
  const std::vector<int64_t> two_three = {2, 3};
  const std::vector<int64_t> two_four = {2, 4};
  ExpectError(session->SetInput(0, View(data, two_four)),
              ErrorCode::kShapeMismatch,
              "input \"a\" is f32[2,4], the program needs f32[n,3]");
  ExpectError(session->SetInput(0, View(data, kDims4)),
              ErrorCode::kShapeMismatch, "input \"a\" is f32[4]");
  ExpectError(session->SetInput(2, View(scalar, one)),
              ErrorCode::kShapeMismatch,
              "input \"c\" is i64[1], the program needs i64[]");
  ExpectError(session->SetInput(2, View(data, none)), ErrorCode::kShapeMismatch,
              "input \"c\" is f32[], the program needs i64[]");
  ExpectError(session->SetInput(3, View(data, none)),
              ErrorCode::kInvalidArgument, "input 3 of 3");
  ASSERT_OK(session->SetInput(0, View(data, two_three)));
  ASSERT_OK(session->SetInput(1, View(data, kDims4)));
  ASSERT_OK(session->SetInput(2, View(scalar, none)));
  ExpectError(session->Run(), ErrorCode::kShapeMismatch,
              "input \"b\" is f32[4] where the program needs f32[n], but n is "
              "2 in input \"a\"");
  // Byte size, strides, missing data.
  TensorView view = View(data, two_three);
  view.byte_size = 20;
  ExpectError(session->SetInput(0, view), ErrorCode::kInvalidArgument,
              "input \"a\": f32[2,3] needs 24 bytes, the buffer has 20");
  view.byte_size = 0;
  view.data = nullptr;
  ExpectError(session->SetInput(0, view), ErrorCode::kInvalidArgument,
              "has no data");
  view = View(data, two_three);
  view.strides = one;
  ExpectError(session->SetInput(0, view), ErrorCode::kInvalidArgument,
              "1 strides for 2 dims");
  ExpectError(session->InputIndex("z"), ErrorCode::kNotFound,
              "no input \"z\"; there are: \"a\", \"b\", \"c\"");
  EXPECT_EQ(session->InputIndex("c").value(), 2U);
}

TEST(SessionTest, StridedAndMisalignedInputsAreCopied) {
  const auto session = MakeSession(AddWithDefault().Load());
  std::vector<float> reversed = {4, 0, 3, 0, 2, 0, 1};
  const std::vector<int64_t> strides = {-2};
  TensorView view = View(reversed, kDims4);
  view.data = reversed.data() + 6;
  view.strides = strides;
  view.byte_size = 0;
  ASSERT_OK(session->SetInput(0, view));
  std::vector<char> bytes(17);
  const float w[] = {1, 1, 1, 1};
  std::memcpy(bytes.data() + 1, w, sizeof(w));
  TensorView misaligned = View(reversed, kDims4);
  misaligned.data = bytes.data() + 1;
  ASSERT_OK(session->SetInput(1, misaligned));
  ASSERT_OK(session->Run());
  EXPECT_EQ(OutputElements<float>(*session), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(session->stats().copied_input_count, 2U);
}

// Outputs: x itself, a constant, a transposed view of x.
TEST(SessionTest, ViewsOfInputsAndConstantsLeaveAsCopies) {
  TestProgram p;
  const auto type = p.Tensor(DType::kF32, {2, 2});
  const auto constant = p.Constant<float>(DType::kF32, {2}, {7, 8});
  const auto repeat = p.Repeat<float>(DType::kF32, {3}, 9.0F);
  FunctionBuilder f = p.Function("main");
  f.AddParam("x", type);
  for (const char* name : {"same", "constant", "repeat", "turned", "again"}) {
    f.AddResult(name, p.Any());
  }
  f.Emit(Opcode::kConstant).DefHold(1).Constant(constant);
  f.Emit(Opcode::kConstant).DefHold(2).Constant(repeat);
  f.Emit(Opcode::kView)
      .DefHold(3)
      .Use(0)
      .Int(I(0))
      .DTypeCode(DType::kF32)
      .IntList({I(2), I(2)})
      .IntList({I(1), I(2)});
  f.Emit(Opcode::kReturn)
      .Passes({PassOperand::Share(0), PassOperand::Move(1),
               PassOperand::Move(2), PassOperand::Move(3),
               PassOperand::Share(0)});
  f.Finish();
  const ProgramRef program = p.Load();
  std::vector<float> x = {1, 2, 3, 4};
  const std::vector<int64_t> dims = {2, 2};
  {
    const auto session = MakeSession(program);
    ASSERT_OK(session->SetInput(0, View(x, dims)));
    ASSERT_OK(session->Run());
    x.assign(4, 0);
    EXPECT_EQ(OutputElements<float>(*session, 0),
              (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(OutputElements<float>(*session, 1), (std::vector<float>{7, 8}));
    EXPECT_EQ(OutputElements<float>(*session, 2),
              (std::vector<float>{9, 9, 9}));
    EXPECT_EQ(OutputElements<float>(*session, 3),
              (std::vector<float>{1, 3, 2, 4}));
    EXPECT_EQ(OutputElements<float>(*session, 4),
              (std::vector<float>{1, 2, 3, 4}));
  }
  SessionOptions options;
  options.borrow_outputs = true;
  const auto session = MakeSession(program, options);
  ASSERT_OK(session->SetInput(0, View(x, dims)));
  ASSERT_OK(session->Run());
  EXPECT_EQ(session->Output(0)->data, x.data());
  EXPECT_EQ(session->Output(1)->data, program->constant_bytes(constant).data());
  EXPECT_EQ(session->Output(3)->dims.size(), 2U);  // Dense, so a copy.
  EXPECT_NE(session->Output(3)->data, x.data());
}

// h' = h + x, the state of a loop over runs. `donated` lets it run in place.
TestProgram Accumulate(bool donated) {
  TestProgram p;
  const auto type = p.Tensor(DType::kF32, {4});
  FunctionBuilder f = p.Function("main");
  f.AddParam("h", type, donated);
  f.AddParam("x", type);
  f.AddResult("hn", type);
  const auto site = p.Site(OperatorCode::kAdd);
  if (donated) {
    p.Op(f, site, 0, {In(0), In(1)});
    p.Return(f, {0});
  } else {
    p.Alloc(f, 2, 3, DType::kF32, {I(4)});
    p.Op(f, site, 3, {In(0), In(1)});
    p.Return(f, {3});
  }
  f.Finish();
  return p;
}

class FeedbackTest : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(BorrowedAndDonated, FeedbackTest, ::testing::Bool());

TEST_P(FeedbackTest, OutputMemoryIsALegalInput) {
  const auto session = MakeSession(Accumulate(GetParam()).Load());
  std::vector<float> h = {0, 0, 0, 0};
  std::vector<float> x = {1, 2, 3, 4};
  ASSERT_OK(session->SetInput(0, View(h, kDims4)));
  ASSERT_OK(session->SetInput(1, View(x, kDims4)));
  ASSERT_OK(session->Run());
  for (int run = 2; run < 5; ++run) {
    TensorView state = session->Output(0).value();
    const std::vector<int64_t> dims(state.dims.begin(), state.dims.end());
    state.dims = dims;
    ASSERT_OK(session->SetInput(0, state));
    ASSERT_OK(session->SetInput(1, View(x, kDims4)));
    ASSERT_OK(session->Run());
    const auto n = static_cast<float>(run);
    EXPECT_EQ(OutputElements<float>(*session),
              (std::vector<float>{n, 2 * n, 3 * n, 4 * n}));
  }
  EXPECT_EQ(h, (std::vector<float>{0, 0, 0, 0}));
  // Only the caller's first state had to be copied.
  EXPECT_EQ(session->stats().copied_input_count, GetParam() ? 1U : 0U);
  EXPECT_EQ(session->stats().memory.live_block_count, 1U);
}

TEST_P(FeedbackTest, KeptOutputsAreUnchangedByLaterRuns) {
  const auto session = MakeSession(Accumulate(GetParam()).Load());
  std::vector<float> h = {0, 0, 0, 0};
  std::vector<float> x = {1, 2, 3, 4};
  ASSERT_OK(session->SetInput(0, View(h, kDims4)));
  ASSERT_OK(session->SetInput(1, View(x, kDims4)));
  ASSERT_OK(session->Run());
  auto first = session->Take(0);
  ASSERT_OK(first);
  ASSERT_OK(session->SetInputValue(0, *first));
  ASSERT_OK(session->SetInput(1, View(x, kDims4)));
  ASSERT_OK(session->Run());
  auto second = session->Take(0);
  EXPECT_EQ(Elements<float>(*first->tensor()),
            (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(Elements<float>(*second->tensor()),
            (std::vector<float>{2, 4, 6, 8}));
  // The memory of the kept one, given as memory.
  ASSERT_OK(session->SetInput(0, *first->tensor()));
  ASSERT_OK(session->SetInput(1, View(x, kDims4)));
  ASSERT_OK(session->Run());
  EXPECT_EQ(Elements<float>(*first->tensor()),
            (std::vector<float>{1, 2, 3, 4}));
}

TEST_P(FeedbackTest, OutputMayBeBoundToTheBufferOfAnInput) {
  const auto session = MakeSession(Accumulate(GetParam()).Load());
  std::vector<float> h = {1, 1, 1, 1};
  std::vector<float> x = {1, 2, 3, 4};
  ASSERT_OK(session->BindOutput(0, h.data(), 16));
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(session->SetInput(0, View(h, kDims4)));
    ASSERT_OK(session->SetInput(1, View(x, kDims4)));
    ASSERT_OK(session->Run());
  }
  EXPECT_EQ(h, (std::vector<float>{3, 5, 7, 9}));
  EXPECT_EQ(session->Output(0)->data, h.data());
  EXPECT_EQ(session->stats().memory.live_bytes, 0U);
  // A view of the bound memory is not kept: it is copied out.
  const auto taken = session->Take(0);
  h.assign(4, 0);
  EXPECT_EQ(Elements<float>(*taken->tensor()),
            (std::vector<float>{3, 5, 7, 9}));
}

TEST(SessionTest, DonatedValueIsUsedInPlace) {
  const auto session = MakeSession(Accumulate(true).Load());
  std::vector<float> h = {5, 5, 5, 5};
  std::vector<float> x = {1, 2, 3, 4};
  auto value = session->MakeTensor(View(h, kDims4));
  ASSERT_OK(value);
  const void* data = value->tensor()->data;
  ASSERT_OK(session->DonateInput(0, std::move(*value)));
  ASSERT_OK(session->SetInput(1, View(x, kDims4)));
  ASSERT_OK(session->Run());
  EXPECT_EQ(session->Output(0)->data, data);
  EXPECT_EQ(OutputElements<float>(*session), (std::vector<float>{6, 7, 8, 9}));
  EXPECT_EQ(session->stats().copied_input_count, 0U);
}

// The first output is the input itself, the second is computed.
TEST(SessionTest, BoundBuffersDoNotClobberPassedThroughInputs) {
  TestProgram p;
  const auto type = p.Tensor(DType::kF32, {4});
  FunctionBuilder f = p.Function("main");
  f.AddParam("x", type);
  f.AddResult("same", type);
  f.AddResult("negated", type);
  p.Alloc(f, 1, 2, DType::kF32, {I(4)});
  p.Op(f, p.Site(OperatorCode::kNeg), 2, {In(0)});
  f.Emit(Opcode::kReturn).Passes({PassOperand::Share(0), PassOperand::Move(2)});
  f.Finish();
  const auto session = MakeSession(p.Load());
  std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> same(4);
  ASSERT_OK(session->BindOutput(0, same.data(), 16));
  ASSERT_OK(session->BindOutput(1, x.data(), 16));
  ASSERT_OK(session->SetInput(0, View(x, kDims4)));
  ASSERT_OK(session->Run());
  EXPECT_EQ(same, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(x, (std::vector<float>{-1, -2, -3, -4}));

  ExpectError(
      session->BindOutput(0, x.data() + 2, 16), ErrorCode::kInvalidArgument,
      "output \"same\": the buffer overlaps that of output \"negated\"");
  ASSERT_OK(session->BindOutput(1, x.data(), 12));
  ASSERT_OK(session->SetInput(0, View(same, kDims4)));
  ExpectError(session->Run(), ErrorCode::kInvalidArgument,
              "output \"negated\" is f32[4] of 16 bytes, the bound buffer has "
              "12");
  session->UnbindOutput(1);
  ASSERT_OK(session->SetInput(0, View(same, kDims4)));
  ASSERT_OK(session->Run());
  EXPECT_EQ(OutputElements<float>(*session, 1),
            (std::vector<float>{-1, -2, -3, -4}));
}

TEST(SessionTest, TakenOutputsOutliveTheSessionAndDieOnAnyThread) {
  TakenValue taken;
  {
    const auto session = MakeSession(Accumulate(false).Load());
    std::vector<float> h = {1, 1, 1, 1};
    ASSERT_OK(session->SetInput(0, View(h, kDims4)));
    ASSERT_OK(session->SetInput(1, View(h, kDims4)));
    ASSERT_OK(session->Run());
    for (int i = 0; i < 100; ++i) {
      auto other = session->Take(0);
      ASSERT_OK(other);
      std::thread([value = std::move(*other)]() mutable {
        TakenValue dropped = std::move(value);
      }).detach();
      // Other outputs come and go meanwhile.
      ASSERT_OK(session->SetInput(0, View(h, kDims4)));
      ASSERT_OK(session->SetInput(1, View(h, kDims4)));
      ASSERT_OK(session->Run());
    }
    taken = std::move(*session->Take(0));
  }
  std::thread thread([value = std::move(taken)]() mutable {
    EXPECT_EQ(Elements<float>(*value.tensor()),
              (std::vector<float>{2, 2, 2, 2}));
    TakenValue dropped = std::move(value);
  });
  thread.join();
}

TEST(SessionTest, SequencesGoInAndOut) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  const auto item = p.Tensor(DType::kF32, {4});
  const auto sequence = p.module().InternType(
      {.kind = bytecode::TypeKind::kSequence, .fields = {item}});
  f.AddParam("s", sequence);
  f.AddParam("x", item);
  f.AddResult("t", sequence);
  f.Emit(Opcode::kSequenceInsert)
      .DefHold(2)
      .Pass(PassOperand::Share(0))
      .Pass(PassOperand::Share(1))
      .Int(I(1));
  p.Return(f, {2});
  f.Finish();
  const auto session = MakeSession(p.Load());
  std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> y = {5, 6, 7, 8};
  ExpectError(session->SetInput(0, View(x, kDims4)), ErrorCode::kShapeMismatch,
              "input \"s\" is a tensor");
  const auto made = session->MakeTensor(View(x, kDims4));
  const TakenValue* items[] = {&*made, &*made};
  const auto list = session->MakeSequence(items);
  ASSERT_OK(list);
  ExpectError(session->SetInputValue(1, *list), ErrorCode::kShapeMismatch,
              "input \"x\" is of kind sequence");
  ASSERT_OK(session->SetInputValue(0, *list));
  ASSERT_OK(session->SetInput(1, View(y, kDims4)));
  ASSERT_OK(session->Run());
  ExpectError(session->Output(0), ErrorCode::kInvalidArgument,
              "output \"t\" is of kind sequence, not a tensor");
  const auto taken = session->Take(0);
  ASSERT_OK(taken);
  ASSERT_EQ(AsObject(taken->value())->fields.size(), 3U);
  // The caller's memory went in, a copy comes out.
  y.assign(4, 0);
  EXPECT_EQ(Elements<float>(*session->Element(*taken, 1)->tensor()),
            (std::vector<float>{5, 6, 7, 8}));
  EXPECT_EQ(AsObject(list->value())->fields.size(), 2U);
}

TEST(SessionTest, StringTensorsAreBlocks) {
  // Offsets 24, 25, 27 and "abb".
  std::vector<uint8_t> block(27);
  const uint64_t offsets[] = {24, 25, 27};
  std::memcpy(block.data(), offsets, sizeof(offsets));
  std::memcpy(block.data() + 24, "abb", 3);
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.AddParam("s", p.Tensor(DType::kString, {2}));
  f.AddResult("t", p.Tensor(DType::kString, {2}));
  f.Emit(Opcode::kShare).DefHold(1).Use(0);
  p.Return(f, {1});
  f.Finish();
  const auto session = MakeSession(p.Load());
  const std::vector<int64_t> dims = {2};
  TensorView view{.dtype = DType::kString,
                  .dims = dims,
                  .strides = {},
                  .data = block.data(),
                  .byte_size = 27};
  ASSERT_OK(session->SetInput(0, view));
  ASSERT_OK(session->Run());
  const TensorView out = session->Output(0).value();
  EXPECT_EQ(out.dims.size(), 1U);
  EXPECT_NE(out.data, block.data());
  ASSERT_EQ(out.byte_size, 27);
  EXPECT_EQ(std::memcmp(out.data, block.data(), 27), 0);
  view.byte_size = 26;
  ExpectError(session->SetInput(0, view), ErrorCode::kInvalidArgument,
              "offset 2 is 27, must lie in [25, 26]");
}

TEST(SessionTest, ThreadsAreStartedOrRefused) {
  SessionOptions options;
  options.threads = 0;
  ExpectError(Session::Create(AddWithDefault().Load(), options),
              ErrorCode::kInvalidArgument, "threads: 0 is outside");
}

TEST(SessionTest, StatsAddUp) {
  const auto session = MakeSession(AddWithDefault().Load());
  std::vector<float> x(4);
  ASSERT_OK(session->SetInput(0, View(x, kDims4)));
  ASSERT_OK(session->Run());
  SessionStats stats = session->stats();
  EXPECT_EQ(stats.memory.reserved_bytes,
            stats.memory.live_bytes + stats.memory.cached_bytes);
  EXPECT_EQ(stats.memory.live_bytes, 64U);
  EXPECT_EQ(stats.last_run.requested_high_water, 16U);
  EXPECT_EQ(stats.last_run.instruction_count, 5U);
  EXPECT_EQ(stats.handle_count, 1U);
  EXPECT_EQ(stats.last_run.handle_misses, 1U);
  EXPECT_EQ(stats.weights.in_place_bytes, 4U);
  ASSERT_OK(session->SetInput(0, View(x, kDims4)));
  ASSERT_OK(session->Run());
  EXPECT_EQ(session->stats().last_run.handle_hits, 1U);
  session->ReleaseOutputs();
  EXPECT_EQ(session->stats().memory.live_bytes, 0U);
  session->ResetHighWater();
  EXPECT_EQ(session->stats().memory.live_high_water, 0U);
  session->Trim();
  EXPECT_EQ(session->stats().memory.reserved_bytes, 0U);
  EXPECT_EQ(session->stats().handle_count, 0U);
}

}  // namespace
}  // namespace ebb::vm
