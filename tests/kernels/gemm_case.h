// What the tests of the dense and window kernels share: tensors with any
// strides, and one call that prepares an operator and runs it.
//
// `RunCase` takes the output dims from the operator's shape rule, gives the
// kernel exactly the scratch it asked for (so that the sanitizer sees the
// first byte beyond), and runs the slices one by one from the last to the
// first on changing workers: a kernel whose slices depend on each other or on
// their order fails.
//
//   TestTensor x = RandomTensor(DType::kF32, {2, 3}, 1);
//   std::vector<TestTensor> y = RunCase({.code = OperatorCode::kMatMul,
//                                        .inputs = {x, w}, .threads = 2});
#ifndef EBB_TESTS_KERNELS_GEMM_CASE_H_
#define EBB_TESTS_KERNELS_GEMM_CASE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytecode/attributes.h"
#include "bytecode/dtype.h"
#include "bytecode/operators.h"
#include "bytecode/packing.h"
#include "vm/kernels/kernel.h"

namespace ebb::kernels {

struct TestTensor {
  DType dtype = DType::kInvalid;  // kInvalid: absent.
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
  std::vector<std::byte> bytes;  // Storage; element 0 at `first`.
  int64_t first = 0;
  std::optional<Packing> packing;  // Then `bytes` is a packed constant.

  const void* data() const;
  void* data();
};

double ElementAsDouble(DType dtype, const void* data, int64_t index);
void SetElement(DType dtype, void* data, int64_t index, double value);

// Values in row-major order of the dims.
std::vector<double> Values(const TestTensor& tensor);
TestTensor MakeTensor(DType dtype, std::vector<int64_t> dims,
                      const std::vector<double>& values);
// Small numbers: floats in [-2, 2) in steps that 16-bit floats hold, integers
// over the whole range of 8 bits.
TestTensor RandomTensor(DType dtype, std::vector<int64_t> dims, uint32_t seed);

// The same values in other memory: dims laid out in `order` (slowest first),
// each stride multiplied by `gap`.
TestTensor Relaid(const TestTensor& tensor, const std::vector<int>& order,
                  int64_t gap = 1);
// A dense constant packed in `packing`.
TestTensor Packed(const TestTensor& tensor, const Packing& packing);

struct TestCase {
  OperatorCode code;
  Attributes attributes = {};
  std::vector<TestTensor> inputs;
  std::size_t outputs = 1;
  Backend backend = Backend::kPortable;
  int threads = 1;
  // Layout of the outputs, slowest dim first; empty: row-major.
  std::vector<int> output_order = {};
};

// The error of the shape rule, Prepare or the run, if any.
Expected<std::vector<TestTensor>> TryCase(const TestCase& test);
// The outputs; fails the test on an error.
std::vector<TestTensor> RunCase(const TestCase& test);

// Values of the outputs by the naive reference (tests/reference).
std::vector<std::vector<double>> ReferenceValues(const TestCase& test);

// The largest difference, relative to the largest expected magnitude (at
// least 1); infinite when dims or the places of NaN differ.
double Difference(const TestTensor& actual,
                  const std::vector<double>& expected);
// What a correct result of `dtype` after `depth` additions may differ by.
double Tolerance(DType dtype, int64_t depth = 1);

// For INSTANTIATE_TEST_SUITE_P over dtypes.
std::string DTypeTestName(const testing::TestParamInfo<DType>& param);

}  // namespace ebb::kernels

#endif  // EBB_TESTS_KERNELS_GEMM_CASE_H_
