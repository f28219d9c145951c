// Convolution and transposed convolution in one form: a sum over taps. An
// output is cut into phases; within one, element q of an axis stands at output
// place begin + q * step, and every tap reads input place
// q * input_step + offset, which counts as zero outside of the input.
//
// A convolution is one phase with the window's stride as input step. A
// transposed one has, per axis, a phase for every remainder of the output
// place by the stride, each with the taps that reach it: no two taps write
// the same place, so nothing is added up in memory and slices are free.
//
// Fewer than three spatial axes are filled up with axes of one element in
// front. Plain data; strides are in elements, of any sign and order.
#ifndef EBB_VM_KERNELS_PORTABLE_CONV_PROBLEM_H_
#define EBB_VM_KERNELS_PORTABLE_CONV_PROBLEM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "bytecode/shape_rules/window.h"
#include "vm/kernels/kernel.h"

namespace ebb::kernels {

inline constexpr std::size_t kConvAxes = 3;
using ConvAxes = std::array<int64_t, kConvAxes>;

struct ConvTap {
  ConvAxes offset{};
  int64_t weight = 0;  // Offset within the taps of one pair of channels.
};

struct ConvPhase {
  ConvAxes begin{};
  ConvAxes step{1, 1, 1};
  ConvAxes count{};
  std::vector<ConvTap> taps;  // May be empty: the bias alone.
};

// Strides of [batch, channel, spatial...].
struct ConvTensor {
  int64_t batch = 0;
  int64_t channel = 0;
  ConvAxes axes{};
};

struct ConvProblem {
  DType dtype = DType::kInvalid;
  int64_t batch = 0;
  int64_t groups = 1;
  int64_t in_channels = 0;   // Per group.
  int64_t out_channels = 0;  // Per group.
  ConvAxes input{1, 1, 1};
  ConvAxes output{1, 1, 1};
  ConvAxes input_step{1, 1, 1};
  ConvTensor in;
  ConvTensor out;
  // Weight of (group, output channel, input channel, tap).
  int64_t weight_group = 0;
  int64_t weight_out = 0;
  int64_t weight_in = 0;
  bool has_bias = false;
  std::vector<ConvPhase> phases;
  int threads = 1;

  int64_t Cost() const;  // Multiply-adds.
};

Expected<ConvProblem> MakeConvProblem(const Request& request,
                                      const WindowGeometry& geometry);
Expected<ConvProblem> MakeConvTransposeProblem(const Request& request,
                                               const WindowGeometry& geometry);

// The general kernel, for any problem (conv_window.cc).
Expected<PreparedPtr> PrepareConvWindow(const Request& request,
                                        ConvProblem problem);
// Convolution by 1x1 as a matrix product; nullptr when the problem is not one
// or the tensors have gaps (conv_pointwise.cc).
Expected<PreparedPtr> PrepareConvPointwise(const Request& request,
                                           const ConvProblem& problem);

// Depthwise over channels-last tensors; nullptr when it is something else
// (conv_depthwise.cc).
Expected<PreparedPtr> PrepareConvDepthwise(const Request& request,
                                           const ConvProblem& problem);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_CONV_PROBLEM_H_
