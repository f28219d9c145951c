#include "bytecode/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ebb {
namespace {

TEST(Half, RoundTripsEveryNumber) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float from_f16 = F16ToF32(half);
    const float from_bf16 = BF16ToF32(half);
    if (std::isnan(from_f16)) {
      EXPECT_TRUE(std::isnan(F16ToF32(F32ToF16(from_f16))));
    } else {
      EXPECT_EQ(F32ToF16(from_f16), half);
      EXPECT_EQ(F64ToF16(static_cast<double>(from_f16)), half);
    }
    if (std::isnan(from_bf16)) {
      EXPECT_TRUE(std::isnan(BF16ToF32(F32ToBF16(from_bf16))));
    } else {
      EXPECT_EQ(F32ToBF16(from_bf16), half);
      EXPECT_EQ(F64ToBF16(static_cast<double>(from_bf16)), half);
    }
  }
}

TEST(Half, RoundsToNearestTiesToEven) {
  EXPECT_EQ(F32ToF16(1.0F), 0x3c00);
  EXPECT_EQ(F32ToF16(1.0F + 0x1p-11F), 0x3c00);  // Tie, down.
  EXPECT_EQ(F32ToF16(1.0F + 0x1p-11F + 0x1p-20F), 0x3c01);
  EXPECT_EQ(F32ToF16(1.0F + 0x3p-11F), 0x3c02);  // Tie, up.
  EXPECT_EQ(F32ToBF16(1.0F + 0x1p-8F), 0x3f80);
  EXPECT_EQ(F32ToBF16(1.0F + 0x3p-8F), 0x3f82);
  // Rounded once: through f32 this would become a tie and go down.
  EXPECT_EQ(F64ToF16(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);
}

TEST(Half, OverflowsToInfinityAndUnderflowsToZero) {
  EXPECT_EQ(F32ToF16(65504.0F), 0x7bff);
  EXPECT_EQ(F32ToF16(65519.0F), 0x7bff);
  EXPECT_EQ(F32ToF16(65520.0F), 0x7c00);
  EXPECT_EQ(F32ToF16(-1e30F), 0xfc00);
  EXPECT_EQ(F64ToF16(1e300), 0x7c00);
  EXPECT_EQ(F32ToF16(0x1p-24F), 0x0001);
  EXPECT_EQ(F32ToF16(0x1p-25F), 0x0000);
  EXPECT_EQ(F32ToF16(-0x1.8p-25F), 0x8001);
  EXPECT_EQ(F64ToF16(1e-300), 0x0000);
  EXPECT_EQ(F32ToBF16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(F32ToBF16(std::numeric_limits<float>::denorm_min()), 0x0000);
  EXPECT_EQ(F32ToF16(std::numeric_limits<float>::infinity()), 0x7c00);
}

}  // namespace
}  // namespace ebb
