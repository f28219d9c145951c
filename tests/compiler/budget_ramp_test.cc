// Running out of memory at every point of a run: a small convolutional network
// compiled from ONNX either runs, or fails with an error that says what is
// live, leaves nothing behind and runs again once there is memory.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "allocator/failing_allocator.h"
#include "compiler/compile.h"
#include "tests/compiler/onnx/model_builder.h"
#include "tests/compiler/run_program.h"

namespace ebb {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

TensorProto Weight(const std::string& name, const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(i % 7 - 3) / 8);
  }
  return TensorProto::Floats(name, dims, values);
}

// Two convolutions, a branch around one of them, pooling and a product.
std::string Network() {
  GraphProto graph;
  graph.Input("x", onnx::kFloat, {"n", 3, 16, 16}).Input("c", onnx::kBool, {});
  graph.Initializer(Weight("k1", {8, 3, 3, 3}));
  graph.Initializer(Weight("b1", {8}));
  graph.Initializer(Weight("k2", {8, 8, 3, 3}));
  graph.Initializer(Weight("w", {8, 10}));
  graph.Add(NodeProto("Conv", {"x", "k1", "b1"}, {"a"})
                .Ints("pads", {1, 1, 1, 1})
                .Ints("strides", {2, 2}));
  graph.Add(NodeProto("Relu", {"a"}, {"r"}));
  GraphProto then_branch;
  then_branch.Add(
      NodeProto("Conv", {"r", "k2"}, {"t"}).Ints("pads", {1, 1, 1, 1}));
  then_branch.Output("t");
  GraphProto else_branch;
  else_branch.Add(NodeProto("Sigmoid", {"r"}, {"e"})).Output("e");
  graph.Add(NodeProto("If", {"c"}, {"i"})
                .Graph("then_branch", then_branch)
                .Graph("else_branch", else_branch));
  graph.Add(NodeProto("Add", {"i", "r"}, {"s"}));
  graph.Add(NodeProto("GlobalAveragePool", {"s"}, {"g"}));
  graph.Add(NodeProto("Flatten", {"g"}, {"f"}));
  graph.Add(NodeProto("MatMul", {"f", "w"}, {"m"}));
  graph.Add(NodeProto("Softmax", {"m"}, {"y"}).Int("axis", -1)).Output("y");
  return onnx::ModelOf(graph);
}

class BudgetRampTest : public ::testing::Test {
 protected:
  void SetUp() override {
    compiler::CompileOptions options;
    options.for_running = true;
    auto module = compiler::CompileOnnx(onnx::AsBytes(bytes_), "", options);
    ASSERT_TRUE(module.has_value()) << module.error().ToString();
    auto program = vm::Program::Load(std::move(*module), {});
    ASSERT_TRUE(program.has_value()) << program.error().ToString();
    program_ = std::move(*program);
    auto session = vm::Session::Create(program_, {});
    ASSERT_TRUE(session.has_value());
    ASSERT_TRUE(Run(**session).has_value());
    expected_ = Result(**session);
    need_bytes_ = (*session)->stats().memory.reserved_high_water;
    (*session)->ReleaseOutputs();
    idle_values_ = (*session)->stats().live_value_count;
  }

  Status Run(vm::Session& session) {
    const std::vector<int64_t> dims = {2, 3, 16, 16};
    RETURN_IF_ERROR(session.SetInput(0, {.dtype = DType::kF32,
                                         .dims = dims,
                                         .strides = {},
                                         .data = x_.data()}));
    RETURN_IF_ERROR(session.SetInput(
        1, {.dtype = DType::kBool, .dims = {}, .strides = {}, .data = &c_}));
    return session.Run();
  }
  static std::vector<float> Result(const vm::Session& session) {
    const vm::TensorView y = *session.Output(0);
    const auto* at = static_cast<const float*>(y.data);
    return {at, at + 20};
  }
  static void ExpectOutOfMemory(const Status& run) {
    ASSERT_FALSE(run.has_value());
    EXPECT_EQ(run.error().code, ErrorCode::kOutOfMemory)
        << run.error().ToString();
  }

  const std::string bytes_ = Network();
  std::vector<std::byte> x_ = MakeInput(DType::kF32, 2 * 3 * 16 * 16, 3);
  uint8_t c_ = 1;
  vm::ProgramRef program_;
  std::vector<float> expected_;
  uint64_t need_bytes_ = 0;
  uint64_t idle_values_ = 0;  // Of a session that does nothing: constants.
};

TEST_F(BudgetRampTest, EachAllocationFailsOnce) {
  allocator::MmapBacking pages;
  const auto pool = allocator::MakeAllocator(allocator::Kind::kPool, pages, 0);
  bool named_values = false;
  for (uint64_t n = 1;; ++n) {
    ASSERT_LT(n, 1000U) << "the run never succeeds";
    allocator::FailingAllocator failing(*pool, n);
    {
      auto session =
          vm::Session::Create(program_, {.custom_allocator = &failing});
      if (!session.has_value()) {
        EXPECT_EQ(session.error().code, ErrorCode::kOutOfMemory);
        continue;
      }
      const Status run = Run(**session);
      if (!failing.has_failed()) {
        ASSERT_TRUE(run.has_value()) << run.error().ToString();
        EXPECT_EQ(Result(**session), expected_);
        break;
      }
      ExpectOutOfMemory(run);
      named_values = named_values ||
                     run.error().message.find("\"r\"") != std::string::npos;
      // Nothing is held any more, and the next run has what it needs.
      EXPECT_EQ((*session)->stats().live_value_count, idle_values_);
      const Status again = Run(**session);
      ASSERT_TRUE(again.has_value()) << again.error().ToString();
      EXPECT_EQ(Result(**session), expected_);
    }
    EXPECT_EQ(pool->stats().live_bytes, 0U) << "allocation " << n;
  }
  EXPECT_TRUE(named_values) << "no error names the live value r";
  EXPECT_EQ(pool->stats().live_bytes, 0U);
}

TEST_F(BudgetRampTest, TheLimitIsRaisedUntilTheRunSucceeds) {
  for (uint64_t limit = 64;; limit += 2048) {
    ASSERT_LE(limit, 2 * need_bytes_ + 65536) << "the run never succeeds";
    auto session = vm::Session::Create(program_, {.memory_limit_bytes = limit});
    ASSERT_TRUE(session.has_value()) << session.error().ToString();
    const Status run = Run(**session);
    if (run.has_value()) {
      EXPECT_EQ(Result(**session), expected_);
      EXPECT_LE((*session)->stats().memory.reserved_high_water, limit);
      break;
    }
    ExpectOutOfMemory(run);
    (*session)->set_memory_limit_bytes(0);
    const Status again = Run(**session);
    ASSERT_TRUE(again.has_value()) << again.error().ToString();
    EXPECT_EQ(Result(**session), expected_);
  }
}

}  // namespace
}  // namespace ebb
