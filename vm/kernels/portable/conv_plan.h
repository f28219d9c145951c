// How one phase of a convolution is worked off: in tiles of output places. For
// each tile the input that it can see is copied, padded, into scratch (the
// slab), so that every tap is a run of consecutive elements and a micro-kernel
// reads its rows of B through a table of offsets; no unrolled copy of the
// windows is ever made.
//
// Within a tile, output places are numbered r * pitch + j: `pitch` is the
// width of a slab row, a little wider than the tile, and what falls between is
// computed and thrown away. Inputs of an axis that lie an input step apart
// form a plane of the slab; taps of equal remainder share one and differ by a
// shift.
//
// Plain data, made once per shapes; sizes in elements of the compute type.
#ifndef EBB_VM_KERNELS_PORTABLE_CONV_PLAN_H_
#define EBB_VM_KERNELS_PORTABLE_CONV_PLAN_H_

#include <cstdint>
#include <vector>

#include "vm/kernels/portable/conv_problem.h"
#include "vm/kernels/portable/gemm_micro.h"

namespace ebb::kernels {

// Planes of one axis: plane i holds inputs starts[i] + step * n.
struct ConvPlanes {
  std::vector<int64_t> starts;
  std::vector<std::size_t> plane;  // Of every tap.
  std::vector<int64_t> shift;      // Of every tap, within its plane.
  int64_t halo = 0;                // Largest shift.
};

template <class T>
struct ConvPlan {
  const MicroKernel<T>* kernel = nullptr;
  std::array<ConvPlanes, kConvAxes> planes;

  int64_t rows = 0, columns = 0;  // Of a tile.
  int64_t uncut_rows = 0;  // Of a tile that is not cut smaller for workers.
  int64_t row_tiles = 0, column_tiles = 0;
  int64_t m_part = 0, m_parts = 1;  // Output channels of a slice.

  int64_t pitch = 0;
  int64_t slab_rows = 0;
  int64_t plane_elements = 0;
  int64_t channel_elements = 0;  // All planes of one input channel.
  int64_t places = 0;            // rows * pitch, padded to the kernel.

  int64_t m_block = 0;   // Output channels that are summed up at a time.
  int64_t channels = 0;  // Input channels in the slab at a time.
  std::vector<int64_t> offsets;         // Of (channel, tap) in the slab.
  std::vector<int64_t> weight_offsets;  // Of a tap.
  bool weights_in_order = false;        // (channel, tap) is one dense run.

  int64_t slab_elements = 0, a_elements = 0, sum_elements = 0;
  int64_t slices = 0;  // Of the phase, all batches and groups.

  int64_t depth() const {
    return channels * static_cast<int64_t>(weight_offsets.size());
  }
  int64_t scratch_elements() const {
    return slab_elements + a_elements + sum_elements;
  }
};

template <class T>
ConvPlan<T> PlanConvPhase(const ConvProblem& problem, const ConvPhase& phase);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_CONV_PLAN_H_
