// What MaxPool and AveragePool share: the window on three axes and the strides
// of input and output. Plain data, made at Prepare.
#ifndef EBB_VM_KERNELS_PORTABLE_POOL_WINDOW_H_
#define EBB_VM_KERNELS_PORTABLE_POOL_WINDOW_H_

#include <array>
#include <cstdint>

#include "bytecode/shape_rules/window.h"
#include "vm/kernels/kernel.h"

namespace ebb::kernels {

inline constexpr std::size_t kPoolAxes = 3;

struct PoolTensor {
  int64_t batch = 0;
  int64_t channel = 0;
  std::array<int64_t, kPoolAxes> axes{};
};

struct PoolWindow {
  DType dtype = DType::kInvalid;
  int64_t batch = 0;
  int64_t channels = 0;
  std::array<WindowAxis, kPoolAxes> axes;
  PoolTensor in;
  PoolTensor out;
};

// Taps [begin, end) of an output place that lie inside the input.
struct PoolTaps {
  int64_t begin = 0, end = 0;
  int64_t count() const { return end - begin; }
};
PoolTaps TapsInside(const WindowAxis& axis, int64_t place);
// How many lie inside the input or its padding (what ceil_mode reads beyond
// the padding does not count).
int64_t TapsWithPadding(const WindowAxis& axis, int64_t place);

// Fewer than three axes are filled up in front.
Expected<PoolWindow> MakePoolWindow(const Request& request);

enum class PoolKind : uint8_t { kMax, kAverage, kAveragePadded };

// Rows of the output at a time, axes one after the other (pool_rows.cc).
Expected<PreparedPtr> PreparePoolRows(const Request& request,
                                      const PoolWindow& window, PoolKind kind);
// MaxPool with the places of the maxima (pool_indices.cc).
Expected<PreparedPtr> PreparePoolIndices(const Request& request,
                                         const PoolWindow& window);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_POOL_WINDOW_H_
