#include "vm/form.h"

#include <algorithm>
#include <array>
#include <utility>

#include "vm/tensor_view.h"

namespace ebb::vm {
namespace {

// Some order of the dims in which there is no gap.
bool IsDenseInSomeOrder(std::span<const int64_t> dims,
                        std::span<const int64_t> strides) {
  if (std::ranges::find(dims, 0) != dims.end()) return true;
  std::array<std::pair<int64_t, int64_t>, kMaxRank> order;
  std::size_t count = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1) order[count++] = {strides[i], dims[i]};
  }
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
  int64_t expected = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (order[i].first != expected) return false;
    if (__builtin_mul_overflow(expected, order[i].second, &expected)) {
      return false;
    }
  }
  return true;
}

bool IsRowPitched(std::span<const int64_t> dims,
                  std::span<const int64_t> strides) {
  return dims.empty() || dims.back() <= 1 || strides.back() == 1 ||
         std::ranges::find(dims, 0) != dims.end();
}

}  // namespace

bool HasForm(kernels::Form form, std::span<const int64_t> dims,
             std::span<const int64_t> strides) {
  switch (form) {
    case kernels::Form::kDense:
      return IsDense(dims, strides);
    case kernels::Form::kRowPitched:
      return IsRowPitched(dims, strides);
    case kernels::Form::kAny:
      return true;
    case kernels::Form::kDenseOrder:
      return IsDenseInSomeOrder(dims, strides);
  }
  return false;
}

bool SameLayout(std::span<const int64_t> dims_a,
                std::span<const int64_t> strides_a,
                std::span<const int64_t> dims_b,
                std::span<const int64_t> strides_b) {
  if (!std::ranges::equal(dims_a, dims_b)) return false;
  for (std::size_t i = 0; i < dims_a.size(); ++i) {
    if (dims_a[i] > 1 && strides_a[i] != strides_b[i]) return false;
  }
  return true;
}

bool SameOrder(std::span<const int64_t> dims_a,
               std::span<const int64_t> strides_a,
               std::span<const int64_t> dims_b,
               std::span<const int64_t> strides_b) {
  if (dims_a.size() != dims_b.size()) return false;
  for (std::size_t i = 0; i < dims_a.size(); ++i) {
    for (std::size_t j = i + 1; j < dims_a.size(); ++j) {
      // A dim of one element may stand anywhere.
      if (dims_a[i] <= 1 || dims_a[j] <= 1 || dims_b[i] <= 1 ||
          dims_b[j] <= 1) {
        continue;
      }
      if ((strides_a[i] < strides_a[j]) != (strides_b[i] < strides_b[j])) {
        return false;
      }
    }
  }
  return true;
}

const char* FormName(kernels::Form form) {
  switch (form) {
    case kernels::Form::kDense:
      return "dense";
    case kernels::Form::kRowPitched:
      return "row-pitched";
    case kernels::Form::kAny:
      return "any";
    case kernels::Form::kDenseOrder:
      return "without gaps";
  }
  return "unknown";
}

}  // namespace ebb::vm
