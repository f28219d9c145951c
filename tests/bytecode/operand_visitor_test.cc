#include "bytecode/operand_visitor.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bytecode/function_builder.h"

namespace ebb::bytecode {
namespace {

std::vector<Operand> OperandsOf(const Function& function, std::size_t index) {
  std::vector<Operand> operands;
  ForEachOperand(function, function.code[index],
                 [&](const Operand& operand) { operands.push_back(operand); });
  return operands;
}

TEST(OperandVisitorTest, FlattensListsAndInputs) {
  ModuleBuilder module;
  FunctionBuilder b(module, "main");
  b.Emit(Opcode::kOpAlloc)
      .Site(SiteId(3))
      .DefHolds({5, kNoRegister})
      .Ins({InOperand::Hold(4), InOperand::None(),
            InOperand::Ints({IntOperand::Register(1)})});
  b.Finish();
  const auto o = OperandsOf(module.module().functions[0], 0);
  ASSERT_EQ(o.size(), 9u);
  EXPECT_EQ(o[0].role, Role::kSiteRef);
  EXPECT_EQ(o[1].kind, OperandKind::kCount);
  EXPECT_EQ(o[1].value, 2);
  EXPECT_TRUE(o[2].Fills());
  EXPECT_EQ(o[2].value, 5);
  EXPECT_EQ(o[3].kind, OperandKind::kNone);
  EXPECT_EQ(o[5].kind, OperandKind::kHold);
  EXPECT_EQ(o[6].kind, OperandKind::kNone);
  EXPECT_TRUE(o[7].nested);
  EXPECT_EQ(o[7].value, 1);
  EXPECT_TRUE(o[8].is_register);
}

TEST(OperandVisitorTest, SaysWhatHappensToHolds) {
  ModuleBuilder module;
  FunctionBuilder b(module, "main");
  b.Emit(Opcode::kKillTensor).Kills({1});
  b.Emit(Opcode::kReturn).Passes({PassOperand::Share(2), PassOperand::Move(3)});
  b.Emit(Opcode::kMove).DefHold(4).Moved(5);
  b.Finish();
  const Function& f = module.module().functions[0];
  EXPECT_TRUE(OperandsOf(f, 0)[1].Empties());
  EXPECT_FALSE(OperandsOf(f, 1)[1].Empties());
  EXPECT_EQ(OperandsOf(f, 1)[1].value, 2);
  EXPECT_TRUE(OperandsOf(f, 1)[2].Empties());
  EXPECT_FALSE(OperandsOf(f, 1)[2].Kills());
  EXPECT_TRUE(OperandsOf(f, 2)[1].Empties());
}

bool WellFormed(Opcode opcode, std::vector<int64_t> words) {
  return WalkOperands(InfoOf(opcode).roles, words, 0, [](const Operand&) {}) !=
         kMalformedOperands;
}

TEST(OperandVisitorTest, ReadsNothingPastTheWords) {
  EXPECT_FALSE(WellFormed(Opcode::kIntMove, {}));
  EXPECT_FALSE(WellFormed(Opcode::kIntMove, {0, 1}));
  EXPECT_FALSE(WellFormed(Opcode::kIntMove, {0, 2, 0}));
  EXPECT_TRUE(WellFormed(Opcode::kIntMove, {0, 1, 0}));
  EXPECT_FALSE(WellFormed(Opcode::kKillTensor, {-1}));
  EXPECT_FALSE(WellFormed(Opcode::kKillTensor, {2, 0}));
  EXPECT_FALSE(WellFormed(Opcode::kReturn, {1, -1}));
  EXPECT_FALSE(WellFormed(Opcode::kOpAlloc, {0, 0, 1, 3}));
  EXPECT_FALSE(WellFormed(Opcode::kOpAlloc, {0, 0, 1, 2, 1, 1}));
  EXPECT_FALSE(WellFormed(Opcode::kOpAlloc, {0, 0, 1, 1}));
  EXPECT_TRUE(WellFormed(Opcode::kOpAlloc, {0, 0, 1, 2, 1, 1, 0}));
}

}  // namespace
}  // namespace ebb::bytecode
