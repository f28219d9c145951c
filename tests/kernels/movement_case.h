// What the tests of the operators that move elements share.
#ifndef EBB_TESTS_KERNELS_MOVEMENT_CASE_H_
#define EBB_TESTS_KERNELS_MOVEMENT_CASE_H_

#include <functional>
#include <numeric>
#include <string>

#include "tests/kernels/operator_case.h"

namespace ebb::kernels {

// One dtype of every size of element.
inline const std::vector<DType> kSizes = {DType::kU8, DType::kF16, DType::kF32,
                                          DType::kI64};

inline Attributes IntAttribute(std::string_view name, int64_t value) {
  Attributes attributes;
  attributes.Set(name, value);
  return attributes;
}

inline Numbers Counted(DType dtype, const Dims& dims) {
  Numbers x{dtype, dims, {}};
  ForEachIndex(dims, [&](int64_t i, std::span<const int64_t>) {
    x.values.push_back(RoundTo(dtype, static_cast<Number>(i % 251)));
  });
  return x;
}

// Every output element is the input element that `map` names.
inline void ExpectMapped(
    const Numbers& y, const Numbers& x,
    const std::function<Dims(std::span<const int64_t>)>& map,
    const std::string& what) {
  std::vector<Number> expected;
  const Dims strides = DenseStrides(x.dims);
  ForEachIndex(y.dims, [&](int64_t, std::span<const int64_t> index) {
    const Dims from = map(index);
    expected.push_back(x.values[std::inner_product(
        from.begin(), from.end(), strides.begin(), int64_t{0})]);
  });
  ExpectNear(y, expected, 0, what);
}

}  // namespace ebb::kernels

#endif  // EBB_TESTS_KERNELS_MOVEMENT_CASE_H_
