// Reads what ByteWriter wrote, from bytes that nobody has checked. The first
// thing wrong sticks: from then on every read gives zero and `ok` is false, so
// that callers check once an item and not once a number. Numbers have one
// encoding each; longer forms of the same number are refused, so equal modules
// and equal bytes are the same thing.
//
//   ByteReader in(bytes, "types");
//   const uint64_t count = in.Count(4);  // at least 4 bytes an entry follow
//   if (!in.ok()) return in.status();
#ifndef EBB_BYTECODE_BYTE_READER_H_
#define EBB_BYTECODE_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "bytecode/error.h"
#include "bytecode/index.h"

namespace ebb::bytecode {

class ByteReader {
 public:
  // `section` stands in messages.
  ByteReader(std::span<const std::byte> bytes, std::string_view section)
      : begin_(bytes.data()),
        at_(begin_),
        end_(begin_ + bytes.size()),
        section_(section) {}

  bool ok() const { return message_.empty(); }
  bool AtEnd() const { return at_ == end_; }
  std::size_t position() const {
    return static_cast<std::size_t>(at_ - begin_);
  }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }

  uint8_t U8() {
    if (at_ == end_) return EndsEarly();
    return static_cast<uint8_t>(*at_++);
  }
  uint16_t U16() { return static_cast<uint16_t>(Fixed(2)); }
  uint32_t U32() { return static_cast<uint32_t>(Fixed(4)); }
  uint64_t U64() { return Fixed(8); }

  uint64_t Uleb() {
    const uint8_t first = U8();
    return first < 0x80 ? first : UlebRest(first & 0x7fU, 7);
  }
  int64_t Zigzag() { return FromZigzag(Uleb()); }
  // An Uleb that fits int64.
  int64_t Unsigned() {
    const uint64_t value = Uleb();
    if (value > kMaxInt64) return static_cast<int64_t>(TooLarge(value));
    return static_cast<int64_t>(value);
  }
  uint32_t Unsigned32() {
    const uint64_t value = Uleb();
    if (value > std::numeric_limits<uint32_t>::max()) {
      return static_cast<uint32_t>(TooLarge(value));
    }
    return static_cast<uint32_t>(value);
  }
  int64_t Tagged(bool* tag);
  template <class IdType>
  IdType OptionalId() {
    const uint32_t value = Unsigned32();
    return value == 0 ? IdType() : IdType(value - 1);
  }
  // A number of entries that take `entry_bytes` each at the least: more than
  // the rest of the section can hold is an error, before anyone reserves.
  std::size_t Count(std::size_t entry_bytes);
  std::string_view Text();
  std::span<const std::byte> Bytes(std::size_t count);

  // Records the first error.
  void Fail(std::string message) {
    if (ok()) {
      message_ = std::move(message);
      failed_at_ = position();
    }
    at_ = end_;
  }
  // The error, or none.
  Status status() const;
  // An error also when bytes are left over.
  Status Done();

 private:
  static constexpr uint64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

  static int64_t FromZigzag(uint64_t bits) {
    return static_cast<int64_t>(bits >> 1) ^ -static_cast<int64_t>(bits & 1);
  }
  uint64_t UlebRest(uint64_t low, int shift);
  uint64_t Fixed(int bytes);
  uint8_t EndsEarly();
  uint64_t TooLarge(uint64_t value);

  const std::byte* begin_;
  const std::byte* at_;
  const std::byte* end_;
  std::string_view section_;
  std::string message_;
  std::size_t failed_at_ = 0;
};

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_BYTE_READER_H_
