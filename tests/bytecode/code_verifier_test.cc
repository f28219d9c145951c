#include "bytecode/code_verifier.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bytecode/function_builder.h"
#include "tests/bytecode/verifier_errors.h"

namespace ebb::bytecode {
namespace {

using Int = IntOperand;

void Return(FunctionBuilder& b) { b.Emit(Opcode::kReturn).Passes({}); }

TEST(CodeVerifierTest, FunctionsEndWithATerminator) {
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder&) {}), "function main: has no code");
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              b.Emit(Opcode::kKillTensor).Kills({0});
            }),
            "function main: ends with kill_tensor and not with a jump or "
            "return");
}

TEST(CodeVerifierTest, WordsAreInOrder) {
  EXPECT_EQ(
      ErrorOfCode(Return,
                  [](Module& m) { m.functions[0].code[0].first_word = 1; }),
      "function main, instruction 0 (return): operands are at word 1, 0 "
      "is right");
  EXPECT_EQ(
      ErrorOfCode(Return, [](Module& m) { m.functions[0].words.push_back(0); }),
      "function main: has 2 words of operands, its instructions take 1");
  EXPECT_EQ(
      ErrorOfCode(Return, [](Module& m) { m.functions[0].words.clear(); }),
      "function main, instruction 0 (return): the operands are malformed");
  EXPECT_EQ(ErrorOfCode(Return,
                        [](Module& m) {
                          m.functions[0].code[0].opcode =
                              static_cast<Opcode>(0xff);
                        }),
            "function main, instruction 0: the opcode is not known");
}

TEST(CodeVerifierTest, RegistersAreBounded) {
  const auto emit = [](FunctionBuilder& b) {
    b.Emit(Opcode::kDimOf).DefInt(0).Use(0).Imm(1);
    b.Emit(Opcode::kIntMove).DefInt(0).Int(Int::Register(0));
    Return(b);
  };
  EXPECT_EQ(ErrorOfCode(emit), "");
  EXPECT_EQ(ErrorOfCode(
                emit, [](Module& m) { m.functions[0].int_register_count = 0; }),
            "function main, instruction 0 (dim): integer register 0 of 0 does "
            "not exist");
  EXPECT_EQ(ErrorOfCode(emit, [](Module& m) { m.functions[0].words[4] = 7; }),
            "function main, instruction 1 (int_move): the operands are "
            "malformed");
  EXPECT_EQ(ErrorOfCode(emit, [](Module& m) { m.functions[0].words[5] = -1; }),
            "function main, instruction 1 (int_move): integer register -1 of "
            "1 does not exist");
  EXPECT_EQ(ErrorOfCode(emit, [](Module& m) { m.functions[0].words[1] = 1; }),
            "function main, instruction 0 (dim): hold register 1 of 1 does "
            "not exist");
  EXPECT_EQ(ErrorOfCode(emit, [](Module& m) { m.functions[0].words[2] = -1; }),
            "function main, instruction 0 (dim): the number -1 is negative");
  EXPECT_EQ(
      ErrorOfCode(emit,
                  [](Module& m) { m.functions[0].hold_register_count = 0; }),
      "function main: has 1 parameter and 0 hold registers");
  EXPECT_EQ(
      ErrorOfCode(emit,
                  [](Module& m) { m.functions[0].hold_register_count = 5000; }),
      "function main: has 5000 registers, its code may have 264");
}

TEST(CodeVerifierTest, NamesFitTheCode) {
  EXPECT_EQ(
      ErrorOfCode(Return,
                  [](Module& m) { m.functions[0].value_names.resize(2); }),
      "function main: has 2 names and 1 instruction");
  EXPECT_EQ(ErrorOfCode(
                Return,
                [](Module& m) { m.functions[0].value_names = {StringId(77)}; }),
            "function main: string 77 of 7 does not exist");
}

