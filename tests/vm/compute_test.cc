#include "vm/compute.h"

#include <gtest/gtest.h>

#include "tests/vm/test_program.h"
#include "vm/kernels/packing.h"

namespace ebb::vm {
namespace {

const std::vector<int64_t> kDims23 = {2, 3};

// One operator on x: f32[2,3], which makes f32 of the dims.
struct OneOp {
  TestProgram p;
  FunctionBuilder f = p.Function("main");

  OneOp() {
    f.AddParam("x", p.Tensor(DType::kF32, {2, 3}));
    f.AddResult("y", p.Any());
  }
  Expected<std::vector<float>> Run() {
    p.Return(f, {2});
    f.Finish();
    const auto session = MakeSession(p.Load());
    std::vector<float> x = {1, -2, 3, -4, 5, -6};
    RETURN_IF_ERROR(session->SetInput(0, View(x, kDims23)));
    RETURN_IF_ERROR(session->Run());
    return OutputElements<float>(*session);
  }
};

TEST(ComputeTest, OutputsOfAnotherShapeOrDTypeNameTheNode) {
  OneOp a;
  a.p.Alloc(a.f, 1, 2, DType::kF32, {I(3), I(2)});
  a.p.Op(a.f, a.p.Site(OperatorCode::kRelu, {}, "relu_7"), 2, {In(0)});
  ExpectError(a.Run(), ErrorCode::kShapeMismatch,
              "node \"relu_7\" (relu): output 0 is f32[3,2], the operator "
              "makes f32[2,3]");
  OneOp b;
  b.p.Alloc(b.f, 1, 2, DType::kI64, {I(2), I(3)});
  b.p.Op(b.f, b.p.Site(OperatorCode::kRelu), 2, {In(0)});
  ExpectError(b.Run(), ErrorCode::kShapeMismatch,
              "relu: output 0 is i64[2,3], the operator makes f32[2,3]");
}

TEST(ComputeTest, InputsThatTheShapeRuleRefusesNameTheNode) {
  OneOp a;
  const auto c = a.p.Constant<float>(DType::kF32, {4}, {1, 2, 3, 4});
  a.f.Emit(Opcode::kConstant).DefHold(1).Constant(c);
  a.f.Emit(Opcode::kOpAlloc)
      .Site(a.p.Site(OperatorCode::kAdd, {}, "sum"))
      .DefHolds({2})
      .Ins({In(0), In(1)});
  ExpectError(a.Run(), ErrorCode::kShapeMismatch, "node \"sum\" (add)");
}

TEST(ComputeTest, InPlaceWhereTheTableSaysSo) {
  OneOp a;
  a.p.Alloc(a.f, 1, 2, DType::kF32, {I(2), I(3)});
  a.p.Op(a.f, a.p.Site(OperatorCode::kNeg), 2, {In(0)});
  a.p.Op(a.f, a.p.Site(OperatorCode::kRelu), 2, {In(2)});
  EXPECT_EQ(a.Run().value(), (std::vector<float>{0, 2, 0, 4, 0, 6}));
}

TEST(ComputeTest, OverlapOtherThanThatIsRefused) {
  // The output begins one row into the input.
  OneOp a;
  a.f.Emit(Opcode::kAllocStorage).DefHold(1).Int(I(36)).Imm(64);
  for (const int64_t tensor : {2, 3}) {
    a.f.Emit(Opcode::kAllocTensor)
        .DefHold(tensor)
        .Use(1)
        .Int(I((tensor - 2) * 12))
        .DTypeCode(DType::kF32)
        .IntList({I(2), I(3)})
        .IntList({});
  }
  a.p.Op(a.f, a.p.Site(OperatorCode::kNeg), 2, {In(0)});
  a.p.Op(a.f, a.p.Site(OperatorCode::kNeg), 3, {In(2)});
  ExpectError(a.Run(), ErrorCode::kInvalidFile, "output 0 overlaps input 0");

  OneOp b;
  b.p.Alloc(b.f, 1, 2, DType::kF32, {I(2), I(3)});
  b.p.Op(b.f, b.p.Site(OperatorCode::kNeg), 2, {In(0)});
  b.p.Op(b.f, b.p.Site(OperatorCode::kSoftmax), 2, {In(2)});
  ExpectError(b.Run(), ErrorCode::kInvalidFile, "output 0 overlaps input 0");
}

TEST(ComputeTest, InputsAndConstantsAreNeverWritten) {
  OneOp a;
  a.f.Emit(Opcode::kShare).DefHold(2).Use(0);
  a.p.Op(a.f, a.p.Site(OperatorCode::kNeg), 2, {In(0)});
  ExpectError(a.Run(), ErrorCode::kInvalidFile,
              "output 0 is an input or a constant");
  OneOp b;
  const auto c = b.p.Constant<float>(DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6});
  b.f.Emit(Opcode::kConstant).DefHold(2).Constant(c);
  b.p.Op(b.f, b.p.Site(OperatorCode::kNeg), 2, {In(0)});
  ExpectError(b.Run(), ErrorCode::kInvalidFile,
              "output 0 is an input or a constant");
}

TEST(ComputeTest, ValueInputsComeAsListsTensorsAndConstants) {
  for (const int form : {0, 1, 2}) {
    OneOp a;
    InOperand shape = InOperand::Ints({I(3), I(2)});
    if (form == 1) {
      a.f.Emit(Opcode::kConstant)
          .DefHold(1)
          .Constant(a.p.Constant<int64_t>(DType::kI64, {2}, {3, 2}));
      shape = In(1);
    } else if (form == 2) {
      a.p.Alloc(a.f, 5, 1, DType::kI64, {I(2)});
      a.f.Emit(Opcode::kStoreInts).Out(1).IntList({I(3), I(2)});
      shape = In(1);
    }
    a.p.Alloc(a.f, 5, 2, DType::kF32, {I(3), I(2)});
    a.p.Op(a.f, a.p.Site(OperatorCode::kReshape), 2, {In(0), shape});
    EXPECT_EQ(a.Run().value(), (std::vector<float>{1, -2, 3, -4, 5, -6}));
  }
}

TEST(ComputeTest, OpAllocAllocatesWhatTheRuleFinds) {
  OneOp a;
  a.f.Emit(Opcode::kOpAlloc)
      .Site(a.p.Site(OperatorCode::kTranspose))
      .DefHolds({2})
      .Ins({In(0)});
  EXPECT_EQ(a.Run().value(), (std::vector<float>{1, -4, -2, 5, 3, -6}));
}

TEST(ComputeTest, RepeatedConstantsServeEveryForm) {
  // Elementwise kernels take the one element with strides 0; the reshape of
  // the view and concat may want it written out.
  OneOp a;
  a.f.Emit(Opcode::kConstant)
      .DefHold(1)
      .Constant(a.p.Repeat<float>(DType::kF32, {3, 2}, 10.0F));
  a.f.Emit(Opcode::kView)
      .DefHold(3)
      .Use(1)
      .Int(I(0))
      .DTypeCode(DType::kF32)
      .IntList({I(2), I(3)})
      .IntList({});
  a.f.Emit(Opcode::kOpAlloc)
      .Site(a.p.Site(OperatorCode::kAdd))
      .DefHolds({4})
      .Ins({In(0), In(3)});
  Attributes attributes;
  attributes.Set("axis", int64_t{0});
  a.f.Emit(Opcode::kOpAlloc)
      .Site(a.p.Site(OperatorCode::kConcat, attributes))
      .DefHolds({5})
      .Ins({In(4), In(3)});
  a.f.Emit(Opcode::kOpAlloc)
      .Site(a.p.Site(OperatorCode::kSoftmax))
      .DefHolds({6})
      .Ins({In(3)});
  a.f.Emit(Opcode::kMove).DefHold(2).Moved(5);
  EXPECT_EQ(a.Run().value(),
            (std::vector<float>{11, 8, 13, 6, 15, 4, 10, 10, 10, 10, 10, 10}));
}

TEST(ComputeTest, PackedConstantsAreUnpackedWhereTheKernelWantsNone) {
  TestProgram p;
  const std::vector<float> plain = {1, 2, 3, 4, 5, 6};
  const Packing packing{.outer_order = {1, 0}, .blocks = {{0, 4}}};
  std::vector<float> packed(12);
  ASSERT_EQ(kernels::PackedBytes(packing, kDims23, 4).value(), 48);
  kernels::PackConstant(packing, kDims23, 4, plain.data(), packed.data());
  const auto constant =
      p.AddConstant(bytecode::ConstantKind::kData, DType::kF32, {2, 3},
                    p.Bytes(packed), packing);
  FunctionBuilder f = p.Function("main");
  for (const char* name : {"negated", "itself", "view"}) {
    f.AddResult(name, p.Any());
  }
  f.Emit(Opcode::kConstant).DefHold(0).Constant(constant);
  f.Emit(Opcode::kOpAlloc)
      .Site(p.Site(OperatorCode::kNeg))
      .DefHolds({1})
      .Ins({In(0)});
  f.Emit(Opcode::kView)
      .DefHold(2)
      .Use(0)
      .Int(I(8))
      .DTypeCode(DType::kF32)
      .IntList({I(4)})
      .IntList({});
  p.Return(f, {1, 0, 2});
  f.Finish();
  const ProgramRef program = p.Load();
  const auto session = MakeSession(program);
  ASSERT_OK(session->Run());
  EXPECT_EQ(OutputElements<float>(*session, 0),
            (std::vector<float>{-1, -2, -3, -4, -5, -6}));
  EXPECT_EQ(OutputElements<float>(*session, 1), plain);
  EXPECT_EQ(OutputElements<float>(*session, 2),
            (std::vector<float>{3, 4, 5, 6}));
  EXPECT_EQ(program->weight_stats().unpacked_count, 1U);
  EXPECT_EQ(program->weight_stats().owned_bytes, 24U);
}

// Softmax over run-time dims: handles per shape, bounded.
TEST(ComputeTest, HandlesAreKeptPerShapeAndBounded) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.AddParam("x", p.Tensor(DType::kF32, {-1}));
  f.AddResult("y", p.Tensor(DType::kF32, {-1}));
  f.Emit(Opcode::kOpAlloc)
      .Site(p.Site(OperatorCode::kRelu))
      .DefHolds({1})
      .Ins({In(0)});
  p.Return(f, {1});
  f.Finish();
  SessionOptions options;
  options.shapes_per_site = 4;
  const auto session = MakeSession(p.Load(), options);
  std::vector<float> x(64, 1.0F);
  const auto run = [&](int64_t n) {
    const std::vector<int64_t> dims = {n};
    TensorView view = View(x, dims);
    EXPECT_OK(session->SetInput(0, view));
    EXPECT_OK(session->Run());
    EXPECT_EQ(session->Output(0)->dims[0], n);
  };
  for (int round = 0; round < 3; ++round) {
    for (int64_t n = 1; n <= 4; ++n) run(n);
  }
  EXPECT_EQ(session->stats().handle_misses, 4U);
  EXPECT_EQ(session->stats().handle_hits, 8U);
  for (int64_t n = 1; n <= 64; ++n) run(n);
  EXPECT_EQ(session->stats().handle_count, 4U);
  EXPECT_EQ(session->stats().handle_evictions, 60U);
}

