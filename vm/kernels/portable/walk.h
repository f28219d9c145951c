// The order in which a kernel visits the elements of one operand: dims and
// strides, merged where they can be. Element `i` of a walk is found by its
// place in that order, so operands of different strides that share an order
// (broadcasting, transposed inputs, reductions) meet at the same `i`, whatever
// dims each of them merged to. Plain values, made in Prepare, read by all
// workers. Strides count elements and may be 0 or negative.
//
//   Walk walk = MakeWalk(dims, strides);
//   GatherElements(walk, 4, base, begin, n, dense);
#ifndef EBB_VM_KERNELS_PORTABLE_WALK_H_
#define EBB_VM_KERNELS_PORTABLE_WALK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bytecode/shape_rules/rule.h"

namespace ebb::kernels {

// Tile and some reductions see each dim twice.
inline constexpr int kMaxWalkRank = 2 * kMaxRank;

struct Walk {
  int rank = 0;
  int64_t count = 1;  // Product of the sizes.
  std::array<int64_t, kMaxWalkRank> sizes;
  std::array<int64_t, kMaxWalkRank> strides;

  // All elements lie one after another in the order of the walk.
  bool IsDense() const { return rank == 0 || (rank == 1 && strides[0] == 1); }
  // Every element is the same one.
  bool IsOneElement() const {
    return rank == 0 || (rank == 1 && strides[0] == 0);
  }
  int64_t row_size() const { return rank == 0 ? 1 : sizes[rank - 1]; }
  int64_t row_stride() const { return rank == 0 ? 1 : strides[rank - 1]; }

  // Offset in elements of element `i`; `left` is set to the number of
  // elements from `i` to the end of its row.
  int64_t OffsetOf(int64_t i, int64_t& left) const;
};

// Dims of one element vanish, neighbours that are one run merge.
Walk MakeWalk(std::span<const int64_t> dims, std::span<const int64_t> strides);

// Copies elements [begin, begin + n) between the walk's places at `base` and a
// dense buffer. `element_bytes` is 1, 2, 4, 8 or 16.
void GatherElements(const Walk& walk, int element_bytes, const std::byte* base,
                    int64_t begin, int64_t n, std::byte* dense);
void ScatterElements(const Walk& walk, int element_bytes, std::byte* base,
                     int64_t begin, int64_t n, const std::byte* dense);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_WALK_H_
