// Convolution by its definition, for the tests of the two convolutions.
#ifndef EBB_TESTS_KERNELS_CONV_CASE_H_
#define EBB_TESTS_KERNELS_CONV_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/kernels/gemm_case.h"

namespace ebb::kernels {

struct ConvCase {
  std::vector<int64_t> x, w;
  std::vector<int64_t> strides = {}, pads = {}, dilations = {};
  int64_t group = 1;
  std::string auto_pad = "NOTSET";
  std::vector<int64_t> output_padding = {}, output_shape = {};
};

Attributes ConvAttributes(const ConvCase& c);

// Sums in double; `bias` may be absent.
std::vector<double> NaiveConv(const ConvCase& c, const TestTensor& x,
                              const TestTensor& w, const TestTensor& bias,
                              bool transposed);

// Products per output element.
int64_t ConvDepth(const ConvCase& c);

std::string ConvText(const ConvCase& c);

}  // namespace ebb::kernels

#endif  // EBB_TESTS_KERNELS_CONV_CASE_H_
