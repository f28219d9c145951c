// The axes of a Resize in memory order and what its two kernels need of them.
// Since axes are independent, a tensor whose dims lie in another order is
// resized with its axes in that order.
#ifndef EBB_VM_KERNELS_PORTABLE_RESIZE_PLAN_H_
#define EBB_VM_KERNELS_PORTABLE_RESIZE_PLAN_H_

#include <cstdint>
#include <vector>

#include "vm/kernels/kernel.h"
#include "vm/kernels/portable/resize_axis.h"

namespace ebb::kernels {

// A row is what is made at a time: the last axis that is resized, with the
// `inner` elements that follow each of its places. All axes before it are
// `outer`.
struct ResizePlan {
  DType dtype = DType::kInvalid;
  double extrapolation = 0;
  std::vector<ResizeTable> outer;
  std::vector<int64_t> outer_strides;  // Of the input, in elements.
  ResizeTable row;
  int64_t inner = 1;
  int64_t rows = 0;  // Of the output.
  int64_t rows_per_slice = 1;
  int threads = 1;

  int64_t input_row() const { return row.input * inner; }
  int64_t output_row() const { return row.output * inner; }
};

Expected<PreparedPtr> PrepareResizeNearest(const Request& request,
                                           ResizePlan plan);
// Linear and cubic, with and without antialias.
Expected<PreparedPtr> PrepareResizeWeighted(const Request& request,
                                            ResizePlan plan);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_RESIZE_PLAN_H_
