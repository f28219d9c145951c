// A few numbers that say what is in a tensor, for people who look at it.
#ifndef EBB_TOOLS_TENSOR_SUMMARY_H_
#define EBB_TOOLS_TENSOR_SUMMARY_H_

#include <cstdint>
#include <string>

#include "vm/tensor_view.h"

namespace ebb::tools {

// Over what is neither NaN nor infinite; `finite_count` says how many.
struct TensorSummary {
  int64_t count = 0;
  int64_t finite_count = 0;
  int64_t nan_count = 0;
  double min = 0;
  double mean = 0;
  double max = 0;
};

// The view must be dense. Only counts for dtypes without numeric values.
TensorSummary Summarize(const vm::TensorView& view);

// "min -1.5, mean 0.25, max 3, first 0.5 1 -1.5 …".
std::string SummaryText(const vm::TensorView& view);

// The first `limit` elements, with " …" when there are more.
std::string FirstElementsText(const vm::TensorView& view, int64_t limit);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_TENSOR_SUMMARY_H_
