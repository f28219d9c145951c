#include "bytecode/function_builder.h"

#include <gtest/gtest.h>

#include "bytecode/operand_reader.h"

namespace ebb::bytecode {
namespace {

TEST(FunctionBuilderTest, LaysOutWordsAsTheModuleHeaderSays) {
  ModuleBuilder module;
  FunctionBuilder b(module, "main");
  b.Emit(Opcode::kIntAdd)
      .DefInt(2)
      .Int(IntOperand::Register(0))
      .Int(IntOperand::Immediate(-3));
  b.Emit(Opcode::kOp)
      .Site(SiteId(7))
      .Outs({1, kNoRegister})
      .Ins({InOperand::Hold(4), InOperand::None(),
            InOperand::Ints({IntOperand::Register(5)})})
      .OptUse(kNoRegister);
  b.Emit(Opcode::kReturn).Passes({PassOperand::Share(6), PassOperand::Move(1)});
  const FunctionId id = b.Finish();
  const Module done = module.Finish();
  const Function& f = done.function(id);
  EXPECT_EQ(done.string(f.name), "main");
  EXPECT_EQ(f.words,
            (std::vector<int64_t>{2, 1,  0, 0,  -3,                           //
                                  7, 2,  1, -1, 3,  1, 4, 0, 2, 1, 1, 5, -1,  //
                                  2, 12, 3}));
  EXPECT_EQ(f.code[1].first_word, 5u);
  EXPECT_EQ(f.code[2].first_word, 18u);
  EXPECT_EQ(f.int_register_count, 6u);
  EXPECT_EQ(f.hold_register_count, 7u);
  EXPECT_EQ(done.entry, id);
}

TEST(FunctionBuilderTest, ResolvesLabelsBoundLater) {
  ModuleBuilder module;
  FunctionBuilder b(module, "main");
  const BlockLabel end = b.NewLabel();
  const BlockLabel start = b.NewLabel();
  b.Bind(start);
  b.Emit(Opcode::kBranchIfZero).Int(IntOperand::Immediate(0)).Label(end);
  b.Emit(Opcode::kJump).Label(start);
  b.Bind(end);
  b.Emit(Opcode::kReturn).Passes({});
  b.Finish();
  const Module done = module.Finish();
  const Function& f = done.functions[0];
  OperandReader in(f, f.code[0]);
  in.Word();
  in.Word();
  EXPECT_EQ(in.Word(), 2);
  EXPECT_EQ(f.words[f.code[1].first_word], 0);
}

TEST(FunctionBuilderTest, NamesStandAtTheirInstruction) {
  ModuleBuilder module;
  FunctionBuilder b(module, "main");
  b.Emit(Opcode::kAllocStorage)
      .DefHold(0)
      .Int(IntOperand::Immediate(64))
      .Imm(64);
  b.Emit(Opcode::kAllocStorage)
      .DefHold(1)
      .Int(IntOperand::Immediate(64))
      .Imm(64)
      .Name("scratch");
  b.Emit(Opcode::kReturn).Passes({});
  b.Finish();
  const Module done = module.Finish();
  const Function& f = done.functions[0];
  ASSERT_EQ(f.value_names.size(), 3u);
  EXPECT_FALSE(f.value_names[0].valid());
  EXPECT_EQ(done.string(f.value_names[1]), "scratch");
  EXPECT_FALSE(f.value_names[2].valid());
}

TEST(FunctionBuilderTest, ParametersTakeTheFirstHoldRegisters) {
  ModuleBuilder module;
  const FunctionId callee = module.DeclareFunction("later");
  FunctionBuilder b(module, "main");
  const TypeId type = module.TensorType(DType::kF32, {2});
  EXPECT_EQ(b.AddParam("x", type), 0);
  EXPECT_EQ(b.AddParam("y", type, true), 1);
  b.AddResult("z", type);
  b.Emit(Opcode::kCall).Function(callee).DefHolds({}).Passes({});
  b.Emit(Opcode::kReturn).Passes({PassOperand::Share(0)});
  EXPECT_EQ(b.Finish(), FunctionId(1));
  const Module done = module.Finish();
  EXPECT_EQ(done.functions[1].hold_register_count, 2u);
  EXPECT_TRUE(done.functions[1].params[1].donated);
}

#ifndef NDEBUG
TEST(FunctionBuilderDeathTest, OperandsMustFitTheFormat) {
  ModuleBuilder module;
  FunctionBuilder b(module, "main");
  EXPECT_DEATH(b.Emit(Opcode::kJump).Imm(3), "role");
  EXPECT_DEATH(
      {
        b.Emit(Opcode::kIntMove).DefInt(0);
        b.Emit(Opcode::kReturn);
      },
      "IsComplete");
}
#endif

}  // namespace
}  // namespace ebb::bytecode
