#include "bytecode/lifetime_checker.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "bytecode/function_builder.h"
#include "bytecode/verifier.h"
#include "tests/bytecode/program_generator.h"

namespace ebb::bytecode {
namespace {

using Int = IntOperand;

// A function with parameters x (borrowed) and d (donated) in registers 0 and
// 1, and what a check of it says.
class LifetimeCheckerTest : public ::testing::Test {
 protected:
  LifetimeCheckerTest() : b_(module_, "main") {
    const TypeId type = module_.TensorType(DType::kF32, {2});
    b_.AddParam("x", type);
    b_.AddParam("d", type, true);
  }

  void Storage(int64_t hold) {
    b_.Emit(Opcode::kAllocStorage).DefHold(hold).Int(Int::Immediate(8)).Imm(64);
  }
  void Tensor(int64_t hold, int64_t storage) {
    b_.Emit(Opcode::kAllocTensor)
        .DefHold(hold)
        .Use(storage)
        .Int(Int::Immediate(0))
        .DTypeCode(DType::kF32)
        .IntList({Int::Immediate(2)})
        .IntList({});
  }
  void Kill(Opcode opcode, int64_t hold) { b_.Emit(opcode).Kills({hold}); }
  void KillDonated() { Kill(Opcode::kKillTensor, 1); }
  void Return(std::initializer_list<PassOperand> results = {}) {
    for (const PassOperand result : results) {
      b_.AddResult("", module_.TensorType(DType::kF32, {2}));
      (void)result;
    }
    b_.Emit(Opcode::kReturn).Passes(results);
  }

  // The error, or "". `verifies` false: the verifier must refuse it too, since
  // the checker then proves something that it proves as well.
  std::string Check(bool verifies = true) {
    b_.Finish();
    const Module module = module_.Finish();
    const Status verified = Verify(module);
    EXPECT_EQ(verified.has_value(), verifies)
        << (verifies ? verified.error().ToString() : "");
    const Status status = CheckLifetimes(module);
    return status.has_value() ? "" : status.error().ToString();
  }

