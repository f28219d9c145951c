#include "bytecode/flow_verifier.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "bytecode/function_builder.h"
#include "tests/bytecode/verifier_errors.h"

namespace ebb::bytecode {
namespace {

using Int = IntOperand;

void Return(FunctionBuilder& b) { b.Emit(Opcode::kReturn).Passes({}); }

void Kill(FunctionBuilder& b, int64_t hold) {
  b.Emit(Opcode::kKillTensor).Kills({hold});
}
void Share(FunctionBuilder& b, int64_t to, int64_t from) {
  b.Emit(Opcode::kShare).DefHold(to).Use(from);
}

TEST(FlowVerifierTest, RegistersHoldWhatIsUsed) {
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              Share(b, 1, 0);
              for (int64_t i = 0; i < 10; ++i) {
                b.Emit(Opcode::kDimOf).DefInt(0).Use(1).Imm(0);
              }
              Kill(b, 1);
              Kill(b, 1);
              Return(b);
            }),
            "function main, instruction 12 (kill_tensor): register 1 holds "
            "nothing");
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              Share(b, 1, 2);
              Return(b);
            }),
            "function main, instruction 0 (share): register 2 holds nothing");
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              b.Emit(Opcode::kKillTensor).Kills({0, 0});
              Return(b);
            }),
            "function main, instruction 0 (kill_tensor): register 0 holds "
            "nothing");
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              b.Emit(Opcode::kMakeTuple)
                  .DefHold(1)
                  .Passes({PassOperand::Move(0), PassOperand::Share(0)});
              Return(b);
            }),
            "function main, instruction 0 (tuple): register 0 holds nothing");
}

TEST(FlowVerifierTest, OperandsAreTakenInOrderThenResultsPut) {
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              b.Emit(Opcode::kMakeTuple)
                  .DefHold(0)
                  .Passes({PassOperand::Share(0), PassOperand::Move(0)});
              Return(b);
            }),
            "");
}

TEST(FlowVerifierTest, RegistersAreEmptyWhenFilled) {
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              Share(b, 0, 0);
              Return(b);
            }),
            "function main, instruction 0 (share): register 0 already holds a "
            "value");
  EXPECT_EQ(ErrorOfCode(
                [](FunctionBuilder& b) {
                  b.Emit(Opcode::kCallExternal)
                      .String(b.function().name)
                      .DefHolds({1, 1})
                      .Uses({})
                      .IntList({});
                  Return(b);
                },
                [](Module& m) { m.externals = {m.functions[0].name}; }),
            "function main, instruction 0 (call_external): register 1 already "
            "holds a value");
}

TEST(FlowVerifierTest, IntegersAreWrittenBeforeTheyAreRead) {
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              b.Emit(Opcode::kIntMove).DefInt(1).Int(Int::Register(1));
              Return(b);
            }),
            "function main, instruction 0 (int_move): integer register 1 is "
            "read before it is written");
  const auto branch = [](bool both) {
    return ErrorOfCode([&](FunctionBuilder& b) {
      const BlockLabel other = b.NewLabel();
      const BlockLabel end = b.NewLabel();
      b.Emit(Opcode::kBranchIfZero).Int(Int::Immediate(1)).Label(other);
      b.Emit(Opcode::kIntMove).DefInt(0).Int(Int::Immediate(1));
      b.Emit(Opcode::kJump).Label(end);
      b.Bind(other);
      if (both) b.Emit(Opcode::kIntMove).DefInt(0).Int(Int::Immediate(2));
      b.Bind(end);
      b.Emit(Opcode::kIntMove).DefInt(1).Int(Int::Register(0));
      Return(b);
    });
  };
  EXPECT_EQ(branch(true), "");
  EXPECT_EQ(branch(false),
            "function main, instruction 3 (int_move): integer register 0 is "
            "read before it is written");
}

// One branch kills register 0, the other does not; then `use`.
std::string AfterUnevenBranch(
    const std::function<void(FunctionBuilder&)>& use) {
  return ErrorOfCode([&](FunctionBuilder& b) {
    const BlockLabel end = b.NewLabel();
    b.Emit(Opcode::kBranchIfZero).Int(Int::Immediate(1)).Label(end);
    Kill(b, 0);
    b.Bind(end);
    use(b);
    Return(b);
  });
}

