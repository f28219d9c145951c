#include "bytecode/file_format.h"

#include <algorithm>
#include <string>

#include "bytecode/byte_reader.h"
#include "bytecode/checksum.h"

namespace ebb::bytecode {
namespace {

constexpr std::size_t kFrameBytes =
    kHeaderBytes + kSectionCount * kSectionEntryBytes;
// Magic, versions, section count, three sizes and a reserved word come first.
constexpr std::size_t kHeaderChecksumAt = 56;

std::unexpected<Error> Damaged(std::string message) {
  return Fail(ErrorCode::kInvalidFile, std::move(message));
}

std::string Mismatch(std::string_view what, uint64_t has, uint64_t needs) {
  return std::string(what) + " is " + std::to_string(has) + ", " +
         std::to_string(needs) + " is right";
}

Status CheckZero(std::span<const std::byte> file, uint64_t begin,
                 uint64_t end) {
  for (uint64_t at = begin; at < end; ++at) {
    if (file[at] != std::byte{0}) {
      return Damaged("byte " + std::to_string(at) + ": padding is not zero");
    }
  }
  return {};
}

Status CheckHeader(std::span<const std::byte> file) {
  if (!HasFileMagic(file)) return Damaged("this is not an ebb file");
  if (file.size() < kFrameBytes + kTrailerBytes) {
    return Damaged("the file has " + std::to_string(file.size()) +
                   " bytes, the smallest has " +
                   std::to_string(kFrameBytes + kTrailerBytes));
  }
  ByteReader in(file.subspan(kFileMagic.size()), "header");
  const uint16_t major = in.U16();
  const uint16_t minor = in.U16();
  if (major != kMajorVersion || minor > kMinorVersion) {
    return Fail(ErrorCode::kUnsupported,
                "the file has format version " + std::to_string(major) + "." +
                    std::to_string(minor) + ", this reader takes " +
                    std::to_string(kMajorVersion) + ".0 to " +
                    std::to_string(kMajorVersion) + "." +
                    std::to_string(kMinorVersion));
  }
  const uint32_t count = in.U32();
  if (count != kSectionCount) {
    return Damaged(Mismatch("the number of sections", count, kSectionCount));
  }
  return {};
}

Status CheckChecksums(std::span<const std::byte> file) {
  ByteReader in(file.subspan(kHeaderChecksumAt, 8), "header");
  const uint32_t table = in.U32();
  const uint32_t header = in.U32();
  if (Crc32c(file.first(kHeaderBytes - 4)) != header) {
    return Damaged("the checksum of the header does not fit");
  }
  if (Crc32c(file.subspan(kHeaderBytes, kFrameBytes - kHeaderBytes)) != table) {
    return Damaged("the checksum of the section table does not fit");
  }
  return {};
}

// Sections, data and trailer follow each other without gaps or overlaps.
Status CheckPlaces(std::span<const std::byte> file, const FileFrame& frame) {
  if (frame.file_bytes != file.size()) {
    return Damaged("the file has " + std::to_string(file.size()) +
                   " bytes, its header says " +
                   std::to_string(frame.file_bytes));
  }
  uint64_t end = kFrameBytes;
  for (std::size_t i = 0; i < kSectionCount; ++i) {
    const SectionEntry& section = frame.sections[i];
    const std::string name(SectionName(static_cast<SectionKind>(i + 1)));
    const uint64_t begin = AlignUp(end, kSectionAlignment);
    if (section.offset != begin) {
      return Damaged(
          Mismatch("the offset of section " + name, section.offset, begin));
    }
    if (begin > file.size() || section.bytes > file.size() - begin) {
      return Damaged("section " + name + " reaches past the end of the file");
    }
    RETURN_IF_ERROR(CheckZero(file, end, begin));
    end = begin + section.bytes;
  }
  const uint64_t data = AlignUp(end, kDataAlignment);
  if (frame.data_offset != data) {
    return Damaged(
        Mismatch("the offset of the constants", frame.data_offset, data));
  }
  if (data > file.size() || frame.data_bytes > file.size() - data ||
      AlignUp(frame.data_bytes, kTrailerBytes) !=
          file.size() - data - kTrailerBytes) {
    return Damaged("the constants have " + std::to_string(frame.data_bytes) +
                   " bytes, the file ends at " + std::to_string(file.size()));
  }
  RETURN_IF_ERROR(CheckZero(file, end, data));
  RETURN_IF_ERROR(
      CheckZero(file, data + frame.data_bytes, file.size() - kTrailerBytes));
  ByteReader trailer(file.last(4), "trailer");
  if (trailer.U32() != kEndMark) return Damaged("the end mark is missing");
  return {};
}

}  // namespace

std::string_view SectionName(SectionKind kind) {
  switch (kind) {
    case SectionKind::kMetadata:
      return "metadata";
    case SectionKind::kStrings:
      return "strings";
    case SectionKind::kTypes:
      return "types";
    case SectionKind::kConstants:
      return "constants";
    case SectionKind::kSites:
      return "sites";
    case SectionKind::kFunctions:
      return "functions";
    case SectionKind::kSourceNodes:
      return "source nodes";
    case SectionKind::kDebugNames:
      return "debug names";
  }
  return "unknown";
}

void WriteFrame(const FileFrame& frame, ByteWriter& out) {
  ByteWriter table;
  for (std::size_t i = 0; i < kSectionCount; ++i) {
    table.U32(static_cast<uint32_t>(i + 1));
    table.U32(frame.sections[i].checksum);
    table.U64(frame.sections[i].offset);
    table.U64(frame.sections[i].bytes);
    table.U64(0);
  }
  ByteWriter header;
  header.Bytes(std::as_bytes(std::span(kFileMagic)));
  header.U16(kMajorVersion);
  header.U16(kMinorVersion);
  header.U32(kSectionCount);
  header.U64(frame.file_bytes);
  header.U64(frame.data_offset);
  header.U64(frame.data_bytes);
  header.U64(0);
  header.U64(0);
  header.U32(Crc32c(table.bytes()));
  header.U32(Crc32c(header.bytes()));
  out.Bytes(header.bytes());
  out.Bytes(table.bytes());
}

Expected<FileFrame> ReadFrame(std::span<const std::byte> file,
                              bool check_checksums) {
  RETURN_IF_ERROR(CheckHeader(file));
  if (check_checksums) RETURN_IF_ERROR(CheckChecksums(file));
  FileFrame frame;
  ByteReader header(file.subspan(16, kHeaderChecksumAt - 16), "header");
  frame.file_bytes = header.U64();
  frame.data_offset = header.U64();
  frame.data_bytes = header.U64();
  uint64_t reserved = header.U64() | header.U64();
  ByteReader table(file.subspan(kHeaderBytes, kFrameBytes - kHeaderBytes),
                   "section table");
  for (std::size_t i = 0; i < kSectionCount; ++i) {
    const uint32_t kind = table.U32();
    if (kind != i + 1) {
      return Damaged(
          Mismatch("the kind of section " + std::to_string(i), kind, i + 1));
    }
    frame.sections[i].checksum = table.U32();
    frame.sections[i].offset = table.U64();
    frame.sections[i].bytes = table.U64();
    reserved |= table.U64();
  }
  if (reserved != 0) return Damaged("a reserved field is not zero");
  RETURN_IF_ERROR(CheckPlaces(file, frame));
  return frame;
}

bool HasFileMagic(std::span<const std::byte> file) {
  return file.size() >= kFileMagic.size() &&
         std::equal(kFileMagic.begin(), kFileMagic.end(), file.begin(),
                    [](uint8_t magic, std::byte byte) {
                      return static_cast<std::byte>(magic) == byte;
                    });
}

}  // namespace ebb::bytecode
