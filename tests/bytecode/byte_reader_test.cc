#include "bytecode/byte_reader.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "bytecode/byte_writer.h"

namespace ebb::bytecode {
namespace {

using Ebb = Id<struct EbbTag>;

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::vector<std::byte> BytesOf(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(ByteReaderTest, ReadsWhatWasWritten) {
  ByteWriter out;
  const std::vector<int64_t> numbers = {0,    1,    -1,    31,     32,  -32,
                                        -33,  63,   64,    -64,    127, 128,
                                        kMin, kMax, -kMax, 1 << 20};
  for (const int64_t n : numbers) {
    out.Uleb(static_cast<uint64_t>(n));
    out.Zigzag(n);
    out.Tagged(false, n);
    if (n >= 0) out.Tagged(true, n);
  }
  out.U16(0x1234);
  out.U32(0x89abcdef);
  out.U64(0x123456789abcdef0);
  out.Text("ebb");
  out.OptionalId(Ebb());
  out.OptionalId(Ebb(7));
  ByteReader in(out.bytes(), "test");
  for (const int64_t n : numbers) {
    bool is_register = true;
    EXPECT_EQ(in.Uleb(), static_cast<uint64_t>(n));
    EXPECT_EQ(in.Zigzag(), n);
    EXPECT_EQ(in.Tagged(&is_register), n);
    EXPECT_FALSE(is_register);
    if (n < 0) continue;
    EXPECT_EQ(in.Tagged(&is_register), n);
    EXPECT_TRUE(is_register);
  }
  EXPECT_EQ(in.U16(), 0x1234);
  EXPECT_EQ(in.U32(), 0x89abcdefu);
  EXPECT_EQ(in.U64(), 0x123456789abcdef0u);
  EXPECT_EQ(in.Text(), "ebb");
  EXPECT_FALSE(in.OptionalId<Ebb>().valid());
  EXPECT_EQ(in.OptionalId<Ebb>(), Ebb(7));
  EXPECT_TRUE(in.Done().has_value());
}

TEST(ByteReaderTest, ImmediatesUpTo31TakeOneByte) {
  ByteWriter out;
  out.Tagged(false, 31);
  out.Tagged(false, -32);
  out.Tagged(true, 63);
  EXPECT_EQ(out.size(), 3u);
}

TEST(ByteReaderTest, NumbersHaveOneEncoding) {
  for (const auto& bytes :
       {BytesOf({0x80, 0x00}), BytesOf({0xff, 0x80, 0x00}),
        BytesOf({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}),
        BytesOf({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81,
                 0x01})}) {
    ByteReader in(bytes, "test");
    EXPECT_EQ(in.Uleb(), 0u);
    ASSERT_FALSE(in.ok());
    EXPECT_NE(in.status().error().message.find("a number is malformed"),
              std::string::npos);
  }
  bool tag = false;
  const auto tagged = BytesOf({0x81, 0x00});
  ByteReader in(tagged, "test");
  in.Tagged(&tag);
  EXPECT_FALSE(in.ok());
}

TEST(ByteReaderTest, NumbersThatDoNotFitAreErrors) {
  ByteWriter out;
  out.Uleb(std::numeric_limits<uint64_t>::max());
  ByteReader a(out.bytes(), "test");
  EXPECT_EQ(a.Unsigned(), 0);
  EXPECT_EQ(a.status().error().message,
            "section test, byte 10: the number 18446744073709551615 is too "
            "large");
  ByteReader b(out.bytes(), "test");
  EXPECT_EQ(b.Unsigned32(), 0u);
  EXPECT_FALSE(b.ok());
}

TEST(ByteReaderTest, CountsAreHeldAgainstWhatIsLeft) {
  const auto bytes = BytesOf({5, 1, 2, 3, 4});
  ByteReader small(bytes, "test");
  EXPECT_EQ(small.Count(1), 0u);
  EXPECT_EQ(small.status().error().message,
            "section test, byte 1: a count of 5 needs at least 1 bytes each, "
            "4 are left");
  const auto four = BytesOf({4, 1, 2, 3, 4});
  ByteReader fits(four, "test");
  EXPECT_EQ(fits.Count(1), 4u);
  ByteReader wide(four, "test");
  EXPECT_EQ(wide.Count(2), 0u);
}

TEST(ByteReaderTest, FirstErrorSticks) {
  const auto bytes = BytesOf({1});
  ByteReader in(bytes, "test");
  EXPECT_EQ(in.U32(), 0u);
  EXPECT_EQ(in.U8(), 0);
  in.Fail("later");
  EXPECT_EQ(in.status().error().message,
            "section test, byte 1: ends in the middle of an entry");
}

TEST(ByteReaderTest, BytesLeftOverAreAnError) {
  const auto bytes = BytesOf({1, 2});
  ByteReader in(bytes, "test");
  in.U8();
  EXPECT_EQ(in.Done().error().message,
            "section test, byte 1: 1 bytes are left over");
}

}  // namespace
}  // namespace ebb::bytecode
