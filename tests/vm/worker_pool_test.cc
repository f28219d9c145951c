#include "vm/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "tests/vm/test_program.h"

namespace ebb::vm {
namespace {

// Counts how often each slice ran; some slices fail.
class CountingKernel final : public kernels::Prepared {
 public:
  CountingKernel(int64_t slices, std::vector<int64_t> failing)
      : runs(static_cast<std::size_t>(slices)), failing_(std::move(failing)) {
    slice_count_ = slices;
  }
  kernels::RunStatus Run(const kernels::RunArgs& args) const noexcept override {
    for (int64_t i = args.slice_begin; i < args.slice_end; ++i) {
      runs[static_cast<std::size_t>(i)].fetch_add(1);
      for (const int64_t bad : failing_) {
        if (i == bad) {
          return {.code = kernels::RunCode::kIndexOutOfRange, .value = i};
        }
      }
    }
    return {};
  }

  mutable std::vector<std::atomic<int>> runs;

 private:
  std::vector<int64_t> failing_;
};

TEST(WorkerPoolTest, EverySliceRunsOnce) {
  const auto pool = WorkerPool::Create(4).value();
  EXPECT_EQ(pool->threads(), 4);
  for (const int64_t slices : {1, 2, 3, 7, 64, 1000}) {
    for (int round = 0; round < 50; ++round) {
      const CountingKernel kernel(slices, {});
      EXPECT_TRUE(pool->Run(kernel, nullptr, nullptr, nullptr).ok());
      for (const auto& count : kernel.runs) EXPECT_EQ(count.load(), 1);
    }
  }
}

TEST(WorkerPoolTest, TheLowestFailingSliceIsReported) {
  for (const int threads : {1, 2, 4}) {
    const auto pool = WorkerPool::Create(threads).value();
    for (int round = 0; round < 100; ++round) {
      const CountingKernel kernel(1000, {991, 13, 200, 14, 990});
      const kernels::RunStatus status =
          pool->Run(kernel, nullptr, nullptr, nullptr);
      EXPECT_EQ(status.code, kernels::RunCode::kIndexOutOfRange);
      EXPECT_EQ(status.value, 13);
    }
    // Nothing of the failure stays.
    const CountingKernel kernel(10, {});
    EXPECT_TRUE(pool->Run(kernel, nullptr, nullptr, nullptr).ok());
  }
}

// Large enough to be shared: the same numbers whatever the threads.
TEST(WorkerPoolTest, ResultsDoNotDependOnThreads) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.AddParam("x", p.Tensor(DType::kF32, {512, 1024}));
  f.AddResult("y", p.Any());
  f.Emit(Opcode::kOpAlloc)
      .Site(p.Site(OperatorCode::kSoftmax))
      .DefHolds({1})
      .Ins({In(0)});
  p.Return(f, {1});
  f.Finish();
  const ProgramRef program = p.Load();
  std::vector<float> x(512 * 1024);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i * 7919 % 1000) / 100.0F;
  }
  const std::vector<int64_t> dims = {512, 1024};
  std::vector<float> one;
  for (const int threads : {1, 2, 3}) {
    SessionOptions options;
    options.threads = threads;
    const auto session = MakeSession(program, options);
    for (int i = 0; i < 3; ++i) {
      ASSERT_OK(session->SetInput(0, View(x, dims)));
      ASSERT_OK(session->Run());
      if (one.empty()) one = OutputElements<float>(*session);
      EXPECT_EQ(OutputElements<float>(*session), one);
    }
  }
}

}  // namespace
}  // namespace ebb::vm
