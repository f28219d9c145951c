// What text cannot say; errors in text are shown by tests/golden/verify.
#include "compiler/ir/verifier.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/ir/builder.h"
#include "compiler/ir/parser.h"

namespace ebb::ir {
namespace {

class VerifierTest : public ::testing::Test {
 protected:
  VerifierTest() : b(module, AddFunction(module, "main")) {
    x = b.AddParam("x", type);
  }
  ValueId Relu(ValueId from) {
    return b.Add(Builder::Operator(OperatorCode::kRelu, {from}), "y", type);
  }
  std::string Error() {
    const Status status = Verify(module);
    return status.has_value() ? "no error" : status.error().ToString();
  }

  Module module;
  Builder b;
  Type type = Type::Tensor(DType::kF32, {});
  ValueId x;
};

TEST_F(VerifierTest, AcceptsWhatIsRight) {
  Relu(x);
  b.Return({});
  EXPECT_EQ(Error(), "no error");
}

TEST_F(VerifierTest, SingleAssignment) {
  const ValueId y = Relu(x);
  Instr again = Builder::Operator(OperatorCode::kNeg, {x});
  again.results = {y};
  b.Append(std::move(again));
  b.Return({});
  EXPECT_EQ(Error(), "function @main: %y names another definition");
}

TEST_F(VerifierTest, UniqueNames) {
  const ValueId y = Relu(x);
  b.value(y).name = "x";
  b.Return({});
  EXPECT_EQ(Error(), "function @main: %x is defined twice");
  b.value(y).name = "";
  EXPECT_EQ(Error(), "function @main: a value has no name");
}

TEST_F(VerifierTest, DefinitionBeforeUse) {
  const ValueId late = b.AddValue("late", type);
  b.SetNode("Relu_7");
  Relu(late);
  b.Return({});
  EXPECT_EQ(Error(),
            "function @main, node \"Relu_7\": %late is used before it is "
            "defined");
}

TEST_F(VerifierTest, IdsInRange) {
  Relu(ValueId(1000));
  b.Return({});
  EXPECT_EQ(Error(), "function @main: an id of the instruction is wrong");
}

TEST_F(VerifierTest, RegionsAreNotShared) {
  const ValueId c = b.AddParam("c", Type::Tensor(DType::kBool, {}));
  Instr branch = Builder::Make(InstrKind::kIf, {c});
  const RegionId region = b.AddRegion();
  branch.regions = {region, region};
  const RegionId outer = b.region();
  b.SetRegion(region);
  b.Yield({});
  b.SetRegion(outer);
  b.Append(branch);
  b.Return({});
  EXPECT_EQ(Error(), "function @main: a region stands twice");
}

TEST_F(VerifierTest, RegionsHaveInstructions) {
  EXPECT_EQ(Error(), "function @main: region does not end with return");
  module.function(b.function_id()).regions[0].instrs = {InstrId(77)};
  EXPECT_EQ(Error(), "function @main: a region lists no instruction");
}

TEST_F(VerifierTest, NestingIsLimited) {
  const ValueId c = b.AddParam("c", Type::Tensor(DType::kBool, {}));
  for (int depth = 0; depth < kMaxNesting + 1; ++depth) {
    Instr branch = Builder::Make(InstrKind::kIf, {c});
    branch.regions = {b.AddRegion(), b.AddRegion()};
    const RegionId inner = branch.regions[0];
    b.Append(std::move(branch));
    if (depth == 0) {
      b.Return({});
    } else {
      b.Yield({});
    }
    b.SetRegion(inner);
  }
  EXPECT_EQ(Error(), "function @main: regions nest deeper than 256");
}

TEST_F(VerifierTest, ConstantsHoldTheBytesOfTheirDims) {
  const auto parsed = ParseModule("const @w : f32[2] = hex\"00000000\"");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(Verify(*parsed).error().message,
            "constant @w: holds 4 bytes, its dims need 8");
  const auto strings = ParseModule("const @w : string[1] = hex\"00\"");
  ASSERT_TRUE(strings.has_value());
  EXPECT_EQ(Verify(*strings).error().message,
            "constant @w: offsets of the strings are wrong");
}

TEST_F(VerifierTest, FunctionsHaveNamesOfTheirOwn) {
  b.Return({});
  DeclareFunction(module, "main");
  EXPECT_EQ(Error(), "function @main: function @main has no name of its own");
}

TEST_F(VerifierTest, EntryIsAFunction) {
  b.Return({});
  module.entry = FunctionId(5);
  EXPECT_EQ(Error(), "the entry is no function");
}

}  // namespace
}  // namespace ebb::ir
