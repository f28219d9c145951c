// One call of a portable kernel, for the tests of everything but the dense
// and window operators. Values are long doubles, which hold every f64, i64
// and u64 exactly, so expected values are computed on plain numbers and
// rounded to the dtype at the end.
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
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "bytecode/shape_rules/geometry.h"
#include "vm/kernels/kernel.h"

namespace ebb::kernels {

using Number = long double;

// A tensor as numbers in row-major order. dtype kInvalid: absent.
struct Numbers {
  DType dtype = DType::kInvalid;
  Dims dims;
  std::vector<Number> values;
};

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

Numbers Data(DType dtype, Dims dims, std::vector<Number> values);
Numbers List(std::vector<Number> values);  // An i64 list of one dim.
// `n` numbers that `dtype` holds: for floats in [low, high], also fractions.
Numbers Random(DType dtype, Dims dims, std::mt19937& random, double low = -4,
               double high = 4);
Dims RandomDims(std::mt19937& random, int max_rank, int64_t max_dim = 5);

// `value` as the dtype stores it: rounded to nearest even, wrapped, or made
// true.
Number RoundTo(DType dtype, Number value);
void StoreNumber(DType dtype, Number value, void* at);
Number LoadNumber(DType dtype, const void* at);

// The error of the shape rule, Prepare or the run.
Expected<std::vector<Numbers>> TryEvaluate(const OperatorCase& test);
std::vector<Numbers> Evaluate(const OperatorCase& test);

// Element `index` of `x` seen under broadcast `dims`.
Number At(const Numbers& x, DimSpan dims, std::span<const int64_t> index);
// Calls f(position, index) for every index of `dims`, row-major.
void ForEachIndex(
    DimSpan dims,
    const std::function<void(int64_t, std::span<const int64_t>)>& f);

// Equal to `expected` rounded to the dtype within `ulps` of the larger
// magnitude of the two (or of `scale`, when given); NaN equals NaN.
void ExpectNear(const Numbers& actual, const std::vector<Number>& expected,
                double ulps, const std::string& what, Number scale = 0);

inline const std::vector<DType> kFloatDTypes = {DType::kF32, DType::kF64,
                                                DType::kF16, DType::kBF16};
inline const std::vector<DType> kIntegerDTypes = {
    DType::kI8, DType::kI16, DType::kI32, DType::kI64,
    DType::kU8, DType::kU16, DType::kU32, DType::kU64};
std::vector<DType> NumericDTypes();  // Floats and integers.
std::vector<DType> AllDTypes();      // And bool.

}  // namespace ebb::kernels

#endif  // EBB_TESTS_KERNELS_OPERATOR_CASE_H_