TEST(CodeVerifierTest, IndexesAreInTheirTables) {
  const auto jump = [](FunctionBuilder& b) {
    const BlockLabel label = b.NewLabel();
    b.Bind(label);
    b.Emit(Opcode::kJump).Label(label);
  };
  EXPECT_EQ(ErrorOfCode(jump), "");
  EXPECT_EQ(ErrorOfCode(jump, [](Module& m) { m.functions[0].words[0] = 1; }),
            "function main, instruction 0 (jump): instruction 1 of 1 does not "
            "exist");
  EXPECT_EQ(
      ErrorOfCode([](FunctionBuilder& b) {
        b.Emit(Opcode::kCall).Function(FunctionId(2)).DefHolds({}).Passes({});
        Return(b);
      }),
      "function main, instruction 0 (call): function 2 of 2 does not "
      "exist");
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              b.Emit(Opcode::kConstant).DefHold(1).Constant(ConstantId(1));
              Return(b);
            }),
            "function main, instruction 0 (constant): constant 1 of 1 does "
            "not exist");
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              b.Emit(Opcode::kOpAlloc).Site(SiteId(2)).DefHolds({1}).Ins({});
              Return(b);
            }),
            "function main, instruction 0 (op_alloc): site 2 of 2 does not "
            "exist");
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              b.Emit(Opcode::kAssertEqual)
                  .Int(Int::Immediate(1))
                  .Int(Int::Immediate(1))
                  .String(StringId(50));
              Return(b);
            }),
            "function main, instruction 0 (assert_equal): string 50 of 7 does "
            "not exist");
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              b.Emit(Opcode::kAssertTensor)
                  .Use(0)
                  .DTypeCode(static_cast<DType>(77))
                  .Imm(0)
                  .String(StringId(0));
              Return(b);
            }),
            "function main, instruction 0 (assert_tensor): dtype 77 is not "
            "known");
}

TEST(CodeVerifierTest, CallsHaveTheArityOfTheFunction) {
  const auto call = [](std::initializer_list<int64_t> results,
                       std::initializer_list<PassOperand> passes) {
    return ErrorOfCode([&](FunctionBuilder& b) {
      b.Emit(Opcode::kCall)
          .Function(FunctionId(1))
          .DefHolds(results)
          .Passes(passes);
      Return(b);
    });
  };
  const auto x = PassOperand::Share(0);
  EXPECT_EQ(call({1}, {x, x}), "");
  EXPECT_EQ(call({kNoRegister}, {x, x}), "");
  EXPECT_EQ(call({1}, {x}),
            "function main, instruction 0 (call): has 1 argument, 2 are "
            "right");
  EXPECT_EQ(call({}, {x, x}),
            "function main, instruction 0 (call): has 0 results, 1 is right");
  EXPECT_EQ(ErrorOfCode([&](FunctionBuilder& b) {
              b.Emit(Opcode::kReturn).Passes({x});
            }),
            "function main, instruction 0 (return): has 1 result, 0 are "
            "right");
  EXPECT_EQ(ErrorOfCode([&](FunctionBuilder& b) {
              b.Emit(Opcode::kMakeClosure)
                  .DefHold(1)
                  .Function(FunctionId(1))
                  .Passes({x, x, x});
              Return(b);
            }),
            "function main, instruction 0 (make_closure): captures 3 values, "
            "the function has 2 parameters");
  EXPECT_EQ(ErrorOfCode([&](FunctionBuilder& b) {
              b.Emit(Opcode::kCallExternal)
                  .String(b.function().name)
                  .DefHolds({})
                  .Uses({})
                  .IntList({});
              Return(b);
            }),
            "function main, instruction 0 (call_external): external function "
            "main is not in the module's list");
}

