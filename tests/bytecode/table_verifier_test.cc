#include "bytecode/table_verifier.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "bytecode/function_builder.h"
#include "tests/bytecode/verifier_errors.h"

namespace ebb::bytecode {
namespace {

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

}  // namespace
}  // namespace ebb::bytecode
