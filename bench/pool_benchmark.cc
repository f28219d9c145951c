// The pool against its alternatives: jemalloc directly, the backing for every
// buffer, and free lists of equal sizes. Next to the time stand the bytes:
// reserved_MiB and overhead = reserved high-water / live high-water.

#include <benchmark/benchmark.h>
#include <jemalloc/jemalloc.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "allocator/allocator.h"
#include "allocator/backing.h"
#include "allocator/jemalloc_backing.h"
#include "bench/detector_trace.h"

namespace ebb::allocator {
namespace {

// jemalloc as a program would use it, with its thread cache.
class DirectJemalloc final : public Allocator {
 public:
  void* Allocate(std::size_t bytes) noexcept override {
    stats_.live_bytes += (bytes + 63) / 64 * 64;
    stats_.live_high_water =
        std::max(stats_.live_high_water, stats_.live_bytes);
    return mallocx(bytes, MALLOCX_ALIGN(kGranuleBytes));
  }
  void Free(void* p, std::size_t bytes) noexcept override {
    stats_.live_bytes -= (bytes + 63) / 64 * 64;
    sdallocx(p, bytes, MALLOCX_ALIGN(kGranuleBytes));
  }
  void Trim() noexcept override {}
  void ResetHighWater() noexcept override {}
  Stats stats() const noexcept override { return stats_; }
  void set_limit_bytes(uint64_t) noexcept override {}

 private:
  Stats stats_;
};

enum Subject : int {
  kPoolMmap,
  kPoolJemalloc,
  kNaiveMmap,
  kNaiveJemalloc,
  kBucketMmap,
  kDirect,
};

struct Fixture {
  explicit Fixture(int subject) {
    switch (static_cast<Subject>(subject)) {
      case kPoolMmap:
        allocator = MakeAllocator(Kind::kPool, pages, 0);
        break;
      case kPoolJemalloc:
        allocator = MakeAllocator(Kind::kPool, jemalloc, 0);
        break;
      case kNaiveMmap:
        allocator = MakeAllocator(Kind::kNaive, pages, 0);
        break;
      case kNaiveJemalloc:
        allocator = MakeAllocator(Kind::kNaive, jemalloc, 0);
        break;
      case kBucketMmap:
        allocator = MakeAllocator(Kind::kSizeBucket, pages, 0);
        break;
      case kDirect:
        allocator = std::make_unique<DirectJemalloc>();
        break;
    }
  }

  void Report(benchmark::State& state) const {
    const Stats stats = allocator->stats();
    constexpr double kMiB = 1 << 20;
    state.counters["live_MiB"] =
        static_cast<double>(stats.live_high_water) / kMiB;
    // jemalloc by itself does not say what it reserves.
    if (stats.reserved_high_water == 0) return;
    state.counters["reserved_MiB"] =
        static_cast<double>(stats.reserved_high_water) / kMiB;
    state.counters["overhead"] =
        static_cast<double>(stats.reserved_high_water) /
        static_cast<double>(stats.live_high_water);
    state.counters["backing_calls"] = static_cast<double>(
        stats.backing_allocate_count + stats.backing_free_count);
  }

  MmapBacking pages;
  JemallocBacking jemalloc;
  std::unique_ptr<Allocator> allocator;
};

struct Buffer {
  void* memory;
  std::size_t bytes;
};

// Replaces a random one of so many live buffers; one iteration is a free and
// an allocation. Sizes are spread evenly over their logarithm.
void ReplaceOne(benchmark::State& state, std::size_t max_bytes) {
  Fixture fixture(static_cast<int>(state.range(0)));
  Allocator& allocator = *fixture.allocator;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(
      6, std::log2(static_cast<double>(max_bytes)));
  std::vector<std::size_t> sizes(4096);
  for (std::size_t& bytes : sizes) {
    bytes = static_cast<std::size_t>(std::exp2(exponent(random)));
  }
  std::vector<Buffer> live(static_cast<std::size_t>(state.range(1)));
  std::size_t next = 0;
  for (Buffer& buffer : live) {
    buffer.bytes = sizes[next++ % sizes.size()];
    buffer.memory = allocator.Allocate(buffer.bytes);
  }
  std::size_t chosen = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    chosen = (chosen * 5 + 1) % live.size();  // visits all, in no simple order
    Buffer& buffer = live[chosen];
    allocator.Free(buffer.memory, buffer.bytes);
    buffer.bytes = sizes[next++ % sizes.size()];
    buffer.memory = allocator.Allocate(buffer.bytes);
    // Of a copy: Google Benchmark 1.7 can spoil the variable it is given.
    void* seen = buffer.memory;
    benchmark::DoNotOptimize(seen);
  }
  for (const Buffer& buffer : live) {
    allocator.Free(buffer.memory, buffer.bytes);
  }
  fixture.Report(state);
}

void ReplaceSmall(benchmark::State& state) { ReplaceOne(state, 4096); }
void ReplaceMixed(benchmark::State& state) { ReplaceOne(state, 16 << 20); }

// One iteration is a run of the network's buffers; items are allocations. With
// touching, each page is written once, as a kernel would.
void RunTrace(benchmark::State& state, std::span<const TraceBuffer> trace,
              bool touches) {
  Fixture fixture(static_cast<int>(state.range(0)));
  Allocator& allocator = *fixture.allocator;
  // The frees after each allocation, so that finding them costs nothing.
  std::vector<std::vector<std::size_t>> frees(trace.size());
  for (std::size_t i = 0; i < trace.size(); ++i) {
    frees[trace[i].freed_after].push_back(i);
  }
  std::vector<void*> memory(trace.size());
  for (auto unused : state) {
    static_cast<void>(unused);
    for (std::size_t i = 0; i < trace.size(); ++i) {
      memory[i] = allocator.Allocate(trace[i].bytes);
      if (touches) {
        auto* bytes = static_cast<volatile char*>(memory[i]);
        for (std::size_t at = 0; at < trace[i].bytes; at += 4096) bytes[at] = 1;
      }
      for (std::size_t dead : frees[i]) {
        allocator.Free(memory[dead], trace[dead].bytes);
      }
    }
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(trace.size()));
  fixture.Report(state);
}

void Detector(benchmark::State& state) {
  RunTrace(state, kDetectorTrace, false);
}
void DetectorTouched(benchmark::State& state) {
  RunTrace(state, kDetectorTrace, true);
}
void DetectorInPlaceTouched(benchmark::State& state) {
  RunTrace(state, kDetectorInPlaceTrace, true);
}

const std::vector<std::int64_t> kSubjects = {
    kPoolMmap, kPoolJemalloc, kNaiveMmap, kNaiveJemalloc, kBucketMmap, kDirect};

BENCHMARK(ReplaceSmall)
    ->ArgNames({"subject", "live"})
    ->ArgsProduct({kSubjects, {1, 64, 1024}});
BENCHMARK(ReplaceMixed)
    ->ArgNames({"subject", "live"})
    ->ArgsProduct({kSubjects, {1, 64, 1024}});
BENCHMARK(Detector)->ArgNames({"subject"})->ArgsProduct({kSubjects});
BENCHMARK(DetectorTouched)->ArgNames({"subject"})->ArgsProduct({kSubjects});
BENCHMARK(DetectorInPlaceTouched)
    ->ArgNames({"subject"})
    ->ArgsProduct({kSubjects});

}  // namespace
}  // namespace ebb::allocator