TEST(CodeVerifierTest, OperatorsHaveTheOperandsOfTheirRow) {
  const auto op = [](std::size_t site, std::vector<int64_t> outs,
                     std::vector<InOperand> ins) {
    return ErrorOfCode([&](FunctionBuilder& b) {
      b.Emit(Opcode::kOp).Site(SiteId(site)).Outs(outs).Ins(ins).OptUse(0);
      Return(b);
    });
  };
  const std::string at = "function main, instruction 0 (op): ";
  const auto x = InOperand::Hold(0);
  const auto ints = InOperand::Ints({Int::Immediate(1)});
  EXPECT_EQ(op(0, {0}, {x}), "");
  EXPECT_EQ(op(1, {0}, {x, ints, ints, InOperand::None(), x}), "");
  EXPECT_EQ(op(0, {0}, {}), at + "relu has 0 inputs, 1 to 1 are right");
  EXPECT_EQ(op(0, {0}, {x, x}), at + "relu has 2 inputs, 1 to 1 are right");
  EXPECT_EQ(op(0, {}, {x}), at + "relu has 0 outputs, 1 to 1 are right");
  EXPECT_EQ(op(0, {0, 0}, {x}), at + "relu has 2 outputs, 1 to 1 are right");
  EXPECT_EQ(op(0, {kNoRegister}, {x}), at + "the first output of relu is none");
  EXPECT_EQ(op(0, {0}, {InOperand::None()}), at + "input 0 of relu is none");
  EXPECT_EQ(op(0, {0}, {ints}),
            at + "input 0 of relu is a list of integers, a tensor is right");
  EXPECT_EQ(op(1, {0}, {x, ints, InOperand::None()}),
            at + "input 2 of slice is none");
  EXPECT_EQ(ErrorOfCode([&](FunctionBuilder& b) {
              b.Emit(Opcode::kOpAlloc)
                  .Site(SiteId(0))
                  .DefHolds({kNoRegister})
                  .Ins(std::vector{x});
              Return(b);
            }),
            "function main, instruction 0 (op_alloc): the first output of "
            "relu is none");
}

TEST(CodeVerifierTest, MemoryIsWellFormed) {
  const auto alloc = [](int64_t alignment) {
    return ErrorOfCode([&](FunctionBuilder& b) {
      b.Emit(Opcode::kAllocStorage)
          .DefHold(1)
          .Int(Int::Immediate(8))
          .Imm(alignment);
      Return(b);
    });
  };
  const std::string at = "function main, instruction 0 (alloc_storage): ";
  EXPECT_EQ(alloc(4096), "");
  EXPECT_EQ(alloc(0), at + "alignment 0 is not a power of two up to 4096");
  EXPECT_EQ(alloc(3), at + "alignment 3 is not a power of two up to 4096");
  EXPECT_EQ(alloc(8192), at + "alignment 8192 is not a power of two up to "
                              "4096");
  const auto view = [](DType dtype, std::size_t rank, std::size_t strides) {
    return ErrorOfCode([&](FunctionBuilder& b) {
      b.Emit(Opcode::kView)
          .DefHold(1)
          .Use(0)
          .Int(Int::Immediate(0))
          .DTypeCode(dtype)
          .IntList(std::vector<Int>(rank))
          .IntList(std::vector<Int>(strides));
      Return(b);
    });
  };
  const std::string in_view = "function main, instruction 0 (view): ";
  EXPECT_EQ(view(DType::kF32, 2, 2), "");
  EXPECT_EQ(view(DType::kF32, 2, 0), "");
  EXPECT_EQ(view(DType::kF32, 2, 1), in_view + "has 2 dims and 1 stride");
  EXPECT_EQ(view(DType::kF32, 17, 0),
            in_view + "rank 17 is above the limit of 16");
  EXPECT_EQ(view(DType::kString, 1, 0),
            in_view + "elements of dtype string have no fixed size");
}

TEST(CodeVerifierTest, ValuesAreWellFormed) {
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              b.Emit(Opcode::kMakeOptional)
                  .DefHold(1)
                  .Passes({PassOperand::Share(0), PassOperand::Share(0)});
              Return(b);
            }),
            "function main, instruction 0 (optional): an optional of 2 "
            "values");
  EXPECT_EQ(ErrorOfCode([](FunctionBuilder& b) {
              b.Emit(Opcode::kMove).DefHold(0).Moved(0);
              Return(b);
            }),
            "function main, instruction 0 (move): moves register 0 to itself");
}

}  // namespace
}  // namespace ebb::bytecode
