#include "tools/quantities.h"

#include <gtest/gtest.h>

namespace ebb::tools {
namespace {

TEST(QuantitiesTest, ReadsSizesWithUnits) {
  EXPECT_EQ(ParseBytes("0").value(), 0U);
  EXPECT_EQ(ParseBytes("4096").value(), 4096U);
  EXPECT_EQ(ParseBytes("32MiB").value(), 32U << 20U);
  EXPECT_EQ(ParseBytes("1.5 KiB").value(), 1536U);
  EXPECT_EQ(ParseBytes("2kB").value(), 2000U);
  EXPECT_EQ(ParseBytes("3GB").value(), 3'000'000'000U);
}

TEST(QuantitiesTest, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", "MiB", "-1", "1QiB", "32 mib", "nan", "inf", "1e30GiB", "0x10"}) {
    const auto bytes = ParseBytes(text);
    ASSERT_FALSE(bytes.has_value()) << text;
    EXPECT_EQ(bytes.error().message,
              "\"" + std::string(text) + "\" is not a size such as 32MiB");
  }
}

TEST(QuantitiesTest, WritesSizesForPeople) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1024), "1.00 KiB");
  EXPECT_EQ(BytesText(39'321'600), "37.50 MiB");
  EXPECT_EQ(BytesText(689'000'000), "657.1 MiB");
}

TEST(QuantitiesTest, ReadsWholeNumbersOnly) {
  EXPECT_EQ(ParseInt("-12").value(), -12);
  for (const char* text : {"", "1.5", "12a", "99999999999999999999"}) {
    EXPECT_FALSE(ParseInt(text).has_value()) << text;
  }
}

TEST(QuantitiesTest, CountsInWords) {
  EXPECT_EQ(CountText(1, "input"), "1 input");
  EXPECT_EQ(CountText(0, "input"), "0 inputs");
}

}  // namespace
}  // namespace ebb::tools
