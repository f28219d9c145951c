// What cannot be proved about shapes at compile time is checked when it runs:
// models whose shapes turn out not to fit give an error, never other numbers.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "compiler/ir/parser.h"
#include "tests/compiler/run_program.h"

namespace ebb {
namespace {

// The shape of the first output, or the error.
std::string RunText(const std::string& text, int64_t symbol_size) {
  auto module = ir::ParseModule(text);
  EXPECT_TRUE(module.has_value()) << module.error().ToString();
  RunOptions options;
  options.symbol_size = symbol_size;
  const auto run = RunModule(std::move(*module), options);
  return run.has_value() ? run->outputs[0].shape : run.error().ToString();
}

TEST(ShapeChecksTest, AReshapeMustKeepTheElements) {
  const std::string text = R"(
const @to : i64[2] = [2, 2]
func @main(%x: f32[n]) -> f32[2, 2] {
  %s = constant @to
  %y = reshape %x, %s
  return %y
})";
  EXPECT_EQ(RunText(text, 4), "f32[2,2]");
  EXPECT_NE(RunText(text, 3).find("eshape"), std::string::npos)
      << RunText(text, 3);
  EXPECT_NE(RunText(text, 6).find("eshape"), std::string::npos)
      << RunText(text, 6);
}

TEST(ShapeChecksTest, AReshapeMustDivide) {
  const std::string text = R"(
const @to : i64[2] = [-1, 2]
func @main(%x: f32[n]) -> f32[?, 2] {
  %s = constant @to
  %y = reshape %x, %s
  return %y
})";
  EXPECT_EQ(RunText(text, 6), "f32[3,2]");
  EXPECT_NE(RunText(text, 5).find("eshape"), std::string::npos)
      << RunText(text, 5);
}

TEST(ShapeChecksTest, ASqueezedDimMustBeOne) {
  const std::string text = R"(
const @axes : i64[1] = [0]
func @main(%x: f32[n, 4]) -> f32[4] {
  %i = constant @axes
  %y = squeeze %x, %i
  return %y
})";
  EXPECT_EQ(RunText(text, 1), "f32[4]");
  EXPECT_NE(RunText(text, 3).find("queeze"), std::string::npos)
      << RunText(text, 3);
}

TEST(ShapeChecksTest, SymbolsThatBroadcastMustFit) {
  const std::string text = R"(
func @main(%x: f32[n], %y: f32[4]) -> f32[4] {
  %z = add %x, %y
  return %z
})";
  EXPECT_EQ(RunText(text, 4), "f32[4]");
  EXPECT_EQ(RunText(text, 1), "f32[4]");
  EXPECT_NE(RunText(text, 3).find("Add"), std::string::npos)
      << RunText(text, 3);
}

// The dims of a step are those of its carried value in this step.
TEST(ShapeChecksTest, ACarriedValueThatGrowsIsMeasuredEachStep) {
  EXPECT_EQ(RunText(R"(
const @three : i64[] = [3]
func @main(%x: f32[2]) -> f32[?] {
  %k = constant @three
  %p = loop %i < %k, %a = %x : f32[m] { %t = concat %a, %x {axis=0}  %u = relu %t  continue %true, %u }
  %y = neg %p
  return %y
})",
                    2),
            "f32[8]");
}

// A carried value may not say a dim that is bound outside and change it.
TEST(ShapeChecksTest, ACarriedValueMustKeepADimOfTheFunction) {
  const std::string error = RunText(R"(
const @three : i64[] = [3]
func @main(%x: f32[n]) -> f32[n] {
  %k = constant @three
  %p = loop %i < %k, %a = %x : f32[n] { %t = concat %a, %x {axis=0}  continue %true, %t }
  %y = neg %p
  return %y
})",
                                    2);
  EXPECT_NE(error.find("concat"), std::string::npos) << error;
}

}  // namespace
}  // namespace ebb
