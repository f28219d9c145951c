#include "tools/compare.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "bytecode/dtype.h"
#include "tools/element.h"
#include "tools/host_tensor.h"
#include "tools/quantities.h"

namespace ebb::tools {
namespace {

bool WithinTolerance(double got, double expected, Tolerance tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  return std::abs(got - expected) <=
         tolerance.atol + tolerance.rtol * std::abs(expected);
}

template <class T>
double At(const void* data, int64_t index) {
  T value;
  std::memcpy(&value,
              static_cast<const std::byte*>(data) +
                  static_cast<std::size_t>(index) * sizeof value,
              sizeof value);
  return static_cast<double>(value);
}

// Real and imaginary parts each.
template <class T>
bool SameComplex(const void* got, const void* expected, int64_t index,
                 Tolerance tolerance) {
  return WithinTolerance(At<T>(got, 2 * index), At<T>(expected, 2 * index),
                         tolerance) &&
         WithinTolerance(At<T>(got, 2 * index + 1),
                         At<T>(expected, 2 * index + 1), tolerance);
}

bool SameElement(DType dtype, const void* got, const void* expected,
                 int64_t index, Tolerance tolerance) {
  if (dtype == DType::kC64) {
    return SameComplex<float>(got, expected, index, tolerance);
  }
  if (dtype == DType::kC128) {
    return SameComplex<double>(got, expected, index, tolerance);
  }
  if (dtype == DType::kString) {
    return StringAt(static_cast<const std::byte*>(got), index) ==
           StringAt(static_cast<const std::byte*>(expected), index);
  }
  if (IsFloat(dtype) && HasNumericValue(dtype)) {
    return WithinTolerance(ElementValue(dtype, got, index),
                           ElementValue(dtype, expected, index), tolerance);
  }
  const int bits = DTypeBits(dtype);
  if (dtype == DType::kBool || bits < 8) {
    return ElementText(dtype, got, index) ==
           ElementText(dtype, expected, index);
  }
  const auto size = static_cast<std::size_t>(bits / 8);
  const std::size_t offset = static_cast<std::size_t>(index) * size;
  return std::memcmp(static_cast<const std::byte*>(got) + offset,
                     static_cast<const std::byte*>(expected) + offset,
                     size) == 0;
}

std::string IndexText(int64_t index, std::span<const int64_t> dims) {
  std::vector<int64_t> place(dims.size());
  for (std::size_t d = dims.size(); d-- > 0;) {
    place[d] = index % dims[d];
    index /= dims[d];
  }
  std::string text = "[";
  for (std::size_t d = 0; d < place.size(); ++d) {
    text += (d == 0 ? "" : ",") + std::to_string(place[d]);
  }
  return text + "]";
}

}  // namespace

std::optional<std::string> FindDifference(const vm::TensorView& got,
                                          const vm::TensorView& expected,
                                          Tolerance tolerance) {
  if (got.dtype != expected.dtype ||
      !std::ranges::equal(got.dims, expected.dims)) {
    return "is " + ShapeTextOf(got) + ", expected " + ShapeTextOf(expected);
  }
  if (got.dtype == DType::kF16) {
    tolerance.rtol = std::max(tolerance.rtol, kHalfTolerance);
    tolerance.atol = std::max(tolerance.atol, kHalfTolerance);
  } else if (got.dtype == DType::kBF16) {
    tolerance.rtol = std::max(tolerance.rtol, kBFloatTolerance);
    tolerance.atol = std::max(tolerance.atol, kHalfTolerance);
  }
  const int64_t count = CountElements(got.dims);
  int64_t different = 0;
  int64_t first = 0;
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (SameElement(got.dtype, got.data, expected.data, i, tolerance)) {
      continue;
    }
    if (different++ == 0) first = i;
    if (HasNumericValue(got.dtype)) {
      const double off = std::abs(ElementValue(got.dtype, got.data, i) -
                                  ElementValue(got.dtype, expected.data, i));
      if (off > largest) largest = off;
    }
  }
  if (different == 0) return std::nullopt;
  std::string text = std::to_string(different) + " of " +
                     CountText(static_cast<uint64_t>(count), "element") +
                     (different == 1 ? " differs" : " differ") +
                     ", the first at " + IndexText(first, got.dims) + ": " +
                     ElementText(got.dtype, got.data, first) + ", expected " +
                     ElementText(got.dtype, expected.data, first);
  if (largest > 0) {
    text += "; the largest difference is " + NumberText(largest);
  }
  return text;
}

}  // namespace ebb::tools
