// The frame of a `.ebb` file; docs/bytecode.md is the full description. All
// numbers are little-endian.
//
//   header             64 bytes: magic, version, sizes, checksum
//   section table      32 bytes a section, in the order of SectionKind
//   sections           each 8-byte aligned and with a checksum of its own
//   constants data     from a page boundary on; each constant 64-byte aligned
//   trailer            8 bytes: checksum of the constants data, end mark
//
// Every byte of the frame has one right value, zero padding included, so equal
// modules give equal files.
//
// Compatibility: a reader takes files of its own major version and of a minor
// version not above its own. Minor versions add opcodes, operators, attributes
// and sections; a major version may change anything.
#ifndef EBB_BYTECODE_FILE_FORMAT_H_
#define EBB_BYTECODE_FILE_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bytecode/byte_writer.h"
#include "bytecode/error.h"

namespace ebb::bytecode {

// The high bit catches 7-bit transfers, the line ends catch text-mode ones.
inline constexpr std::array<uint8_t, 8> kFileMagic = {0x89, 'E',  'B',  'B',
                                                      '\r', '\n', 0x1a, '\n'};
inline constexpr uint16_t kMajorVersion = 1;
inline constexpr uint16_t kMinorVersion = 0;

inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::size_t kSectionEntryBytes = 32;
inline constexpr std::size_t kSectionAlignment = 8;
inline constexpr std::size_t kDataAlignment = 4096;
inline constexpr std::size_t kConstantAlignment = 64;
inline constexpr std::size_t kTrailerBytes = 8;
inline constexpr uint32_t kEndMark = 0x45424245;  // "EBBE"

enum class SectionKind : uint32_t {
  kMetadata = 1,
  kStrings = 2,
  kTypes = 3,
  kConstants = 4,  // The index; the data stands at the end of the file.
  kSites = 5,
  kFunctions = 6,
  kSourceNodes = 7,  // Which node of the model each site came from.
  kDebugNames = 8,   // Names of the values that instructions define.
};
inline constexpr std::size_t kSectionCount = 8;

std::string_view SectionName(SectionKind kind);

struct SectionEntry {
  uint32_t checksum = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct FileFrame {
  uint64_t file_bytes = 0;
  uint64_t data_offset = 0;
  uint64_t data_bytes = 0;  // Without padding before it or the trailer.
  std::array<SectionEntry, kSectionCount> sections;  // By kind, from 1.

  const SectionEntry& section(SectionKind kind) const {
    return sections[static_cast<std::size_t>(kind) - 1];
  }
};

constexpr uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// Header and section table.
void WriteFrame(const FileFrame& frame, ByteWriter& out);

// Checks all that can be checked without looking into sections and constants:
// magic, version, checksum of header and table, that everything lies where it
// must within `file` and that padding is zero.
Expected<FileFrame> ReadFrame(std::span<const std::byte> file,
                              bool check_checksums);

// True when the bytes begin like a `.ebb` file of any version.
bool HasFileMagic(std::span<const std::byte> file);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_FILE_FORMAT_H_
