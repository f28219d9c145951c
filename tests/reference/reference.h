// The naive reference: every operator of operators.def written as the ONNX
// text says it, with plain loops over indices. Floats are computed in double
// and rounded once at the end, integers in 128 bits and wrapped at the end.
// It shares nothing with the kernels; output dims come from the shape rules.
// Slow on purpose; for tests of kernels, passes and the VM.
//
//   std::mt19937_64 rng(1);
//   const ReferenceTensor x = RandomTensor(rng, DType::kF32, {2, 3});
//   TRY(auto y, Run(OperatorCode::kRelu, {}, {x}, 1));
//   EXPECT_EQ(Mismatch(y[0], from_kernel, 1e-5, 1e-6), "");
#ifndef EBB_TESTS_REFERENCE_REFERENCE_H_
#define EBB_TESTS_REFERENCE_REFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bytecode/attributes.h"
#include "bytecode/dtype.h"
#include "bytecode/error.h"
#include "bytecode/operators.h"

namespace ebb::reference {

// Dense, row-major. The default value stands for an absent operand.
struct ReferenceTensor {
  DType dtype = DType::kInvalid;
  std::vector<int64_t> dims;
  std::vector<std::byte> bytes;

  bool absent() const { return dtype == DType::kInvalid; }
  int64_t count() const;
};

// Runs the operator. Fails where its shape rule does, and with kOutOfRange
// when Gather meets an index outside its axis.
Expected<std::vector<ReferenceTensor>> Run(
    OperatorCode code, const Attributes& attributes,
    const std::vector<ReferenceTensor>& inputs, std::size_t output_count = 1);

// Zeros.
ReferenceTensor MakeTensor(DType dtype, std::vector<int64_t> dims);
// From numbers, rounded to `dtype`.
ReferenceTensor FloatTensor(DType dtype, std::vector<int64_t> dims,
                            const std::vector<double>& values);
ReferenceTensor IntTensor(DType dtype, std::vector<int64_t> dims,
                          const std::vector<int64_t>& values);
// Floats in [-2, 2], signed integers in [-9, 9], unsigned ones in [0, 18],
// bools.
ReferenceTensor RandomTensor(std::mt19937_64& rng, DType dtype,
                             std::vector<int64_t> dims);

// Elements as numbers; any dtype but strings.
double GetFloat(const ReferenceTensor& tensor, int64_t i);

// "" when dtype and dims are equal and each element differs by no more than
// atol + rtol * |expected| (integers: not at all; NaN is equal to NaN), else
// the first and the worst difference, and how many there are.
std::string Mismatch(const ReferenceTensor& expected,
                     const ReferenceTensor& actual, double rtol, double atol);

}  // namespace ebb::reference

#endif  // EBB_TESTS_REFERENCE_REFERENCE_H_