TEST(FlowVerifierTest, WherePathsDifferARegisterIsOutOfUse) {
  EXPECT_EQ(AfterUnevenBranch([](FunctionBuilder&) {}), "");
  EXPECT_EQ(AfterUnevenBranch([](FunctionBuilder& b) { Share(b, 1, 0); }),
            "function main, instruction 2 (share): register 0 may hold "
            "nothing: the paths that lead here differ");
  EXPECT_EQ(AfterUnevenBranch([](FunctionBuilder& b) { Kill(b, 0); }),
            "function main, instruction 2 (kill_tensor): register 0 may hold "
            "nothing: the paths that lead here differ");
  EXPECT_EQ(AfterUnevenBranch([](FunctionBuilder& b) {
              b.Emit(Opcode::kConstant).DefHold(0).Constant(ConstantId(0));
            }),
            "function main, instruction 2 (constant): register 0 may hold a "
            "value: the paths that lead here differ");
}

TEST(FlowVerifierTest, LoopsComeBackAsTheyBegan) {
  const auto loop = [](const std::function<void(FunctionBuilder&)>& body) {
    return ErrorOfCode([&](FunctionBuilder& b) {
      const BlockLabel head = b.NewLabel();
      b.Bind(head);
      body(b);
      b.Emit(Opcode::kBranchIfZero).Int(Int::Immediate(1)).Label(head);
      Return(b);
    });
  };
  EXPECT_EQ(loop([](FunctionBuilder& b) {
              Share(b, 1, 0);
              Kill(b, 1);
            }),
            "");
  EXPECT_EQ(loop([](FunctionBuilder& b) { Kill(b, 0); }),
            "function main, instruction 0 (kill_tensor): register 0 may hold "
            "nothing: the paths that lead here differ");
  EXPECT_EQ(loop([](FunctionBuilder& b) { Share(b, 1, 0); }),
            "function main, instruction 0 (share): register 1 may hold a "
            "value: the paths that lead here differ");
}

TEST(FlowVerifierTest, CodeThatIsNeverReachedIsNotFollowed) {
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              Return(b);
              Kill(b, 0);
              Kill(b, 0);
              Return(b);
            }),
            "");
}

TEST(FlowVerifierTest, TooManyBlocksTimesRegistersIsALimit) {
  const auto blocks = [](int64_t count, int64_t registers) {
    return ErrorOfCode([&](FunctionBuilder& b) {
      for (int64_t i = 0; i < registers; ++i) Share(b, i + 1, 0);
      const BlockLabel end = b.NewLabel();
      for (int64_t i = 0; i < count; ++i) {
        b.Emit(Opcode::kBranchIfZero).Int(Int::Immediate(1)).Label(end);
      }
      b.Bind(end);
      Return(b);
    });
  };
  EXPECT_EQ(blocks(1000, 1000), "");
  EXPECT_EQ(blocks(20000, 20000),
            "function main: 20001 blocks and 20001 registers are too many to "
            "verify");
}

// Steps up one by one, each with a jump one step down; what comes in at the top
// goes down one step a round.
TEST(FlowVerifierTest, TangledJumpsAreALimitAndNoHang) {
  const auto ladder = [](std::size_t count) {
    return ErrorOfCode([&](FunctionBuilder& b) {
      std::vector<BlockLabel> steps;
      for (std::size_t i = 0; i < count; ++i) steps.push_back(b.NewLabel());
      const BlockLabel top = b.NewLabel();
      b.Emit(Opcode::kBranchIfZero).Int(Int::Immediate(1)).Label(top);
      for (std::size_t i = 0; i < count; ++i) {
        b.Bind(steps[i]);
        b.Emit(Opcode::kBranchIfZero)
            .Int(Int::Immediate(1))
            .Label(steps[i == 0 ? 0 : i - 1]);
      }
      Return(b);
      b.Bind(top);
      Share(b, 1, 0);
      b.Emit(Opcode::kJump).Label(steps.back());
    });
  };
  EXPECT_EQ(ladder(250), "");
  EXPECT_EQ(ladder(5000),
            "function main: jumps are too tangled to verify in 300 rounds");
}

TEST(FlowVerifierTest, LongChainsTakeLinearTime) {
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              for (int64_t i = 0; i < 200000; ++i) Share(b, i + 1, i);
              Return(b);
            }),
            "");
}

}  // namespace
}  // namespace ebb::bytecode
