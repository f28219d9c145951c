// MatMul of the portable kernels against oneDNN's, one thread. B is a constant
// (packed for oneDNN) unless the name says `plain`. What must hold: ratio at
// most 1.5 at 1024x1024x1024.
#include <benchmark/benchmark.h>

#include "bench/kernel_pair.h"

namespace ebb::kernels {
namespace {

void BM_MatMul(benchmark::State& state, bool constant) {
  const int64_t m = state.range(0);
  const int64_t k = state.range(1);
  const int64_t n = state.range(2);
  std::vector<BenchTensor> inputs;
  inputs.push_back(MakeBenchTensor({m, k}));
  inputs.push_back(MakeBenchTensor({k, n}, {}, constant));
  KernelPair pair(OperatorCode::kMatMul, {}, std::move(inputs),
                  MakeBenchTensor({m, n}),
                  2.0 * static_cast<double>(m * k * n));
  pair.Measure(state);
}

void Shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({1024, 1024, 1024})
      ->Args({128, 768, 3072})
      ->Args({64, 64, 64})
      ->Args({16, 4096, 4096})
      ->Args({1, 4096, 4096})
      ->Args({1, 1024, 1024})
      ->Args({40, 120, 6625})
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(BM_MatMul, packed, true)->Apply(Shapes);
BENCHMARK_CAPTURE(BM_MatMul, plain, false)->Apply(Shapes);

void BM_BatchedMatMul(benchmark::State& state) {
  std::vector<BenchTensor> inputs;
  inputs.push_back(MakeBenchTensor({12, 128, 64}));
  inputs.push_back(MakeBenchTensor({12, 64, 128}));
  KernelPair pair(OperatorCode::kMatMul, {}, std::move(inputs),
                  MakeBenchTensor({12, 128, 128}), 2.0 * 12 * 128 * 64 * 128);
  pair.Measure(state);
}
BENCHMARK(BM_BatchedMatMul)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ebb::kernels
