// Transposes a small matrix of elements, known by their size only, in
// registers of 16 bytes: log2(N) rounds of interleaving N vectors of N
// elements. One instruction a step on x86 and ARM alike, so this needs no
// wider vectors to keep up with the memory.
#ifndef EBB_VM_KERNELS_PORTABLE_TRANSPOSE_BLOCK_H_
#define EBB_VM_KERNELS_PORTABLE_TRANSPOSE_BLOCK_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "vm/kernels/portable/target.h"

namespace ebb::kernels {

template <class T>
using Vector16 [[gnu::vector_size(16)]] = T;

// a0 b0 a1 b1 … of the lower or the upper halves.
template <bool kUpper, class V, std::size_t... kI>
EBB_ALWAYS_INLINE V Interleave(V a, V b, std::index_sequence<kI...>) {
  constexpr int kLanes = sizeof...(kI);
  constexpr int kFirst = kUpper ? kLanes / 2 : 0;
  return __builtin_shufflevector(a, b,
                                 (kFirst + static_cast<int>(kI) / 2 +
                                  (static_cast<int>(kI) % 2) * kLanes)...);
}

// to[i * to_stride + j] = from[j * from_stride + i] for i, j below 16 bytes'
// worth of elements.
template <class T>
EBB_ALWAYS_INLINE void TransposeVectors(const T* from, int64_t from_stride,
                                        T* to, int64_t to_stride) {
  using V = Vector16<T>;
  constexpr int kLanes = 16 / sizeof(T);
  constexpr auto kLaneIndices = std::make_index_sequence<kLanes>{};
  V rows[kLanes];
  for (int j = 0; j < kLanes; ++j) {
    std::memcpy(&rows[j], from + j * from_stride, sizeof(V));
  }
#pragma GCC unroll 4
  for (int round = 1; round < kLanes; round *= 2) {
    V next[kLanes];
#pragma GCC unroll 8
    for (int k = 0; k < kLanes / 2; ++k) {
      next[2 * k] =
          Interleave<false>(rows[k], rows[k + kLanes / 2], kLaneIndices);
      next[2 * k + 1] =
          Interleave<true>(rows[k], rows[k + kLanes / 2], kLaneIndices);
    }
#pragma GCC unroll 16
    for (int k = 0; k < kLanes; ++k) rows[k] = next[k];
  }
  for (int i = 0; i < kLanes; ++i) {
    std::memcpy(to + i * to_stride, &rows[i], sizeof(V));
  }
}

// A square of whole cache lines, by way of a buffer: every line of both sides
// is touched once, so strides of a power of two, whose lines all compete for
// the same few places of the cache, do no harm (up to 4 times
// faster then).
template <class T>
EBB_ALWAYS_INLINE void TransposeLines(const T* from, int64_t from_stride, T* to,
                                      int64_t to_stride) {
  constexpr int64_t kLanes = 16 / sizeof(T);
  constexpr int64_t kLine = 64 / sizeof(T);
  alignas(64) T buffer[kLine * kLine];
  for (int64_t j = 0; j < kLine; j += kLanes) {
    for (int64_t i = 0; i < kLine; i += kLanes) {
      TransposeVectors(from + j * from_stride + i, from_stride,
                       buffer + i * kLine + j, kLine);
    }
  }
  for (int64_t i = 0; i < kLine; ++i) {
    std::memcpy(to + i * to_stride, buffer + i * kLine, 64);
  }
}

// The same for any n_i and n_j, and for elements of 16 bytes.
template <class T>
void TransposeBlock(const T* from, int64_t from_stride, T* to,
                    int64_t to_stride, int64_t n_i, int64_t n_j) {
  int64_t done_j = 0;
  int64_t done_i = 0;
  if constexpr (sizeof(T) < 16) {
    constexpr int64_t kLine = 64 / sizeof(T);
    constexpr int64_t kLanes = 16 / sizeof(T);
    const int64_t step = n_i < kLine || n_j < kLine ? kLanes : kLine;
    done_i = n_i - n_i % step;
    done_j = n_j - n_j % step;
    for (int64_t j = 0; j < done_j; j += step) {
      for (int64_t i = 0; i < done_i; i += step) {
        const T* block_from = from + j * from_stride + i;
        T* block_to = to + i * to_stride + j;
        if (step == kLine) {
          TransposeLines(block_from, from_stride, block_to, to_stride);
        } else {
          TransposeVectors(block_from, from_stride, block_to, to_stride);
        }
      }
    }
  }
  // What is left: a strip along i below the blocks, one along j beside them.
  for (int64_t j = done_j; j < n_j; ++j) {
    for (int64_t i = 0; i < n_i; ++i) {
      to[i * to_stride + j] = from[j * from_stride + i];
    }
  }
  for (int64_t i = done_i; i < n_i; ++i) {
    for (int64_t j = 0; j < done_j; ++j) {
      to[i * to_stride + j] = from[j * from_stride + i];
    }
  }
}

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_TRANSPOSE_BLOCK_H_
