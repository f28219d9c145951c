#include "bytecode/byte_reader.h"

namespace ebb::bytecode {

uint64_t ByteReader::UlebRest(uint64_t low, int shift) {
  for (uint64_t value = low;; shift += 7) {
    const uint8_t byte = U8();
    if (!ok()) return 0;
    // Bits past the 64th, or a last group of zeros: not the one encoding.
    const uint64_t group = byte & 0x7fU;
    if (shift > 63 || (shift == 63 && group > 1) ||
        (byte < 0x80 && group == 0)) {
      Fail("a number is malformed");
      return 0;
    }
    value |= group << shift;
    if (byte < 0x80) return value;
  }
}

int64_t ByteReader::Tagged(bool* tag) {
  const uint8_t first = U8();
  *tag = (first & 1) != 0;
  uint64_t bits = (first >> 1) & 0x3fU;
  if ((first & 0x80) != 0) {
    const uint64_t rest = Uleb();
    if (rest == 0 || rest >> 58 != 0) {
      Fail("a number is malformed");
      return 0;
    }
    bits |= rest << 6;
  }
  if (!*tag) return FromZigzag(bits);
  return static_cast<int64_t>(bits > kMaxInt64 ? TooLarge(bits) : bits);
}

std::size_t ByteReader::Count(std::size_t entry_bytes) {
  const uint64_t count = Uleb();
  if (count > remaining() / entry_bytes) {
    Fail("a count of " + std::to_string(count) + " needs at least " +
         std::to_string(entry_bytes) + " bytes each, " +
         std::to_string(remaining()) + " are left");
    return 0;
  }
  return static_cast<std::size_t>(count);
}

std::string_view ByteReader::Text() {
  const std::span<const std::byte> bytes = Bytes(Count(1));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> ByteReader::Bytes(std::size_t count) {
  if (count > remaining()) {
    EndsEarly();
    return {};
  }
  const std::byte* const first = at_;
  at_ += count;
  return {first, count};
}

uint64_t ByteReader::Fixed(int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= uint64_t{U8()} << (8 * i);
  return ok() ? value : 0;
}

uint8_t ByteReader::EndsEarly() {
  Fail("ends in the middle of an entry");
  return 0;
}

uint64_t ByteReader::TooLarge(uint64_t value) {
  Fail("the number " + std::to_string(value) + " is too large");
  return 0;
}

Status ByteReader::status() const {
  if (ok()) return {};
  return ebb::Fail(ErrorCode::kInvalidFile,
                   "section " + std::string(section_) + ", byte " +
                       std::to_string(failed_at_) + ": " + message_);
}

Status ByteReader::Done() {
  if (ok() && !AtEnd()) {
    Fail(std::to_string(remaining()) + " bytes are left over");
  }
  return status();
}

}  // namespace ebb::bytecode