TEST(ComputeTest, IndexOutOfRangeNamesNodeIndexAndBounds) {
  OneOp a;
  a.f.Emit(Opcode::kConstant)
      .DefHold(1)
      .Constant(a.p.Constant<int64_t>(DType::kI64, {1}, {3}));
  a.f.Emit(Opcode::kOpAlloc)
      .Site(a.p.Site(OperatorCode::kGather, {}, "pick"))
      .DefHolds({2})
      .Ins({In(0), In(1)});
  ExpectError(a.Run(), ErrorCode::kOutOfRange,
              "node \"pick\" (gather): index 3 is outside [-2, 1]");
}

TEST(ComputeTest, ScratchBytesMatchWhatTheOperatorTakes) {
  OneOp a;
  const auto site = a.p.Site(OperatorCode::kSoftmax);
  a.p.Alloc(a.f, 1, 2, DType::kF32, {I(2), I(3)});
  a.f.Emit(Opcode::kScratchBytes).DefInt(0).Site(site).Outs({2}).Ins({In(0)});
  a.f.Emit(Opcode::kAllocStorage).DefHold(3).Int(R(0)).Imm(64);
  a.f.Emit(Opcode::kAllocTensor)
      .DefHold(4)
      .Use(3)
      .Int(I(0))
      .DTypeCode(DType::kU8)
      .IntList({R(0)})
      .IntList({});
  a.f.Emit(Opcode::kOp).Site(site).Outs({2}).Ins({In(0)}).OptUse(4);
  const auto y = a.Run();
  ASSERT_OK(y);
  EXPECT_NEAR((*y)[0] + (*y)[1] + (*y)[2], 1.0F, 1e-6F);
}

}  // namespace
}  // namespace ebb::vm
