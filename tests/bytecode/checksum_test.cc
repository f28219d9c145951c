#include "bytecode/checksum.h"

#include <gtest/gtest.h>

#include <string_view>

namespace ebb::bytecode {
namespace {

uint32_t OfText(std::string_view text, uint32_t crc = 0) {
  return Crc32c(std::as_bytes(std::span(text)), crc);
}

TEST(ChecksumTest, IsTheCrc32cOfTheStandard) {
  EXPECT_EQ(OfText("123456789"), 0xe3069283u);
  EXPECT_EQ(OfText(""), 0u);
  EXPECT_EQ(OfText("The quick brown fox jumps over the lazy dog"), 0x22620404u);
}

TEST(ChecksumTest, PiecesGiveTheChecksumOfTheWhole) {
  const std::string_view text = "The quick brown fox jumps over the lazy dog";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(OfText(text.substr(cut), OfText(text.substr(0, cut))),
              OfText(text));
  }
}

}  // namespace
}  // namespace ebb::bytecode
