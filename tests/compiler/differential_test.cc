// A run's numbers do not depend on how memory is handled, on the number of
// threads, or on what is optimised: generated programs compiled and run in
// every way give the same bits, and never need more with kills than without.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "tests/compiler/ir_generator.h"
#include "tests/compiler/run_program.h"

namespace ebb {
namespace {

struct Way {
  std::string name;
  RunOptions options;
};

std::vector<Way> AllWays() {
  std::vector<Way> ways(1);
  ways[0].name = "as it is";
  const auto add = [&](const char* name, auto change) {
    change(ways.emplace_back(Way{name, {}}).options);
  };
  add("without kills", [](RunOptions& o) { o.compile.kill = false; });
  add("without folding", [](RunOptions& o) { o.compile.fold = false; });
  add("without cse", [](RunOptions& o) { o.compile.cse = false; });
  add("without packing", [](RunOptions& o) { o.compile.pack = false; });
  add("naive allocator",
      [](RunOptions& o) { o.session.allocator = allocator::Kind::kNaive; });
  add("size buckets", [](RunOptions& o) {
    o.session.allocator = allocator::Kind::kSizeBucket;
  });
  add("two threads", [](RunOptions& o) {
    o.session.threads = 2;
    o.compile.threads = 2;
  });
  add("two threads, naive, without kills", [](RunOptions& o) {
    o.session.threads = 2;
    o.session.allocator = allocator::Kind::kNaive;
    o.compile.kill = false;
  });
  return ways;
}

// `make` gives the same module every time. The text of it in a failure's
// message is what one needs to look into it.
void ExpectSameInAllWays(const std::function<ir::Module()>& make,
                         uint32_t input_seed,
                         const std::vector<vm::External>& externals = {}) {
  RunResult first;
  for (Way& way : AllWays()) {
    way.options.seed = input_seed;
    way.options.externals = externals;
    const auto run = RunModule(make(), way.options);
    ASSERT_TRUE(run.has_value())
        << way.name << ": " << run.error().ToString() << "\n"
        << ir::Print(make());
    EXPECT_EQ(run->live_after_bytes, 0U) << way.name;
    if (first.outputs.empty()) first = *run;
    ASSERT_EQ(run->outputs, first.outputs) << way.name << "\n"
                                           << ir::Print(make());
    if (!way.options.compile.kill) {
      EXPECT_GE(run->peak_bytes, first.peak_bytes) << ir::Print(make());
    }
  }
}

TEST(DifferentialTest, GeneratedProgramsGiveTheSameBitsInAllWays) {
  for (uint32_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ExpectSameInAllWays([seed] { return ir::GenerateModule(seed); }, seed);
    if (HasFatalFailure()) return;
  }
}

// Straight code has many more chances to merge, fold and reuse.
TEST(DifferentialTest, StraightProgramsGiveTheSameBitsInAllWays) {
  ir::GeneratorOptions options;
  options.instructions = 120;
  options.max_depth = 0;
  options.functions = 0;
  options.closures = false;
  for (uint32_t seed = 1000; seed < 1012; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ExpectSameInAllWays([&] { return ir::GenerateModule(seed, options); },
                        seed);
    if (HasFatalFailure()) return;
  }
}

ir::Module Parse(const char* text) {
  auto module = ir::ParseModule(text);
  EXPECT_TRUE(module.has_value()) << module.error().ToString();
  return std::move(*module);
}

TEST(DifferentialTest, ExternalFunctionsAreCalledTheSameInAllWays) {
  const std::vector<vm::External> externals = {
      {"double_into", [](vm::ExternalCall& call) -> Status {
         TRY(vm::Tensor * from, call.TensorArgument(0));
         TRY(vm::Tensor * to, call.TensorArgument(1));
         const auto* x = reinterpret_cast<const float*>(from->data);
         auto* y = reinterpret_cast<float*>(to->data);
         for (int64_t i = 0; i < call.ints()[0] * call.ints()[1]; ++i) {
           y[i] = 2 * x[i];
         }
         return {};
       }}};
  ExpectSameInAllWays(
      [] {
        return Parse(R"(
func @main(%x: f32[n, 4]) -> f32[n, 4] {
  %a = relu %x
  %m = alloc_storage 16*n, align=64
  %y = alloc_tensor %m, offset=0 : f32[n, 4]
  %s = shape [n, 4]
  call_external "double_into"(%a, %y, %s)
  %b = relu %y
  %z = add %b, %a
  return %z
})");
      },
      7, externals);
}

// Loops whose carried values swap, rotate, double up and change their size.
TEST(DifferentialTest, LoopsCarryWhatTheySay) {
  const char* const loops[] = {
      "%p, %q = loop %i < %k, %a = %x : f32[4], %b = %y : f32[4] {"
      " continue %true, %b, %a }",
      "%p, %q = loop %i < %k, %a = %x : f32[4], %b = %y : f32[4] {"
      " %t = add %a, %b  continue %true, %b, %t }",
      "%p, %q = loop %i < %k, %a = %x : f32[4], %b = %y : f32[4] {"
      " continue %true, %b, %b }",
      "%p, %q = loop %i < %k, %a = %x : f32[4], %b = %x : f32[4] {"
      " %t = add %a, %y  %u = neg %t  continue %true, %t, %t }",
      "%p, %q = loop %i < %k, %a = %x : f32[?], %b = %y : f32[4] {"
      " %t = concat %a, %b {axis=0}  continue %true, %t, %b }",
  };
  for (const char* const loop : loops) {
    const std::string text =
        "const @three : i64[] = [3]\n"
        "func @main(%x: f32[4], %y: f32[4]) -> (f32[?], f32[?]) {\n"
        "  %k = constant @three\n  " +
        std::string(loop) + "\n  return %p, %q\n}\n";
    SCOPED_TRACE(text);
    ExpectSameInAllWays([&] { return Parse(text.c_str()); }, 3);
  }
}

// By hand: after three steps a and b have changed places.
TEST(DifferentialTest, ASwapOfThreeStepsIsASwap) {
  const auto run = RunModule(Parse(R"(
const @three : i64[] = [3]
func @main(%x: f32[4], %y: f32[4]) -> (f32[4], f32[4], f32[4], f32[4]) {
  %k = constant @three
  %p, %q = loop %i < %k, %a = %x : f32[4], %b = %y : f32[4] { continue %true, %b, %a }
  return %p, %q, %x, %y
})"),
                             {});
  ASSERT_TRUE(run.has_value()) << run.error().ToString();
  EXPECT_EQ(run->outputs[0], run->outputs[3]);
  EXPECT_EQ(run->outputs[1], run->outputs[2]);
}

}  // namespace
}  // namespace ebb
