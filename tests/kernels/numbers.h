// Tensors as plain numbers, for tests that work out what is right by formula.
// Numbers are long doubles, which hold every f64, i64 and u64 exactly; they
// are rounded to a dtype where they are stored.
//
//   Numbers x = Data(DType::kI8, {2}, {1, -128});
//   ExpectNear(x, {1, 128}, 0, "wraps");
#ifndef EBB_TESTS_KERNELS_NUMBERS_H_
#define EBB_TESTS_KERNELS_NUMBERS_H_

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "bytecode/dtype.h"
#include "bytecode/shape_rules/geometry.h"

namespace ebb::kernels {

using Number = long double;

// A tensor as numbers in row-major order. dtype kInvalid: absent.
struct Numbers {
  DType dtype = DType::kInvalid;
  Dims dims;
  std::vector<Number> values;
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

// Bits of the significand, 64 for integers.
int MantissaBits(DType dtype);

}  // namespace ebb::kernels

#endif  // EBB_TESTS_KERNELS_NUMBERS_H_
