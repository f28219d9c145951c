// Moves elements between tensors and the scratch of a convolution's tile.
// Both directions take tensors of any strides; channels-last ones go channel
// by channel so that memory is read and written in runs.
#ifndef EBB_VM_KERNELS_PORTABLE_CONV_SLAB_H_
#define EBB_VM_KERNELS_PORTABLE_CONV_SLAB_H_

#include <cstdint>

#include "vm/kernels/portable/conv_plan.h"

namespace ebb::kernels {

// One tile: output places [y, y + rows) x [x, x + columns) at z of a phase, in
// one group of one batch element.
struct ConvTile {
  int64_t batch = 0, group = 0;
  int64_t z = 0, y = 0, x = 0;
  int64_t rows = 0, columns = 0;
  int64_t m_begin = 0, m_end = 0;  // Output channels within the group.
};

// Fills the slab with input channels [channel, channel + count) of the group.
template <class T>
void FillSlab(const ConvProblem& problem, const ConvPlan<T>& plan,
              const ConvTile& tile, int64_t channel, int64_t count,
              const void* input, T* slab);

// Stores the sums of output channels [m, m + count), with the bias (nullptr:
// none) of the whole operator added.
template <class T>
void StoreSums(const ConvProblem& problem, const ConvPhase& phase,
               const ConvPlan<T>& plan, const ConvTile& tile, int64_t m,
               int64_t count, const void* bias, T* sums, void* output);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_CONV_SLAB_H_
