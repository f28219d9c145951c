// Holds what a model gave against what it should have given: dtype and shape
// exactly, integers, bools and strings exactly, floats within
// atol + rtol * |expected|. A NaN equals a NaN; infinities equal by sign.
#ifndef EBB_TOOLS_COMPARE_H_
#define EBB_TOOLS_COMPARE_H_

#include <optional>
#include <string>

#include "vm/tensor_view.h"

namespace ebb::tools {

struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-5;
};

// Half floats have 11 and 8 bits: a rounding at their last bit must pass.
inline constexpr double kHalfTolerance = 2e-3;
inline constexpr double kBFloatTolerance = 1e-2;

// What is wrong, or nullopt. Both views must be dense.
//   "is f32[2], expected f32[3]"
//   "3 of 24 elements differ, the first at [0,1]: 1.5, expected 1.25 …"
std::optional<std::string> FindDifference(const vm::TensorView& got,
                                          const vm::TensorView& expected,
                                          Tolerance tolerance);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_COMPARE_H_
