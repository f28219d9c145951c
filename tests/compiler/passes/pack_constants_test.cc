// Packing depends on what kernels the build has, so it is not a golden text.
#include "compiler/passes/pack_constants.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/analysis/infer.h"
#include "compiler/ir/parser.h"
#include "compiler/ir/verifier.h"
#include "tests/compiler/run_program.h"

namespace ebb::passes {
namespace {

// Two products with one weight, and an addition that reads it as well.
constexpr const char* kText = R"(
const @w : f32[64, 64] = repeat 0.25
const @v : f32[64, 64]
func @main(%x: f32[n, 64], %y: f32[64, 64]) -> (f32[n, 64], f32[64, 64], f32[64, 64]) {
  %w = constant @v
  %a = matmul %x, %w
  %b = matmul %y, %w
  %c = add %w, %y
  return %a, %b, %c
}
)";

// The module with bytes for @v, which text would spell out.
ir::Module Make() {
  auto module = ir::ParseModule(kText);
  EXPECT_TRUE(module.has_value()) << module.error().ToString();
  for (ir::Constant& constant : module->constants) {
    if (constant.name != "v") continue;
    auto bytes = std::make_shared<const std::vector<std::byte>>(
        MakeInput(DType::kF32, 64 * 64, 5));
    constant.data = *bytes;
    constant.declared_only = false;
    module->owned.push_back(std::move(bytes));
  }
  EXPECT_TRUE(ir::InferTypes(*module).has_value());
  return std::move(*module);
}

std::size_t PackedCount(const ir::Module& module) {
  std::size_t count = 0;
  for (const ir::Constant& constant : module.constants) {
    count += constant.packing.has_value() ? 1 : 0;
  }
  return count;
}

// The constant that operand 1 of the instruction defining `result` reads.
const ir::Constant& WeightOf(const ir::Module& module,
                             const std::string& result) {
  const ir::Function& main = module.function(module.entry);
  for (const ir::Value& value : main.values) {
    if (value.name != result) continue;
    const std::size_t i = main.instr(value.def).code == OperatorCode::kAdd;
    const ir::ValueId weight = main.instr(value.def).operands[1 - i].value;
    return module
        .constants[main.instr(main.value(weight).def).constant.index()];
  }
  ADD_FAILURE() << "no value %" << result;
  return module.constants[0];
}

TEST(PackConstantsTest, AWeightIsPackedOnceForAllThatWantItSo) {
  ir::Module module = Make();
  std::size_t told_bytes = 0;
  PackConstants(
      module, kernels::DefaultBackend(),
      [&](std::span<const std::byte> plain) { told_bytes += plain.size(); });
  if (PackedCount(module) == 0) GTEST_SKIP() << "no kernel wants packing";
  EXPECT_TRUE(ir::Verify(module).has_value());
  EXPECT_EQ(PackedCount(module), 1U);
  EXPECT_EQ(told_bytes, 64U * 64 * sizeof(float));
  EXPECT_TRUE(WeightOf(module, "a").packing.has_value());
  EXPECT_EQ(&WeightOf(module, "a"), &WeightOf(module, "b"));
  // Operators that have no use for the packed form keep the plain one.
  EXPECT_FALSE(WeightOf(module, "c").packing.has_value());
}

TEST(PackConstantsTest, PackingTwiceChangesNothing) {
  ir::Module module = Make();
  PackConstants(module, kernels::DefaultBackend());
  const std::size_t count = module.constants.size();
  PackConstants(module, kernels::DefaultBackend());
  EXPECT_EQ(module.constants.size(), count);
}

TEST(PackConstantsTest, RepeatedValuesStayPlain) {
  auto module = ir::ParseModule(R"(
const @w : f32[64, 64] = repeat 0.25
func @main(%x: f32[64, 64]) -> f32[64, 64] {
  %w = constant @w
  %a = matmul %x, %w
  return %a
}
)");
  ASSERT_TRUE(module.has_value());
  ASSERT_TRUE(ir::InferTypes(*module).has_value());
  PackConstants(*module, kernels::DefaultBackend());
  EXPECT_EQ(PackedCount(*module), 0U);
}

// The numbers of a program do not depend on packing or on the backend that it
// was packed for.
TEST(PackConstantsTest, PackedProgramsRunOnEveryBackend) {
  RunOptions options;
  options.compile.pack = false;
  options.session.backend = kernels::Backend::kPortable;
  const auto plain = RunModule(Make(), options);
  ASSERT_TRUE(plain.has_value()) << plain.error().ToString();
  options.compile.pack = true;
  const auto packed = RunModule(Make(), options);
  ASSERT_TRUE(packed.has_value()) << packed.error().ToString();
  EXPECT_EQ(packed->outputs, plain->outputs);
}

}  // namespace
}  // namespace ebb::passes
