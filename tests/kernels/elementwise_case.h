// What the tests of the elementwise operators share: a binary operator over
// random broadcast shapes, held against a formula.
#ifndef EBB_TESTS_KERNELS_ELEMENTWISE_CASE_H_
#define EBB_TESTS_KERNELS_ELEMENTWISE_CASE_H_

#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "tests/kernels/operator_case.h"

namespace ebb::kernels {

using Binary = std::function<Number(Number, Number)>;

inline constexpr Number kNan = std::numeric_limits<Number>::quiet_NaN();
inline constexpr Number kInfinity = std::numeric_limits<Number>::infinity();

inline void CheckBinary(OperatorCode code, const Binary& f, double ulps,
                        DType dtype, std::mt19937& random, const Dims& a_dims,
                        const Dims& b_dims) {
  const Numbers a = Random(dtype, a_dims, random);
  const Numbers b = Random(dtype, b_dims, random);
  const Numbers y = Evaluate({.code = code, .inputs = {a, b}})[0];
  std::vector<Number> expected;
  ForEachIndex(y.dims, [&](int64_t, std::span<const int64_t> index) {
    expected.push_back(f(At(a, y.dims, index), At(b, y.dims, index)));
  });
  ExpectNear(y, expected, ulps, std::string(InfoOf(code).name));
}

// Two shapes that broadcast: dims of a common one dropped or made 1.
inline std::pair<Dims, Dims> BroadcastPair(std::mt19937& random) {
  const Dims full = RandomDims(random, 5);
  const auto thin = [&] {
    Dims dims = full;
    for (int64_t& dim : dims) {
      if (random() % 3 == 0) dim = 1;
    }
    if (random() % 3 == 0) {
      dims.erase(
          dims.begin(),
          dims.begin() + static_cast<int64_t>(random() % (dims.size() + 1)));
    }
    return dims;
  };
  return {thin(), thin()};
}

inline void CheckBinaryShapes(OperatorCode code, const Binary& f, double ulps,
                              DType dtype, std::mt19937& random) {
  CheckBinary(code, f, ulps, dtype, random, {}, {});
  CheckBinary(code, f, ulps, dtype, random, {3, 300}, {300});
  CheckBinary(code, f, ulps, dtype, random, {2, 3, 150}, {3, 1});
  CheckBinary(code, f, ulps, dtype, random, {1}, {2200});
  CheckBinary(code, f, ulps, dtype, random, {0}, {1});
  for (int i = 0; i < 6; ++i) {
    const auto [a, b] = BroadcastPair(random);
    CheckBinary(code, f, ulps, dtype, random, a, b);
  }
}

}  // namespace ebb::kernels

#endif  // EBB_TESTS_KERNELS_ELEMENTWISE_CASE_H_
