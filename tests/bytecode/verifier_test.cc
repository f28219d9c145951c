#include "bytecode/verifier.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "bytecode/code_verifier.h"
#include "bytecode/flow_verifier.h"
#include "bytecode/function_builder.h"

namespace ebb::bytecode {
namespace {

using Int = IntOperand;

std::string ErrorOf(const Module& module) {
  const Status status = Verify(module);
  return status.has_value() ? "" : status.error().ToString();
}

// ---- Tables: one change to a module that verifies.

const float kWeights[6] = {};

Module GoodModule() {
  ModuleBuilder module;
  const TypeId type = module.TensorType(DType::kF32, {2, 3});
  module.AddConstant({.dtype = DType::kF32,
                      .dims = {2, 3},
                      .data = std::as_bytes(std::span(kWeights))});
  module.AddSite({.code = OperatorCode::kRelu});
  module.AddExternal("f");
  FunctionBuilder b(module, "main");
  b.AddParam("x", type);
  b.AddResult("y", type);
  b.Emit(Opcode::kReturn).Passes({PassOperand::Share(0)});
  b.Finish();
  return module.Finish();
}

std::string ErrorAfter(const std::function<void(Module&)>& change) {
  Module module = GoodModule();
  change(module);
  return ErrorOf(module);
}

TEST(TableVerifierTest, AcceptsAGoodModule) {
  EXPECT_EQ(ErrorOf(GoodModule()), "");
}

TEST(TableVerifierTest, Names) {
  EXPECT_EQ(ErrorAfter([](Module& m) { m.externals.push_back(StringId(9)); }),
            "externals: string 9 of 4 does not exist");
  EXPECT_EQ(ErrorAfter([](Module& m) { m.externals.push_back(StringId()); }),
            "externals: string is missing");
  EXPECT_EQ(
      ErrorAfter([](Module& m) { m.externals.push_back(m.externals[0]); }),
      "externals: f stands twice");
  EXPECT_EQ(ErrorAfter([](Module& m) { m.metadata = {{"b", ""}, {"a", ""}}; }),
            "metadata: key a is not sorted or stands twice");
  EXPECT_EQ(ErrorAfter([](Module& m) { m.metadata = {{"b", ""}, {"b", ""}}; }),
            "metadata: key b is not sorted or stands twice");
  EXPECT_EQ(ErrorAfter([](Module& m) { m.entry = FunctionId(); }),
            "entry: function is missing");
  EXPECT_EQ(ErrorAfter([](Module& m) { m.entry = FunctionId(1); }),
            "entry: function 1 of 1 does not exist");
}

TEST(TableVerifierTest, Types) {
  const auto error = [](const Type& type) {
    return ErrorAfter([&](Module& m) { m.types.push_back(type); });
  };
  EXPECT_EQ(error({.kind = static_cast<TypeKind>(8)}),
            "type 1: kind 8 is not known");
  EXPECT_EQ(error({.kind = TypeKind::kStorage, .dtype = DType::kF32}),
            "type 1: has a dtype that does not fit");
  EXPECT_EQ(error({.kind = TypeKind::kTensor, .dtype = static_cast<DType>(99)}),
            "type 1: has a dtype that does not fit");
  EXPECT_EQ(error({.kind = TypeKind::kStorage, .dims = {{.size = 1}}}),
            "type 1: has dims but is not a ranked tensor");
  EXPECT_EQ(
      error(
          {.kind = TypeKind::kTensor, .ranked = false, .dims = {{.size = 1}}}),
      "type 1: has dims but is not a ranked tensor");
  EXPECT_EQ(error({.kind = TypeKind::kObject, .ranked = false}),
            "type 1: is unranked but is not a tensor");
  EXPECT_EQ(
      error({.kind = TypeKind::kTensor, .dims = std::vector<DimSpec>(17)}),
      "type 1: rank 17 is above the limit of 16");
  EXPECT_EQ(error({.kind = TypeKind::kTensor, .dims = {{.size = -2}}}),
            "type 1: a dim is -2");
  EXPECT_EQ(error({.kind = TypeKind::kTensor,
                   .dims = {{.size = -1, .symbol = StringId(4)}}}),
            "type 1: string 4 of 4 does not exist");
  EXPECT_EQ(error({.kind = TypeKind::kSequence}),
            "type 1: has 0 fields, 1 are right");
  EXPECT_EQ(error({.kind = TypeKind::kTensor, .fields = {TypeId(0)}}),
            "type 1: has 1 fields, 0 are right");
  EXPECT_EQ(error({.kind = TypeKind::kTuple, .fields = {TypeId(1)}}),
            "type 1: earlier type 1 of 1 does not exist");
}

TEST(TableVerifierTest, TypesNestUpTo256) {
  const auto nest = [](int depth) {
    return ErrorAfter([&](Module& m) {
      for (int i = 1; i < depth; ++i) {
        // Twice, so that walking them as a tree would never end.
        const TypeId before(m.types.size() - 1);
        m.types.push_back(
            {.kind = TypeKind::kTuple, .fields = {before, before}});
      }
    });
  };
  EXPECT_EQ(nest(256), "");
  EXPECT_EQ(nest(257), "type 256: is nested 257 deep, the limit is 256");
}

TEST(TableVerifierTest, Constants) {
  const auto error = [](const std::function<void(Constant&)>& change) {
    return ErrorAfter([&](Module& m) { change(m.constants[0]); });
  };
  EXPECT_EQ(error([](Constant& c) { c.dims = {8, 4}; }),
            "constant 0: section holds 24 bytes, f32[8,4] needs 128");
  EXPECT_EQ(error([](Constant& c) { c.kind = ConstantKind::kRepeat; }),
            "constant 0: section holds 24 bytes, f32[2,3] repeated needs 4");
  EXPECT_EQ(error([](Constant& c) { c.kind = static_cast<ConstantKind>(3); }),
            "constant 0: kind 3 is not known");
  EXPECT_EQ(error([](Constant& c) { c.dtype = DType::kInvalid; }),
            "constant 0: has no dtype");
  EXPECT_EQ(error([](Constant& c) { c.dims = {-6}; }),
            "constant 0: the dims of f32[-6] are negative or too large");
  EXPECT_EQ(error([](Constant& c) { c.dims = {int64_t{1} << 62, 4}; }),
            "constant 0: the dims of f32[4611686018427387904,4] are negative "
            "or too large");
  EXPECT_EQ(error([](Constant& c) { c.dims = {int64_t{1} << 62}; }),
            "constant 0: f32[4611686018427387904] is too large");
  EXPECT_EQ(error([](Constant& c) { c.dims = std::vector<int64_t>(17, 1); }),
            "constant 0: rank 17 is above the limit of 16");
  EXPECT_EQ(error([](Constant& c) { c.name = StringId(4); }),
            "constant 0: string 4 of 4 does not exist");
  EXPECT_EQ(error([](Constant& c) { c.packing = {{0, 1}, {{0, 4}}}; }),
            "constant 0: section holds 24 bytes, f32[2,3] needs 48");
}

TEST(TableVerifierTest, Packings) {
  const auto error = [](const Packing& packing) {
    return ErrorAfter([&](Module& m) { m.constants[0].packing = packing; });
  };
  const std::string wrong = "constant 0: the packing does not fit f32[2,3]";
  EXPECT_EQ(error({{1, 0}, {{0, 2}, {1, 3}}}), "");
  EXPECT_EQ(error({{0}, {}}), wrong);
  EXPECT_EQ(error({{0, 0}, {}}), wrong);
  EXPECT_EQ(error({{0, 2}, {}}), wrong);
  EXPECT_EQ(error({{0, -1}, {}}), wrong);
  EXPECT_EQ(error({{0, 1}, {{2, 1}}}), wrong);
  EXPECT_EQ(error({{0, 1}, {{0, 0}}}), wrong);
  EXPECT_EQ(error({{0, 1}, {{0, 1 << 30}, {0, 1 << 30}, {0, 1 << 30}}}), wrong);
  EXPECT_EQ(ErrorAfter([](Module& m) {
              m.constants[0].kind = ConstantKind::kRepeat;
              m.constants[0].data = m.constants[0].data.first(4);
              m.constants[0].packing = Packing{{0, 1}, {}};
            }),
            wrong);
}

TEST(TableVerifierTest, StringBlocks) {
  const auto error = [](std::vector<uint64_t> offsets, std::size_t bytes) {
    std::vector<std::byte> data;
    for (uint64_t offset : offsets) {
      for (int i = 0; i < 8; ++i, offset >>= 8) {
        data.push_back(static_cast<std::byte>(offset & 0xff));
      }
    }
    data.resize(bytes);
    Module module = GoodModule();
    module.constants[0] = {.dtype = DType::kString, .dims = {2}, .data = data};
    return ErrorOf(module);
  };
  EXPECT_EQ(error({24, 25, 26}, 26), "");
  EXPECT_EQ(error({24, 24}, 16),
            "constant 0: section holds 16 bytes, the offsets of 2 strings "
            "need more");
  EXPECT_EQ(error({16, 25, 26}, 26),
            "constant 0: the first string is at 16, 24 is right");
  EXPECT_EQ(error({24, 30, 26}, 26),
            "constant 0: string 0 ends at 30, it begins at 24 of 26");
  EXPECT_EQ(error({24, 26, 25}, 26),
            "constant 0: string 1 ends at 25, it begins at 26 of 26");
  EXPECT_EQ(error({24, 25, 25}, 26),
            "constant 0: strings end at 25, the section holds 26 bytes");
}

TEST(TableVerifierTest, Sites) {
  const auto error = [](const std::function<void(Site&)>& change) {
    return ErrorAfter([&](Module& m) { change(m.sites[0]); });
  };
  EXPECT_EQ(error([](Site& s) { s.node = StringId(4); }),
            "site 0: string 4 of 4 does not exist");
  EXPECT_EQ(error([](Site& s) { s.code = static_cast<OperatorCode>(0xffff); }),
            "site 0: operator 65535 is not known");
  EXPECT_TRUE(error([](Site& s) {
                s.attributes.Set("color", int64_t{1});
              }).starts_with("site 0: "));
}

TEST(TableVerifierTest, Signatures) {
  const auto error = [](const std::function<void(Function&)>& change) {
    return ErrorAfter([&](Module& m) { change(m.functions[0]); });
  };
  EXPECT_EQ(error([](Function& f) { f.name = StringId(4); }),
            "function 0: string 4 of 4 does not exist");
  EXPECT_EQ(error([](Function& f) { f.params[0].name = StringId(4); }),
            "function main: string 4 of 4 does not exist");
  EXPECT_EQ(error([](Function& f) { f.params[0].type = TypeId(); }),
            "function main: type is missing");
  EXPECT_EQ(error([](Function& f) { f.results[0].type = TypeId(1); }),
            "function main: type 1 of 1 does not exist");
  EXPECT_EQ(error([](Function& f) { f.results[0].name = StringId(5); }),
            "function main: string 5 of 4 does not exist");
  EXPECT_EQ(error([](Function& f) { f.params[0].optional_feed = true; }),
            "function main: a parameter may be left out exactly when it has "
            "a default value");
  EXPECT_EQ(
      error([](Function& f) { f.params[0].default_value = ConstantId(0); }),
      "function main: a parameter may be left out exactly when it has "
      "a default value");
  EXPECT_EQ(error([](Function& f) {
              f.params[0].optional_feed = true;
              f.params[0].default_value = ConstantId(1);
            }),
            "function main: constant 1 of 1 does not exist");
  EXPECT_EQ(ErrorAfter([](Module& m) {
              m.functions.push_back(m.functions[0]);
              m.functions[1].params[0].optional_feed = true;
              m.functions[1].params[0].default_value = ConstantId(0);
            }),
            "function main: only the entry's parameters may be left out");
}

// ---- Code: functions with one mistake.

// The module has function main (of one borrowed parameter x and no result),
// function other (two parameters, one result), a site of relu and one of
// slice, and a constant.
std::string ErrorOfCode(const std::function<void(FunctionBuilder&)>& emit,
                        const std::function<void(Module&)>& change = {}) {
  ModuleBuilder module;
  const TypeId type = module.TensorType(DType::kF32, {2, 3});
  module.AddConstant({.dtype = DType::kF32,
                      .dims = {2, 3},
                      .data = std::as_bytes(std::span(kWeights))});
  module.AddSite({.code = OperatorCode::kRelu});
  module.AddSite({.code = OperatorCode::kSlice});
  module.AddExternal("f");
  FunctionBuilder b(module, "main");
  FunctionBuilder other(module, "other");
  other.AddParam("a", type);
  other.AddParam("b", type);
  other.AddResult("c", type);
  other.Emit(Opcode::kReturn).Passes({PassOperand::Share(0)});
  other.Finish();
  b.AddParam("x", type);
  emit(b);
  b.Finish();
  Module done = module.Finish();
  if (change) change(done);
  return ErrorOf(done);
}

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

// ---- Flow.

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
