#include "bytecode/writer.h"

#include <array>

#include "bytecode/checksum.h"
#include "bytecode/file_format.h"
#include "bytecode/section_writer.h"

namespace ebb::bytecode {
namespace {

// Large enough to make calls cheap, small enough to stay in the cache between
// checksum and sink.
constexpr std::size_t kPieceBytes = std::size_t{1} << 18;

// The sink with a count and a checksum of what went through it.
class CountingSink {
 public:
  explicit CountingSink(const Sink& sink) : sink_(sink) {}

  Status Write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto piece = bytes.first(std::min(bytes.size(), kPieceBytes));
      checksum_ = Crc32c(piece, checksum_);
      RETURN_IF_ERROR(sink_(piece));
      written_bytes_ += piece.size();
      bytes = bytes.subspan(piece.size());
    }
    return {};
  }
  Status ZerosUpTo(uint64_t offset) {
    static constexpr std::array<std::byte, kDataAlignment> kZeros{};
    return Write(std::span(kZeros).first(offset - written_bytes_));
  }
  void RestartChecksum() { checksum_ = 0; }
  uint32_t checksum() const { return checksum_; }

 private:
  const Sink& sink_;
  uint64_t written_bytes_ = 0;
  uint32_t checksum_ = 0;
};

uint64_t DataBytes(const Module& module) {
  uint64_t end = 0;
  for (const Constant& constant : module.constants) {
    end = ConstantOffset(end) + constant.data.size();
  }
  return end;
}

}  // namespace

Status WriteModule(const Module& module, const Sink& sink) {
  std::array<ByteWriter, kSectionCount> sections;
  FileFrame frame;
  uint64_t end = kHeaderBytes + kSectionCount * kSectionEntryBytes;
  for (std::size_t i = 0; i < kSectionCount; ++i) {
    RETURN_IF_ERROR(
        WriteSection(static_cast<SectionKind>(i + 1), module, sections[i]));
    SectionEntry& entry = frame.sections[i];
    entry.checksum = Crc32c(sections[i].bytes());
    entry.offset = AlignUp(end, kSectionAlignment);
    entry.bytes = sections[i].size();
    end = entry.offset + entry.bytes;
  }
  frame.data_offset = AlignUp(end, kDataAlignment);
  frame.data_bytes = DataBytes(module);
  const uint64_t trailer_offset =
      frame.data_offset + AlignUp(frame.data_bytes, kTrailerBytes);
  frame.file_bytes = trailer_offset + kTrailerBytes;

  CountingSink out(sink);
  ByteWriter header;
  WriteFrame(frame, header);
  RETURN_IF_ERROR(out.Write(header.bytes()));
  for (std::size_t i = 0; i < kSectionCount; ++i) {
    RETURN_IF_ERROR(out.ZerosUpTo(frame.sections[i].offset));
    RETURN_IF_ERROR(out.Write(sections[i].bytes()));
  }
  RETURN_IF_ERROR(out.ZerosUpTo(frame.data_offset));

  out.RestartChecksum();
  uint64_t data_end = 0;
  for (const Constant& constant : module.constants) {
    const uint64_t offset = ConstantOffset(data_end);
    RETURN_IF_ERROR(out.ZerosUpTo(frame.data_offset + offset));
    RETURN_IF_ERROR(out.Write(constant.data));
    data_end = offset + constant.data.size();
  }
  ByteWriter trailer;
  trailer.U32(out.checksum());
  trailer.U32(kEndMark);
  RETURN_IF_ERROR(out.ZerosUpTo(trailer_offset));
  return out.Write(trailer.bytes());
}

Expected<std::vector<std::byte>> ModuleToBytes(const Module& module) {
  std::vector<std::byte> bytes;
  RETURN_IF_ERROR(WriteModule(module, [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return Status();
  }));
  return bytes;
}

}  // namespace ebb::bytecode