  ModuleBuilder module_;
  FunctionBuilder b_;
};

TEST_F(LifetimeCheckerTest, AcceptsKillsAtLastUses) {
  Storage(2);
  Tensor(3, 2);
  Kill(Opcode::kKillStorage, 2);
  KillDonated();
  Return({PassOperand::Move(3)});
  EXPECT_EQ(Check(), "");
}

TEST_F(LifetimeCheckerTest, OwnedValuesMustBeGoneAtReturn) {
  Storage(2);
  KillDonated();
  Return();
  EXPECT_EQ(Check(),
            "function main, instruction 2 (return): register 2 still holds a "
            "storage");
}

TEST_F(LifetimeCheckerTest, DonatedParametersAreOwned) {
  Return();
  EXPECT_EQ(Check(),
            "function main, instruction 0 (return): register 1 still holds a "
            "tensor");
}

TEST_F(LifetimeCheckerTest, DonatedParametersMayBeReturned) {
  Return({PassOperand::Move(1)});
  EXPECT_EQ(Check(), "");
}

TEST_F(LifetimeCheckerTest, ReturningByShareKeepsTheHold) {
  Return({PassOperand::Share(1)});
  EXPECT_EQ(Check(),
            "function main, instruction 0 (return): register 1 still holds a "
            "tensor");
}

TEST_F(LifetimeCheckerTest, BorrowedParametersAreShared) {
  KillDonated();
  Return({PassOperand::Share(0)});
  EXPECT_EQ(Check(), "");
}

TEST_F(LifetimeCheckerTest, BorrowedParametersAreNotKilled) {
  Kill(Opcode::kKillTensor, 0);
  KillDonated();
  Return();
  EXPECT_EQ(Check(),
            "function main, instruction 0 (kill_tensor): register 0 is killed "
            "but is borrowed");
}

TEST_F(LifetimeCheckerTest, BorrowedParametersAreNotMoved) {
  KillDonated();
  Return({PassOperand::Move(0)});
  EXPECT_EQ(Check(),
            "function main, instruction 1 (return): register 0 is moved but "
            "is borrowed");
}

TEST_F(LifetimeCheckerTest, ASecondHoldOnABorrowedValueIsOwned) {
  b_.Emit(Opcode::kShare).DefHold(2).Use(0);
  KillDonated();
  Return();
  EXPECT_EQ(Check(),
            "function main, instruction 2 (return): register 2 still holds a "
            "tensor");
}

TEST_F(LifetimeCheckerTest, ConstantsNeedNoKillAndMayHaveOne) {
  auto one = std::make_shared<float>(1.0f);
  const ConstantId constant = module_.AddConstant(
      {.dtype = DType::kF32, .data = std::as_bytes(std::span(one.get(), 1))});
  b_.Emit(Opcode::kConstant).DefHold(2).Constant(constant);
  b_.Emit(Opcode::kConstant).DefHold(3).Constant(constant);
  b_.Emit(Opcode::kShare).DefHold(4).Use(3);
  Kill(Opcode::kKillTensor, 2);
  KillDonated();
  Return({PassOperand::Share(3)});
  EXPECT_EQ(Check(), "");
}

TEST_F(LifetimeCheckerTest, KillsFitWhatTheyEnd) {
  Storage(2);
  Kill(Opcode::kKillTensor, 2);
  KillDonated();
  Return();
  EXPECT_EQ(Check(),
            "function main, instruction 1 (kill_tensor): register 2 holds a "
            "storage, the kill is for a tensor");
}

TEST_F(LifetimeCheckerTest, TuplesAreKilledAsObjects) {
  b_.Emit(Opcode::kMakeTuple).DefHold(2).Passes({PassOperand::Share(0)});
  KillDonated();
  Kill(Opcode::kKillStorage, 2);
  Return();
  EXPECT_EQ(Check(),
            "function main, instruction 2 (kill_storage): register 2 holds an "
            "object, the kill is for a storage");
}

TEST_F(LifetimeCheckerTest, ResultsOfCallsHaveTheirTypesKind) {
  const FunctionId callee = module_.DeclareFunction("callee");
  const TypeId tensor = module_.TensorType(DType::kF32, {2});
  const TypeId storage = module_.StorageType();
  FunctionBuilder c(module_, callee);
  c.AddResult("", tensor);
  c.AddResult("", storage);
  c.Emit(Opcode::kAllocStorage).DefHold(0).Int(Int::Immediate(8)).Imm(64);
  c.Emit(Opcode::kShare).DefHold(1).Use(0);
  c.Emit(Opcode::kReturn).Passes({PassOperand::Move(1), PassOperand::Move(0)});
  c.Finish();
  b_.Emit(Opcode::kCall).Function(callee).DefHolds({kNoRegister, 2}).Passes({});
  KillDonated();
  Kill(Opcode::kKillTensor, 2);
  Return();
  EXPECT_EQ(Check(),
            "function main, instruction 2 (kill_tensor): register 2 holds a "
            "storage, the kill is for a tensor");
}

TEST_F(LifetimeCheckerTest, WhatOnlyTheRunTellsTakesAnyKill) {
  b_.Emit(Opcode::kCallExternal)
      .String(module_.AddExternal("f"))
      .DefHolds({2, 3})
      .Uses({0})
      .IntList({});
  Kill(Opcode::kKillStorage, 2);
  Kill(Opcode::kKillTensor, 3);
  KillDonated();
  Return();
  EXPECT_EQ(Check(), "");
}

TEST_F(LifetimeCheckerTest, NoReadAfterKill) {
  KillDonated();
  b_.Emit(Opcode::kDimOf).DefInt(0).Use(1).Imm(0);
  Return();
  EXPECT_EQ(Check(false),
            "function main, instruction 1 (dim): register 1 is read after its "
            "kill or move");
}

TEST_F(LifetimeCheckerTest, NoSecondKill) {
  KillDonated();
  KillDonated();
  Return();
  EXPECT_EQ(Check(false),
            "function main, instruction 1 (kill_tensor): register 1 is killed "
            "a second time");
}

TEST_F(LifetimeCheckerTest, NoMoveAfterMove) {
  b_.Emit(Opcode::kMakeTuple)
      .DefHold(2)
      .Passes({PassOperand::Move(1), PassOperand::Move(1)});
  Kill(Opcode::kKillObject, 2);
  Return();
  EXPECT_EQ(Check(false),
            "function main, instruction 0 (tuple): register 1 is moved after "
            "its kill or move");
}

TEST_F(LifetimeCheckerTest, NothingIsPutOverAHeldValue) {
  Storage(1);
  Return();
  EXPECT_EQ(Check(false),
            "function main, instruction 0 (alloc_storage): register 1 is "
            "filled while it still holds a tensor");
}

TEST_F(LifetimeCheckerTest, AResultMayTakeTheRegisterOfAMovedValue) {
  b_.Emit(Opcode::kMakeTuple).DefHold(1).Passes({PassOperand::Move(1)});
  Kill(Opcode::kKillObject, 1);
  Return();
  EXPECT_EQ(Check(), "");
}

// if (0) { …then } else { …otherwise }
class LifetimeBranchTest : public LifetimeCheckerTest {
 protected:
  void Branch(const std::function<void()>& then,
              const std::function<void()>& otherwise) {
    const BlockLabel other = b_.NewLabel();
    const BlockLabel end = b_.NewLabel();
    b_.Emit(Opcode::kBranchIfZero).Int(Int::Immediate(0)).Label(other);
    then();
    b_.Emit(Opcode::kJump).Label(end);
    b_.Bind(other);
    otherwise();
    b_.Bind(end);
  }
};

TEST_F(LifetimeBranchTest, BothBranchesKill) {
  Branch([&] { KillDonated(); }, [&] { KillDonated(); });
  Return();
  EXPECT_EQ(Check(), "");
}

TEST_F(LifetimeBranchTest, ABranchThatForgetsIsFound) {
  Branch([&] { KillDonated(); }, [] {});
  Return();
  EXPECT_EQ(Check(),
            "function main, instruction 3 (return): register 1 still holds a "
            "tensor on some path");
}

TEST_F(LifetimeBranchTest, NoReadOfWhatOneBranchKilled) {
  Branch([&] { KillDonated(); }, [] {});
  b_.Emit(Opcode::kDimOf).DefInt(0).Use(1).Imm(0);
  Return();
  EXPECT_EQ(Check(false),
            "function main, instruction 3 (dim): register 1 is read after its "
            "kill or move on some path");
}

TEST_F(LifetimeBranchTest, NoKillOfWhatOneBranchKilled) {
  Branch([&] { KillDonated(); }, [] {});
  KillDonated();
  Return();
  EXPECT_EQ(Check(false),
            "function main, instruction 3 (kill_tensor): register 1 is killed "
            "a second time on some path");
}

TEST_F(LifetimeBranchTest, AConstantOnOnePathIsOwnedOnTheOther) {
  auto one = std::make_shared<float>(1.0f);
  const ConstantId constant = module_.AddConstant(
      {.dtype = DType::kF32, .data = std::as_bytes(std::span(one.get(), 1))});
  Branch([&] { b_.Emit(Opcode::kConstant).DefHold(2).Constant(constant); },
         [&] { b_.Emit(Opcode::kShare).DefHold(2).Use(0); });
  KillDonated();
  Return();
  EXPECT_EQ(Check(),
            "function main, instruction 5 (return): register 2 still holds a "
            "tensor");
}

TEST_F(LifetimeBranchTest, KindsOfBothBranchesMustFit) {
  Branch([&] { Storage(2); },
         [&] { b_.Emit(Opcode::kShare).DefHold(2).Use(0); });
  KillDonated();
  Kill(Opcode::kKillTensor, 2);
  Return();
  EXPECT_EQ(Check(),
            "function main, instruction 5 (kill_tensor): register 2 holds a "
            "storage, the kill is for a tensor");
}

TEST_F(LifetimeBranchTest, AStepOfALoopMustNotKillWhatTheNextReads) {
  const BlockLabel head = b_.NewLabel();
  const BlockLabel end = b_.NewLabel();
  b_.Bind(head);
  b_.Emit(Opcode::kBranchIfZero).Int(Int::Immediate(0)).Label(end);
  b_.Emit(Opcode::kDimOf).DefInt(0).Use(1).Imm(0);
  KillDonated();
  b_.Emit(Opcode::kJump).Label(head);
  b_.Bind(end);
  Return();
  EXPECT_EQ(Check(false),
            "function main, instruction 1 (dim): register 1 is read after its "
            "kill or move on some path");
}

TEST_F(LifetimeBranchTest, ALoopThatCarriesItsValueIsAccepted) {
  const BlockLabel head = b_.NewLabel();
  const BlockLabel end = b_.NewLabel();
  b_.Bind(head);
  b_.Emit(Opcode::kBranchIfZero).Int(Int::Immediate(0)).Label(end);
  b_.Emit(Opcode::kMakeTuple).DefHold(2).Passes({PassOperand::Move(1)});
  b_.Emit(Opcode::kGetField).DefHold(1).Use(2).Int(Int::Immediate(0));
  Kill(Opcode::kKillObject, 2);
  b_.Emit(Opcode::kJump).Label(head);
  b_.Bind(end);
  KillDonated();
  Return();
  EXPECT_EQ(Check(), "");
}

TEST(LifetimePropertyTest, GeneratedProgramsAreAccepted) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Status status = CheckLifetimes(GenerateModule(seed));
    ASSERT_TRUE(status.has_value())
        << "seed " << seed << ": " << status.error().ToString();
  }
}

