// One operator prepared by both kernel families and timed turn by turn, so
// that whatever else the machine does meets both. Constant weights are packed
// as the oneDNN kernel wants them. Times are of the thread's own processor
// time: these benchmarks are of one thread.
//
// Counters: GFLOPS of the portable kernel, ratio = best portable time / best
// oneDNN time, and scratch bytes of both. Without oneDNN both are the portable
// kernel.
//
//   KernelPair pair(OperatorCode::kMatMul, attributes, {a, b}, c, flops);
//   pair.Measure(state);
#ifndef EBB_BENCH_KERNEL_PAIR_H_
#define EBB_BENCH_KERNEL_PAIR_H_

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "vm/kernels/kernel.h"
#include "vm/kernels/packing.h"

namespace ebb::kernels {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using AlignedBytes = std::unique_ptr<std::byte, FreeMemory>;

// 64-byte aligned.
AlignedBytes AllocateBytes(int64_t bytes);

// An f32 tensor with its dims laid out in `order`, slowest first.
struct BenchTensor {
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
  AlignedBytes bytes;
  bool constant = false;
};
BenchTensor MakeBenchTensor(std::vector<int64_t> dims,
                            std::vector<int> order = {}, bool constant = false);

class KernelPair {
 public:
  // Aborts when a kernel refuses: the cases of a benchmark are ours.
  KernelPair(OperatorCode code, const Attributes& attributes,
             std::vector<BenchTensor> inputs, BenchTensor output, double flops);

  void Measure(benchmark::State& state);

 private:
  struct Side {
    std::vector<AlignedBytes> packed;
    std::vector<std::optional<Packing>> packings;
    PreparedPtr prepared;
    AlignedBytes scratch;
    std::vector<const void*> inputs;
  };
  Side PrepareSide(OperatorCode code, const Attributes& attributes,
                   Backend backend) const;
  double Time(const Side& side);

  std::vector<BenchTensor> inputs_;
  BenchTensor output_;
  double flops_;
  Side portable_, onednn_;
};

inline AlignedBytes AllocateBytes(int64_t bytes) {
  const int64_t rounded = (bytes + 64) / 64 * 64;
  return AlignedBytes(static_cast<std::byte*>(std::aligned_alloc(64, rounded)));
}

inline BenchTensor MakeBenchTensor(std::vector<int64_t> dims,
                                   std::vector<int> order, bool constant) {
  if (order.empty()) {
    order.resize(dims.size());
    std::iota(order.begin(), order.end(), 0);
  }
  BenchTensor tensor{.dims = dims, .strides = dims, .constant = constant};
  int64_t count = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    tensor.strides[order[i]] = count;
    count *= dims[order[i]];
  }
  tensor.bytes = AllocateBytes(count * 4);
  auto* values = reinterpret_cast<float*>(tensor.bytes.get());
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(i % 13) / 16 - 0.375F;
  }
  return tensor;
}

inline KernelPair::KernelPair(OperatorCode code, const Attributes& attributes,
                              std::vector<BenchTensor> inputs,
                              BenchTensor output, double flops)
    : inputs_(std::move(inputs)), output_(std::move(output)), flops_(flops) {
  portable_ = PrepareSide(code, attributes, Backend::kPortable);
  onednn_ = PrepareSide(code, attributes, Backend::kOneDnn);
}

inline KernelPair::Side KernelPair::PrepareSide(OperatorCode code,
                                                const Attributes& attributes,
                                                Backend backend) const {
  Side side;
  side.packings.resize(inputs_.size());
  std::vector<Operand> operands;
  for (const BenchTensor& input : inputs_) {
    operands.push_back({.kind = OperandKind::kTensor,
                        .dtype = DType::kF32,
                        .dims = input.dims,
                        .strides = input.strides});
    if (input.constant) operands.back().constant_data = input.bytes.get();
    side.inputs.push_back(input.bytes.get());
  }
  const Operand output{.kind = OperandKind::kTensor,
                       .dtype = DType::kF32,
                       .dims = output_.dims,
                       .strides = output_.strides};
  const Request request{.info = InfoOf(code),
                        .attributes = attributes,
                        .inputs = operands,
                        .outputs = std::span(&output, 1),
                        .backend = backend};
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].constant) continue;
    side.packings[i] = WantedPacking(request, i);
    if (!side.packings[i].has_value()) continue;
    side.packed.push_back(
        AllocateBytes(*PackedBytes(*side.packings[i], inputs_[i].dims, 4)));
    PackConstant(*side.packings[i], inputs_[i].dims, 4, inputs_[i].bytes.get(),
                 side.packed.back().get());
    side.inputs[i] = side.packed.back().get();
    operands[i].constant_data = side.packed.back().get();
    operands[i].packing = &*side.packings[i];
  }
  Expected<PreparedPtr> prepared = Prepare(request);
  if (!prepared.has_value()) {
    std::fprintf(stderr, "%s\n", prepared.error().ToString().c_str());
    std::abort();
  }
  side.prepared = *std::move(prepared);
  side.scratch = AllocateBytes(side.prepared->scratch_bytes());
  return side;
}

inline double KernelPair::Time(const Side& side) {
  void* const outputs[] = {output_.bytes.get()};
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) +
           1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double begin = now();
  const RunStatus status =
      RunAll(*side.prepared, side.inputs.data(), outputs, side.scratch.get());
  if (!status.ok()) std::abort();
  return now() - begin;
}

inline void KernelPair::Measure(benchmark::State& state) {
  Time(portable_);
  Time(onednn_);
  double best_portable = 1e9;
  double best_onednn = 1e9;
  for (auto _ : state) {
    const double portable = Time(portable_);
    best_portable = std::min(best_portable, portable);
    best_onednn = std::min(best_onednn, Time(onednn_));
    state.SetIterationTime(portable);
  }
  state.counters["ratio"] = best_portable / best_onednn;
  state.counters["portable_us"] = best_portable * 1e6;
  state.counters["onednn_us"] = best_onednn * 1e6;
  state.counters["GFLOPS"] = flops_ / best_portable * 1e-9;
  state.counters["scratch_KiB"] =
      static_cast<double>(portable_.prepared->scratch_bytes()) / 1024;
  state.counters["onednn_scratch_KiB"] =
      static_cast<double>(onednn_.prepared->scratch_bytes()) / 1024;
}

}  // namespace ebb::kernels

#endif  // EBB_BENCH_KERNEL_PAIR_H_
