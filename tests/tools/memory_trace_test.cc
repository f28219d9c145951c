#include "tools/memory_trace.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ir/parser.h"
#include "gtest/gtest.h"
#include "tools/measure.h"
#include "vm/program.h"
#include "vm/session.h"

namespace ebb::tools {
namespace {

struct Traced {
  vm::ProgramRef program;
  std::unique_ptr<MemoryTrace> trace;
  uint64_t live_high_water = 0;
};

// Runs IR text whose inputs are all f32.
Traced Trace(std::string_view text, std::vector<std::vector<int64_t>> shapes,
             bool kill = true) {
  Traced traced;
  auto parsed = ir::ParseModule(text);
  EXPECT_TRUE(parsed.has_value()) << parsed.error().ToString();
  if (!parsed.has_value()) return traced;
  compiler::CompileOptions options;
  options.kill = kill;
  auto module = compiler::CompileIr(std::move(*parsed), options);
  EXPECT_TRUE(module.has_value()) << module.error().ToString();
  if (!module.has_value()) return traced;
  traced.program = *vm::Program::Load(std::move(*module), {});
  MadeInputs inputs;
  for (auto& shape : shapes) {
    inputs.emplace_back(*MakeUp("random", DType::kF32, std::move(shape), 1));
  }
  auto trace = TraceRun(traced.program, {}, inputs);
  EXPECT_TRUE(trace.has_value()) << trace.error().ToString();
  if (!trace.has_value()) return traced;
  traced.trace = std::move(*trace);
  traced.live_high_water =
      MeasureRuns(traced.program, {}, inputs)->live_high_water;
  return traced;
}

constexpr std::string_view kChain = R"(
func @main(%x: f32[256]) -> f32[256] {
  %a = exp %x
  %b = sqrt %a
  %c = exp %b
  %d = sqrt %c
  return %d
}
)";

TEST(MemoryTraceTest, AChainNeedsTwoBuffersAtATime) {
  const Traced traced = Trace(kChain, {{256}});
  ASSERT_NE(traced.trace, nullptr);
  EXPECT_EQ(traced.trace->TotalBytes(), 4 * 1024u);
  EXPECT_EQ(traced.trace->LowerBound().bytes, 2 * 1024u);
  EXPECT_EQ(traced.trace->Measured().bytes, 2 * 1024u);
  EXPECT_EQ(traced.live_high_water, 2 * 1024u);
}

TEST(MemoryTraceTest, TheBoundDoesNotDependOnKills) {
  const Traced traced = Trace(kChain, {{256}}, /*kill=*/false);
  ASSERT_NE(traced.trace, nullptr);
  EXPECT_EQ(traced.trace->LowerBound().bytes, 2 * 1024u);
  EXPECT_EQ(traced.trace->Measured().bytes, 4 * 1024u);
  EXPECT_EQ(traced.live_high_water, 4 * 1024u);
}

TEST(MemoryTraceTest, NamesBuffersAndTheirOperators) {
  const Traced traced = Trace(kChain, {{256}});
  ASSERT_NE(traced.trace, nullptr);
  const auto buffers = traced.trace->buffers();
  ASSERT_EQ(buffers.size(), 4u);
  EXPECT_EQ(buffers[0].name, "a");
  EXPECT_EQ(buffers[0].op, "exp");
  EXPECT_EQ(buffers[0].use, BufferUse::kActivation);
  EXPECT_EQ(buffers[3].name, "d");
  EXPECT_EQ(buffers[3].op, "sqrt");
  EXPECT_EQ(buffers[3].use, BufferUse::kOutput);
  EXPECT_EQ(buffers[3].released, MemoryTrace::kNever);
  EXPECT_EQ(traced.trace->OperatorAt(traced.trace->Measured().step), "sqrt");
}

TEST(MemoryTraceTest, ListsWhatIsLiveAtThePeakTheLargestFirst) {
  const Traced traced = Trace(R"(
func @main(%x: f32[64], %y: f32[8, 64]) -> f32[8, 64] {
  %a = exp %x
  %b = exp %y
  %c = add %a, %b
  %d = sqrt %c
  return %d
}
)",
                              {{64}, {8, 64}});
  ASSERT_NE(traced.trace, nullptr);
  const auto live = traced.trace->LiveAt(traced.trace->Measured().step);
  ASSERT_EQ(live.size(), 3u);
  const auto buffers = traced.trace->buffers();
  EXPECT_EQ(buffers[live[0]].bytes, 2048u);
  EXPECT_EQ(buffers[live[2]].name, "a");
  EXPECT_EQ(traced.trace->LowerBound().bytes, 256 + 2 * 2048u);
}

TEST(MemoryTraceTest, RoundsToTheAllocatorsGranule) {
  const Traced traced = Trace(R"(
func @main(%x: f32[3]) -> f32[3] {
  %a = exp %x
  return %a
}
)",
                              {{3}});
  ASSERT_NE(traced.trace, nullptr);
  EXPECT_EQ(traced.trace->LowerBound().bytes, 64u);
}

TEST(MemoryTraceTest, FollowsViewsCallsAndBranches) {
  const Traced traced = Trace(R"(
const @zero : f32[] = [0.0]
const @two : f32[] = [2.0]
func @main(%x: f32[4, 64], %c: f32[]) -> f32[256] {
  %a = exp %x
  %zero = constant @zero : f32[]
  %t = greater %c, %zero
  %b = if %t { %p = call @twice(move %a)  yield %p } else { yield %a }
  %flat = shape [256]
  %r = reshape %b, %flat
  %s = sqrt %r
  return %s
}
func @twice(%v: donated f32[4, 64]) -> f32[4, 64] {
  %two = constant @two : f32[]
  %w = mul %v, %two
  return %w
}
)",
                              {{4, 64}, {}});
  ASSERT_NE(traced.trace, nullptr);
  // %a and %w, then %w and %s; and the condition, which is used before.
  EXPECT_EQ(traced.trace->LowerBound().bytes, 2 * 1024u);
  EXPECT_EQ(traced.live_high_water, traced.trace->LowerBound().bytes);
}

TEST(MemoryTraceTest, LoopsFreeWhatEachStepMakes) {
  const Traced traced = Trace(R"(
const @five : i64[] = [5]
const @true : bool[] = [true]
func @main(%x: f32[256]) -> f32[256] {
  %n = constant @five : i64[]
  %true = constant @true : bool[]
  %s = loop %i < %n, %acc = %x : f32[256] {
    %t = exp %acc
    %u = sqrt %t
    continue %true, %u
  }
  return %s
}
)",
                              {{256}});
  ASSERT_NE(traced.trace, nullptr);
  EXPECT_EQ(traced.trace->TotalBytes() % 1024, 0u);
  EXPECT_GE(traced.trace->TotalBytes(), 10 * 1024u);
  EXPECT_EQ(traced.live_high_water, traced.trace->LowerBound().bytes);
}

}  // namespace
}  // namespace ebb::tools
