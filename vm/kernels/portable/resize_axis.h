// Resize works axis by axis: for every output place of an axis, which input
// places it is made of and with what weights. Tables are made at Prepare, in
// double, by the formulas of the ONNX reference.
#ifndef EBB_VM_KERNELS_PORTABLE_RESIZE_AXIS_H_
#define EBB_VM_KERNELS_PORTABLE_RESIZE_AXIS_H_

#include <cstdint>
#include <vector>

#include "bytecode/shape_rules/resize_geometry.h"

namespace ebb::kernels {

// Output place o is the sum over t < taps of weights[o * taps + t] times the
// input at indices[o * taps + t]; indices are inside the input. outside[o]:
// the place is the extrapolation value instead (tf_crop_and_resize).
struct ResizeTable {
  int64_t input = 0;
  int64_t output = 0;
  int64_t taps = 1;
  bool identity = false;  // Place o is input o: the axis is not resized.
  std::vector<int64_t> indices;
  std::vector<double> weights;  // Empty with mode nearest.
  std::vector<uint8_t> outside;
  bool any_outside = false;
};

// Where output place `o` lies among the inputs.
double ResizeCoordinate(CoordinateMode mode, const ResizeAxis& axis, int64_t o);

ResizeTable MakeResizeTable(const ResizeAttributes& attributes,
                            const ResizeAxis& axis);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_RESIZE_AXIS_H_
