// The vector math of f32 against libm's f64, over the whole range of floats.
#include "vm/kernels/portable/math_f32.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ebb::kernels {
namespace {

// Steps through the bits of all floats, NaN and infinities included.
template <class F, class Exact>
double WorstUlps(F f, Exact exact) {
  double worst = 0;
  for (uint64_t bits = 0; bits <= 0xffffffffU; bits += 4999) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const float y = f(x);
    const double e = exact(static_cast<double>(x));
    const auto rounded = static_cast<float>(e);
    if (std::isnan(rounded) || std::isinf(rounded)) {
      EXPECT_TRUE(std::isnan(rounded) ? std::isnan(y) : y == rounded)
          << x << " gives " << y << ", expected " << rounded;
      continue;
    }
    int exponent = 0;
    std::frexp(rounded, &exponent);
    const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
    worst = std::max(worst, std::fabs(static_cast<double>(y) - e) / ulp);
  }
  return worst;
}

TEST(MathF32Test, ErrorsAreAsStated) {
  EXPECT_LE(WorstUlps([](float x) { return Exp(x); },
                      [](double x) { return std::exp(x); }),
            1.0);
  EXPECT_LE(WorstUlps([](float x) { return Log(x); },
                      [](double x) { return std::log(x); }),
            0.8);
  EXPECT_LE(WorstUlps([](float x) { return Tanh(x); },
                      [](double x) { return std::tanh(x); }),
            1.3);
  EXPECT_LE(WorstUlps([](float x) { return Erf(x); },
                      [](double x) { return std::erf(x); }),
            1.1);
  EXPECT_LE(WorstUlps([](float x) { return Sigmoid(x); },
                      [](double x) { return 1 / (1 + std::exp(-x)); }),
            2.2);
}

TEST(MathF32Test, SignsOfZeroAreKept) {
  EXPECT_TRUE(std::signbit(Tanh(-0.0F)));
  EXPECT_TRUE(std::signbit(Erf(-0.0F)));
  EXPECT_FALSE(std::signbit(Tanh(0.0F)));
}

TEST(MathF32Test, GeluIsExactNextToOne) {
  for (float x = -12; x < 12; x += 0.001F) {
    const auto v = static_cast<double>(x);
    const double exact = 0.5 * v * std::erfc(-v * std::sqrt(0.5));
    EXPECT_NEAR(static_cast<double>(GeluErf(x)), exact,
                4e-7 * std::max(1.0, std::fabs(v)));
  }
}

}  // namespace
}  // namespace ebb::kernels
