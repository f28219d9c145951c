// Graphs of 100,000 nodes (fewer under sanitizers) compile in linear time and
// without deep recursion: on a thread whose stack is small.
#include <gtest/gtest.h>
#include <pthread.h>

#include <ctime>
#include <functional>
#include <string>

#include "compiler/compile.h"
#include "tests/compiler/onnx/model_builder.h"
#include "tests/compiler/run_program.h"

namespace ebb {
namespace {

using onnx::AsBytes;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kNodes = 16'000;  // Slow there, and no less telling.
#else
constexpr int kNodes = 100'000;
#endif

constexpr std::size_t kSmallStackBytes = 256U << 10U;
// What the deepest nesting that is allowed may take; sanitizers and builds
// without optimisation have large frames.
constexpr std::size_t kNestedStackBytes = 4U << 20U;

void RunOnStack(std::size_t bytes, std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  pthread_t thread{};
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* f) -> void* {
                  (*static_cast<std::function<void()>*>(f))();
                  return nullptr;
                },
                &work),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::string Name(int i) { return "v" + std::to_string(i); }

// In CPU time of the thread, which other work on the machine does not change.
double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) / 1e9;
}

double SecondsToCompile(const std::string& bytes, RunResult* result = nullptr,
                        std::size_t stack_bytes = kSmallStackBytes) {
  double seconds = 0;
  RunOnStack(stack_bytes, [&] {
    const double start = ThreadSeconds();
    auto module = compiler::CompileOnnx(AsBytes(bytes), "", {});
    seconds = ThreadSeconds() - start;
    ASSERT_TRUE(module.has_value()) << module.error().ToString();
    if (result == nullptr) return;
    auto program = vm::Program::Load(std::move(*module), {});
    ASSERT_TRUE(program.has_value()) << program.error().ToString();
    auto run = RunProgram(std::move(*program), {});
    ASSERT_TRUE(run.has_value()) << run.error().ToString();
    *result = std::move(*run);
  });
  return seconds;
}

// Each node reads the one before it.
std::string Chain(int nodes, const char* op, bool twice) {
  GraphProto graph;
  graph.Input("v0", onnx::kFloat, {"n", 4});
  for (int i = 0; i < nodes; ++i) {
    std::vector<std::string> inputs = {Name(i)};
    if (twice) inputs.push_back(Name(i));
    graph.Add(NodeProto(op, inputs, {Name(i + 1)}));
  }
  return onnx::ModelOf(graph.Output(Name(nodes)));
}

// All nodes read the input and live to the end, where they are added up.
std::string Fan(int nodes) {
  GraphProto graph;
  graph.Input("x", onnx::kFloat, {"n", 4});
  for (int i = 0; i < nodes; ++i) {
    graph.Add(NodeProto("LeakyRelu", {"x"}, {Name(i)})
                  .Float("alpha", static_cast<float>(i)));
  }
  std::string sum = "x";
  for (int i = 0; i < nodes; ++i) {
    const std::string next = "s" + std::to_string(i);
    graph.Add(NodeProto("Add", {sum, Name(i)}, {next}));
    sum = next;
  }
  return onnx::ModelOf(graph.Output(sum));
}

// A shape that is computed by a long chain of divisions and additions.
std::string ShapeChain(int nodes) {
  GraphProto graph;
  graph.Input("x", onnx::kFloat, {"n"});
  graph.Initializer(TensorProto::Ints("two", {2}));
  graph.Add(NodeProto("Shape", {"x"}, {Name(0)}));
  for (int i = 0; i < nodes; ++i) {
    graph.Add(
        NodeProto(i % 2 == 0 ? "Add" : "Div", {Name(i), "two"}, {Name(i + 1)}));
  }
  graph.Initializer(TensorProto::Floats("one", {1}, {1}));
  graph.Add(NodeProto("Expand", {"one", Name(nodes)}, {"y"}));
  return onnx::ModelOf(graph.Output("y"));
}

// Constants all the way: everything is folded.
std::string ConstantChain(int nodes) {
  GraphProto graph;
  graph.Initializer(TensorProto::Floats(Name(0), {2}, {1, 2}));
  for (int i = 0; i < nodes; ++i) {
    graph.Add(NodeProto("Neg", {Name(i)}, {Name(i + 1)}));
  }
  return onnx::ModelOf(graph.Output(Name(nodes)));
}

// One `if` after the other, each of which frees what the last one made.
std::string Ifs(int nodes) {
  GraphProto graph;
  graph.Input(Name(0), onnx::kFloat, {"n", 4}).Input("c", onnx::kBool, {});
  for (int i = 0; i < nodes; ++i) {
    graph.Add(
        NodeProto("If", {"c"}, {Name(i + 1)})
            .Graph("then_branch", GraphProto()
                                      .Add(NodeProto("Relu", {Name(i)}, {"t"}))
                                      .Output("t"))
            .Graph("else_branch", GraphProto()
                                      .Add(NodeProto("Neg", {Name(i)}, {"e"}))
                                      .Output("e")));
  }
  return onnx::ModelOf(graph.Output(Name(nodes)));
}

// Eight times the nodes take about eight times as long, not sixty-four.
void ExpectLinear(const std::function<std::string(int)>& make) {
  const double few = SecondsToCompile(make(kNodes / 8));
  const double many = SecondsToCompile(make(kNodes));
  EXPECT_LT(many, 24 * few + 0.5) << few << " s for an eighth of it";
}

TEST(LargeGraphTest, AChainTakesLinearTime) {
  ExpectLinear([](int nodes) { return Chain(nodes, "Neg", false); });
}

TEST(LargeGraphTest, ALadderTakesLinearTime) {
  ExpectLinear([](int nodes) { return Chain(nodes, "Min", true); });
}

TEST(LargeGraphTest, AFanTakesLinearTime) {
  ExpectLinear([](int nodes) { return Fan(nodes / 2); });
}

TEST(LargeGraphTest, AShapeChainTakesLinearTime) { ExpectLinear(ShapeChain); }

TEST(LargeGraphTest, AConstantChainTakesLinearTime) {
  ExpectLinear(ConstantChain);
}

TEST(LargeGraphTest, ManyBranchesTakeLinearTime) {
  ExpectLinear([](int nodes) { return Ifs(nodes / 4); });
}

TEST(LargeGraphTest, AChainNeedsTwoBuffers) {
  RunResult result;
  SecondsToCompile(Chain(kNodes / 5, "Neg", false), &result);
  EXPECT_EQ(result.peak_bytes, 2U * 3 * 4 * sizeof(float));
  EXPECT_EQ(result.live_after_bytes, 0U);
}

TEST(LargeGraphTest, NestedBranchesTakeLinearTime) {
  const auto nest = [](int depth) {
    GraphProto graph;
    graph.Add(NodeProto("Neg", {"x"}, {"r0"})).Output("r0");
    for (int i = 1; i < depth; ++i) {
      GraphProto outer;
      outer.Add(
          NodeProto("If", {"c"}, {"r" + std::to_string(i)})
              .Graph("then_branch", graph)
              .Graph("else_branch", GraphProto()
                                        .Add(NodeProto("Relu", {"x"}, {"e"}))
                                        .Output("e")));
      outer.Output("r" + std::to_string(i));
      graph = outer;
    }
    graph.Input("x", onnx::kFloat, {2}).Input("c", onnx::kBool, {});
    return onnx::ModelOf(graph);
  };
  EXPECT_LT(SecondsToCompile(nest(250), nullptr, kNestedStackBytes), 2.0);
}

}  // namespace
}  // namespace ebb
