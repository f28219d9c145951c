// Appends the numbers and texts that files are made of to a vector of bytes:
// little-endian fixed-size numbers, LEB128 for unsigned and zig-zag LEB128 for
// signed ones. `ByteReader` (byte_reader.h) is the inverse.
#ifndef EBB_BYTECODE_BYTE_WRITER_H_
#define EBB_BYTECODE_BYTE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/index.h"

namespace ebb::bytecode {

class ByteWriter {
 public:
  void U8(uint8_t value) { bytes_.push_back(static_cast<std::byte>(value)); }
  void U16(uint16_t value) { Fixed(value, 2); }
  void U32(uint32_t value) { Fixed(value, 4); }
  void U64(uint64_t value) { Fixed(value, 8); }

  void Uleb(uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      U8(static_cast<uint8_t>(value | 0x80));
    }
    U8(static_cast<uint8_t>(value));
  }
  void Zigzag(int64_t value) { Uleb(ZigzagBits(value)); }
  // An integer operand: bit 0 of the first byte tells a register from an
  // immediate and its next six bits begin the number.
  void Tagged(bool tag, int64_t value) {
    const uint64_t bits =
        tag ? static_cast<uint64_t>(value) : ZigzagBits(value);
    const uint64_t rest = bits >> 6;
    U8(static_cast<uint8_t>((tag ? 1U : 0U) | (bits & 0x3f) << 1 |
                            (rest != 0 ? 0x80U : 0U)));
    if (rest != 0) Uleb(rest);
  }
  // 0 for none, else the index plus one.
  template <class Tag>
  void OptionalId(Id<Tag> id) {
    Uleb(id.valid() ? uint64_t{id.index()} + 1 : 0);
  }

  void Bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  // Length, then the bytes.
  void Text(std::string_view text) {
    Uleb(text.size());
    Bytes(std::as_bytes(std::span(text)));
  }
  void PadTo(std::size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
  }

  std::size_t size() const { return bytes_.size(); }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::vector<std::byte> Take() { return std::exchange(bytes_, {}); }

 private:
  static uint64_t ZigzagBits(int64_t value) {
    return (static_cast<uint64_t>(value) << 1) ^
           static_cast<uint64_t>(value >> 63);
  }
  void Fixed(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i, value >>= 8) {
      U8(static_cast<uint8_t>(value & 0xff));
    }
  }

  std::vector<std::byte> bytes_;
};

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_BYTE_WRITER_H_