// Takes kills out of generated programs, one at a time: each is missed.
TEST(LifetimePropertyTest, EveryMissingKillIsFound) {
  int removed = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Module module = GenerateModule(seed, {.function_count = 1});
    const Function& f = module.functions[0];
    for (std::size_t i = 0; i < f.code.size(); ++i) {
      const Opcode opcode = f.code[i].opcode;
      if (opcode != Opcode::kKillTensor && opcode != Opcode::kKillObject &&
          opcode != Opcode::kKillStorage) {
        continue;
      }
      Module damaged = module;
      // An empty list takes the place of the kills.
      Function& g = damaged.functions[0];
      const std::size_t word = g.code[i].first_word;
      const auto count = static_cast<std::ptrdiff_t>(g.words[word]);
      g.words.erase(
          g.words.begin() + static_cast<std::ptrdiff_t>(word) + 1,
          g.words.begin() + static_cast<std::ptrdiff_t>(word) + 1 + count);
      g.words[word] = 0;
      for (std::size_t j = i + 1; j < g.code.size(); ++j) {
        g.code[j].first_word -= static_cast<uint32_t>(count);
      }
      const Status status = CheckLifetimes(damaged);
      // Constants need no kill.
      bool only_constants = f.code[i].opcode == Opcode::kKillTensor;
      if (!status.has_value()) {
        ++removed;
      } else {
        EXPECT_TRUE(only_constants) << "seed " << seed << " at " << i;
      }
    }
  }
  EXPECT_GT(removed, 100);
}

}  // namespace
}  // namespace ebb::bytecode
