#include "compiler/ir/builder.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"

namespace ebb::ir {
namespace {

TEST(BuilderTest, BuildsWhatThePrinterShows) {
  Module module;
  Constant weights;
  weights.name = "w";
  weights.dtype = DType::kF32;
  weights.dims = {4};
  weights.declared_only = true;
  const ConstantId w = AddConstant(module, weights);
  Builder b(module, AddFunction(module, "main"));
  const Type type = Type::Tensor(DType::kF32, {module.dims.Symbol("n")});
  const ValueId x = b.AddParam("x", type);
  const ValueId own = b.AddParam("x", type, /*donated=*/true);
  b.SetNode("Add_0");
  const ValueId c = b.AddConstantValue(w, "w");
  b.SetNode("");
  const ValueId sum =
      b.Add(Builder::Operator(OperatorCode::kAdd, {x, own}), "sum", type);
  b.AddShape({module.dims.Symbol("n")}, "s");
  b.AddInt(module.dims.Constant(3), "i");
  const auto results = b.AddMany(
      Builder::Make(InstrKind::kCallExternal, {sum, c}),
      std::vector<std::string>{"a", "", "a"}, std::vector<Type>{type});
  b.Return({results[0]});
  b.function().result_types = {type};
  EXPECT_EQ(Print(module),
            R"(func @main(%x: f32[n], %x_1: donated f32[n]) -> f32[n] {
  %w = constant @w : f32[4] node "Add_0"
  %sum = add %x, %x_1 : f32[n]
  %s = shape [n]
  %i = int 3
  %a, _, %a_1 = call_external ""(%sum, %w) : f32[n], ?, ?
  return %a
}
)");
  EXPECT_TRUE(Verify(module).has_value());
  EXPECT_EQ(module.entry, FunctionId(0));
  EXPECT_EQ(module.FindFunction("main"), FunctionId(0));
  EXPECT_FALSE(module.FindFunction("other").valid());
}

TEST(BuilderTest, RegionsAreFilledInAnyOrder) {
  Module module;
  Builder b(module, AddFunction(module, "main"));
  const ValueId c = b.AddParam("c", Type::Tensor(DType::kBool, {}));
  Instr branch = Builder::Make(InstrKind::kIf, {c});
  branch.regions = {b.AddRegion(), b.AddRegion()};
  const RegionId outer = b.region();
  for (const RegionId region : branch.regions) {
    b.SetRegion(region);
    b.Yield({c});
  }
  b.SetRegion(outer);
  const ValueId r = b.Add(std::move(branch), "r");
  b.Return({r});
  b.function().result_types = {Type::Tensor(DType::kBool, {})};
  EXPECT_TRUE(Verify(module).has_value());
}

// Constants are told apart by id; text needs names of their own.
TEST(BuilderTest, ConstantsOfOneNamePrintApart) {
  Module module;
  Constant weights;
  weights.name = "w";
  weights.dtype = DType::kI8;
  AddConstant(module, weights);
  AddConstant(module, weights);
  weights.name = "";
  AddConstant(module, weights);
  EXPECT_EQ(Print(module, PrintOptions{.max_constant_bytes = -1}),
            "const @w : i8[]\nconst @w_1 : i8[]\nconst @c : i8[]\n");
}

}  // namespace
}  // namespace ebb::ir
