#include "tools/tensor_summary.h"

#include <algorithm>
#include <cmath>

#include "tools/element.h"
#include "tools/host_tensor.h"
#include "tools/quantities.h"

namespace ebb::tools {

TensorSummary Summarize(const vm::TensorView& view) {
  TensorSummary summary;
  summary.count = CountElements(view.dims);
  if (!HasNumericValue(view.dtype)) return summary;
  double sum = 0;
  for (int64_t i = 0; i < summary.count; ++i) {
    const double value = ElementValue(view.dtype, view.data, i);
    if (std::isnan(value)) ++summary.nan_count;
    if (!std::isfinite(value)) continue;
    const bool first = summary.finite_count++ == 0;
    summary.min = first ? value : std::min(summary.min, value);
    summary.max = first ? value : std::max(summary.max, value);
    sum += value;
  }
  if (summary.finite_count != 0) {
    summary.mean = sum / static_cast<double>(summary.finite_count);
  }
  return summary;
}

std::string FirstElementsText(const vm::TensorView& view, int64_t limit) {
  const int64_t count = CountElements(view.dims);
  std::string text;
  for (int64_t i = 0; i < std::min(count, limit); ++i) {
    text += (i == 0 ? "" : " ") + ElementText(view.dtype, view.data, i);
  }
  return count > limit ? text + " …" : text;
}

std::string SummaryText(const vm::TensorView& view) {
  constexpr int64_t kFirst = 6;
  const TensorSummary summary = Summarize(view);
  if (summary.count == 0) return "empty";
  std::string text;
  if (summary.finite_count != 0) {
    text = "min " + NumberText(summary.min) + ", mean " +
           NumberText(summary.mean) + ", max " + NumberText(summary.max) + ", ";
  }
  if (summary.nan_count != 0) {
    text += std::to_string(summary.nan_count) + " NaN, ";
  }
  return text + "first " + FirstElementsText(view, kFirst);
}

}  // namespace ebb::tools
