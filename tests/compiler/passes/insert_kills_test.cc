// Size and depth; what the pass inserts is shown by tests/golden/insert_kills.
#include "compiler/passes/insert_kills.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/instr_info.h"
#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/passes/canonicalize.h"
#include "compiler/passes/common_subexpressions.h"
#include "compiler/passes/remove_unused.h"

namespace ebb::passes {
namespace {

using ir::Builder;
using ir::InstrKind;
using ir::ValueId;

constexpr int kMany = 100000;

class ManyBindingsTest : public ::testing::Test {
 protected:
  ManyBindingsTest() : builder(module, ir::AddFunction(module, "main")) {
    type = ir::Type::Tensor(DType::kF32, {module.dims.Constant(4)});
    x = builder.AddParam("x", type);
    builder.function().result_types = {type};
  }

  ValueId Relu(ValueId from) {
    return builder.Add(Builder::Operator(OperatorCode::kRelu, {from}), "v",
                       type);
  }
  std::size_t KillCount() {
    std::size_t count = 0;
    for (const ir::InstrId id : builder.function().regions[0].instrs) {
      count += ir::IsKill(builder.instr(id).kind) ? 1 : 0;
    }
    return count;
  }
  std::size_t Size() { return builder.function().regions[0].instrs.size(); }

  ir::Module module;
  Builder builder;
  ir::Type type;
  ValueId x;
};

TEST_F(ManyBindingsTest, Chain) {
  ValueId value = x;
  for (int i = 0; i < kMany; ++i) value = Relu(value);
  builder.Return({value});
  InsertKills(module);
  EXPECT_EQ(KillCount(), static_cast<std::size_t>(kMany) - 1);
  EXPECT_TRUE(ir::Verify(module).has_value());
  const auto parsed = ir::ParseModule(ir::Print(module));
  EXPECT_TRUE(parsed.has_value());
}

TEST_F(ManyBindingsTest, FanIn) {
  std::vector<ValueId> values;
  for (int i = 0; i < kMany; ++i) values.push_back(Relu(x));
  ir::Instr use = Builder::Make(InstrKind::kCallExternal, values);
  use.symbol = "use";
  builder.Append(std::move(use));
  builder.Return({x});
  InsertKills(module);
  EXPECT_EQ(KillCount(), static_cast<std::size_t>(kMany));
  EXPECT_TRUE(ir::Verify(module).has_value());
}

TEST_F(ManyBindingsTest, FanOut) {
  const ValueId from = Relu(x);
  std::vector<ValueId> values;
  for (int i = 0; i < kMany; ++i) values.push_back(Relu(from));
  const ValueId tuple = builder.Add(Builder::Make(InstrKind::kTuple, values),
                                    "t", ir::Type::Of(ir::TypeKind::kTuple));
  builder.Return({tuple});
  builder.function().result_types = {ir::Type::Of(ir::TypeKind::kTuple)};
  InsertKills(module);
  EXPECT_EQ(KillCount(), 1u);
  EXPECT_TRUE(ir::Verify(module).has_value());
}

TEST_F(ManyBindingsTest, ManyResultsAndCarriedValues) {
  constexpr int kWide = 20000;
  ir::Instr loop = Builder::Make(InstrKind::kLoop, {ValueId(), ValueId()});
  const ir::RegionId body = builder.AddRegion();
  builder.AddRegionParam(body, "i", ir::Type::Of(ir::TypeKind::kInt));
  std::vector<ValueId> next = {ValueId()};
  for (int i = 0; i < kWide; ++i) {
    loop.operands.push_back(ir::Operand{.value = Relu(x)});
    next.push_back(builder.AddRegionParam(body, "acc", type));
  }
  std::rotate(next.begin() + 1, next.begin() + 2, next.end());
  loop.regions = {body};
  const ir::RegionId outer = builder.region();
  builder.SetRegion(body);
  builder.Append(Builder::Make(InstrKind::kContinue, next));
  builder.SetRegion(outer);
  const auto results =
      builder.AddMany(std::move(loop), std::vector<std::string>(kWide, "r"),
                      std::vector<ir::Type>(kWide, type));
  builder.Return({results[7]});
  RemoveUnused(module);  // Each carried value is needed by the next one.
  InsertKills(module);
  EXPECT_EQ(KillCount(), static_cast<std::size_t>(kWide) - 1);
  EXPECT_TRUE(ir::Verify(module).has_value());
}

TEST_F(ManyBindingsTest, RebindingsTakeOneStepEach) {
  ValueId value = x;
  for (int i = 0; i < kMany; ++i) {
    value = builder.Add(Builder::Make(InstrKind::kAlias, {value}), "v", type);
  }
  builder.Return({value});
  Canonicalize(module);
  EXPECT_EQ(Size(), 1u);
}

TEST_F(ManyBindingsTest, UnusedChain) {
  ValueId value = x;
  for (int i = 0; i < kMany; ++i) value = Relu(value);
  builder.Return({x});
  RemoveUnused(module);
  EXPECT_EQ(Size(), 1u);
}

TEST_F(ManyBindingsTest, EqualBindings) {
  std::vector<ValueId> values;
  for (int i = 0; i < kMany; ++i) values.push_back(Relu(x));
  builder.Return({values.back()});
  EliminateCommonSubexpressions(module);
  EXPECT_EQ(Size(), 2u);
}

// As deep as regions may nest; the innermost uses everything.
TEST_F(ManyBindingsTest, DeepNesting) {
  const ValueId condition =
      builder.AddParam("c", ir::Type::Tensor(DType::kBool, {}));
  std::vector<ValueId> values;
  for (int i = 0; i < 100; ++i) values.push_back(Relu(x));
  std::vector<ir::InstrId> ifs;
  for (int depth = 1; depth < ir::kMaxNesting; ++depth) {
    ir::Instr branch = Builder::Make(InstrKind::kIf, {condition});
    branch.regions = {builder.AddRegion(), builder.AddRegion()};
    const auto regions = branch.regions;
    ifs.push_back(builder.Append(std::move(branch)));
    if (depth == 1) builder.Return({x});
    builder.SetRegion(regions[1]);
    builder.Yield({});
    builder.SetRegion(regions[0]);
  }
  ir::Instr use = Builder::Make(InstrKind::kCallExternal, values);
  use.symbol = "use";
  builder.Append(std::move(use));
  builder.Yield({});
  for (std::size_t i = ifs.size() - 1; i-- > 0;) {
    builder.SetRegion(builder.instr(ifs[i]).regions[0]);
    builder.Yield({});
  }
  ASSERT_TRUE(ir::Verify(module).has_value())
      << ir::Verify(module).error().ToString();
  InsertKills(module);
  RemoveUnused(module);
  EliminateCommonSubexpressions(module);
  EXPECT_TRUE(ir::Verify(module).has_value());
}

}  // namespace
}  // namespace ebb::passes
