// One call of a portable kernel, for the tests of everything but the dense
// and window operators.
//
// `Evaluate` takes the output dims from the shape rule and runs the kernel
// several times: whole; slice by slice from the last to the first; with its
// operands in other memory (dims permuted, gaps, a negative stride) where the
// row allows it. All runs must agree (the slices to the bit), and no byte
// outside the outputs may change. The naive reference must agree as well.
//
//   Numbers y = Evaluate({.code = OperatorCode::kNeg,
//                         .inputs = {Data(DType::kI8, {2}, {1, -128})}})[0];
#ifndef EBB_TESTS_KERNELS_OPERATOR_CASE_H_
#define EBB_TESTS_KERNELS_OPERATOR_CASE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/kernels/numbers.h"
#include "vm/kernels/kernel.h"

namespace ebb::kernels {

struct OperatorCase {
  OperatorCode code;
  Attributes attributes = {};
  std::vector<Numbers> inputs;
  std::size_t outputs = 1;
  // Outputs that are not asked for, as bits.
  uint32_t absent_outputs = 0;
  // Tolerated between runs in different memory, in units in the last place of
  // the result or of `layout_scale`: where the tiles differ with the layout,
  // sums are made in another order.
  int layout_ulps = 0;
  Number layout_scale = 0;
  // Also held against the naive reference (tests/reference).
  bool reference = true;
};

// The error of the shape rule, Prepare or the run.
Expected<std::vector<Numbers>> TryEvaluate(const OperatorCase& test);
std::vector<Numbers> Evaluate(const OperatorCase& test);

}  // namespace ebb::kernels

#endif  // EBB_TESTS_KERNELS_OPERATOR_CASE_H_
