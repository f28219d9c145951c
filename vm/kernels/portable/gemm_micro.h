// The innermost loops of matrix product and convolution, one set per level of
// instruction set, chosen once at run time by what the processor has (no
// ifunc, so sanitizer builds run the same code).
//
// A micro-kernel adds up one tile of `rows` x `columns` elements:
//
//   C[i][j] (+)= sum over p of A[p * rows + i] * B[offsets[p] + j]
//
// A is a packed panel. Rows of B are found by a table, so B may be a packed
// panel, a plain matrix, or a padded image seen through a window. Every
// element is summed in the order of p, whatever the tile: results do not
// depend on how the work was cut.
//
//   std::span<const MicroKernel<float>> all = MicroKernels<float>();
#ifndef EBB_VM_KERNELS_PORTABLE_GEMM_MICRO_H_
#define EBB_VM_KERNELS_PORTABLE_GEMM_MICRO_H_

#include <cstdint>
#include <span>

namespace ebb::kernels {

// The element types that are computed in: 16-bit floats are widened first,
// signed integers wrap like unsigned ones.
template <class T>
struct MicroKernel {
  using Run = void (*)(int64_t depth, const T* a, const T* b,
                       const int64_t* offsets, T* c, int64_t c_stride,
                       bool accumulate);
  int rows = 0;
  int columns = 0;
  // Time per multiply-add of a full tile, relative to the best kernel.
  double cost = 1;
  Run run = nullptr;
};

// Sums of `count` rows of `depth` contiguous elements (`b`, `b_stride` apart)
// times the vector `a`: for a matrix that is stored the other way round.
template <class T>
using DotKernel = void (*)(int64_t depth, const T* a, const T* b,
                           int64_t b_stride, int64_t count, T* c);

// T: float, double, uint32_t, uint64_t. Never empty; one with rows == 1.
template <class T>
std::span<const MicroKernel<T>> MicroKernels();
template <class T>
DotKernel<T> DotKernelOf();

// The kernel that takes least time for a product of these dims.
template <class T>
const MicroKernel<T>& ChooseMicroKernel(int64_t m, int64_t n);

// What the narrowest tile of the chosen level is wide, in elements.
template <class T>
int VectorElements();

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_GEMM_MICRO_H_
