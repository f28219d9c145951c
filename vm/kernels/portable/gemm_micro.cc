#include "vm/kernels/portable/gemm_micro.h"

#include <array>
#include <limits>

namespace ebb::kernels {
namespace {

// 16 bytes are what every processor that is built for has: SSE2, NEON.
#define EBB_LEVEL baseline
#define EBB_LEVEL_TARGET
#define EBB_LEVEL_BYTES 16
#include "vm/kernels/portable/gemm_micro_level.inc"

#if defined(__x86_64__)
#define EBB_LEVEL v3
#define EBB_LEVEL_TARGET __attribute__((target("arch=x86-64-v3")))
#define EBB_LEVEL_BYTES 32
#include "vm/kernels/portable/gemm_micro_level.inc"

#define EBB_LEVEL v4
#if defined(__clang__)
// clang splits wide vectors unless told that they are meant.
#define EBB_LEVEL_TARGET \
  __attribute__((target("arch=x86-64-v4"), min_vector_width(512)))
#else
#define EBB_LEVEL_TARGET __attribute__((target("arch=x86-64-v4")))
#endif
#define EBB_LEVEL_BYTES 64
#include "vm/kernels/portable/gemm_micro_level.inc"
#endif

template <class T>
struct Level {
  std::span<const MicroKernel<T>> kernels;
  DotKernel<T> dot;
  int vector_elements;
};

// 16 registers: 12 sums, 2 or 3 of B, one broadcast of A. The costs are
// measured; the one-row kernels are bound by their loads.
template <class T>
constexpr std::array<MicroKernel<T>, 3> kBaseline = {
    baseline::Tile<T, 6, 2>(1.0), baseline::Tile<T, 4, 3>(1.0),
    baseline::Tile<T, 1, 8>(2.0)};
#if defined(__x86_64__)
template <class T>
constexpr std::array<MicroKernel<T>, 3> kV3 = {
    v3::Tile<T, 6, 2>(1.0), v3::Tile<T, 4, 3>(1.0), v3::Tile<T, 1, 8>(2.0)};
template <class T>
constexpr std::array<MicroKernel<T>, 4> kV4 = {
    v4::Tile<T, 14, 2>(1.0), v4::Tile<T, 8, 3>(1.0), v4::Tile<T, 4, 4>(1.05),
    v4::Tile<T, 1, 8>(2.2)};
#endif

template <class T>
Level<T> FindLevel() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) {
    return {kV4<T>, v4::Dot<T>, v4::kVectorBytes / static_cast<int>(sizeof(T))};
  }
  if (__builtin_cpu_supports("x86-64-v3")) {
    return {kV3<T>, v3::Dot<T>, v3::kVectorBytes / static_cast<int>(sizeof(T))};
  }
#endif
  return {kBaseline<T>, baseline::Dot<T>,
          baseline::kVectorBytes / static_cast<int>(sizeof(T))};
}

template <class T>
const Level<T>& TheLevel() {
  static const Level<T> level = FindLevel<T>();
  return level;
}

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

template <class T>
std::span<const MicroKernel<T>> MicroKernels() {
  return TheLevel<T>().kernels;
}

template <class T>
DotKernel<T> DotKernelOf() {
  return TheLevel<T>().dot;
}

template <class T>
int VectorElements() {
  return TheLevel<T>().vector_elements;
}

template <class T>
const MicroKernel<T>& ChooseMicroKernel(int64_t m, int64_t n) {
  const std::span<const MicroKernel<T>> all = MicroKernels<T>();
  const MicroKernel<T>* best = &all.front();
  double best_cost = std::numeric_limits<double>::infinity();
  for (const MicroKernel<T>& kernel : all) {
    const double cost = kernel.cost *
                        static_cast<double>(RoundUp(m, kernel.rows)) *
                        static_cast<double>(RoundUp(n, kernel.columns));
    if (cost < best_cost) {
      best = &kernel;
      best_cost = cost;
    }
  }
  return *best;
}

#define EBB_INSTANTIATE(T)                                    \
  template std::span<const MicroKernel<T>> MicroKernels<T>(); \
  template DotKernel<T> DotKernelOf<T>();                     \
  template int VectorElements<T>();                           \
  template const MicroKernel<T>& ChooseMicroKernel<T>(int64_t, int64_t);
EBB_INSTANTIATE(float)
EBB_INSTANTIATE(double)
EBB_INSTANTIATE(uint32_t)
EBB_INSTANTIATE(uint64_t)
#undef EBB_INSTANTIATE

}  // namespace ebb::kernels
