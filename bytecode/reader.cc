#include "bytecode/reader.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "bytecode/byte_reader.h"
#include "bytecode/checksum.h"
#include "bytecode/file_format.h"
#include "bytecode/module_builder.h"
#include "bytecode/section_reader.h"
#include "bytecode/verifier.h"

namespace ebb::bytecode {
namespace {

Status CheckSections(std::span<const std::byte> file, const FileFrame& frame) {
  for (std::size_t i = 0; i < kSectionCount; ++i) {
    const SectionEntry& section = frame.sections[i];
    if (Crc32c(file.subspan(section.offset, section.bytes)) !=
        section.checksum) {
      return Fail(
          ErrorCode::kInvalidFile,
          "the checksum of section " +
              std::string(SectionName(static_cast<SectionKind>(i + 1))) +
              " does not fit");
    }
  }
  return {};
}

Status CheckData(std::span<const std::byte> file, const FileFrame& frame) {
  ByteReader trailer(file.last(kTrailerBytes), "trailer");
  const auto data = file.subspan(frame.data_offset, frame.data_bytes);
  if (Crc32c(data) != trailer.U32()) {
    return Fail(ErrorCode::kInvalidFile,
                "the checksum of the constants does not fit");
  }
  return {};
}

bool IsAligned(const std::byte* at) {
  return reinterpret_cast<uintptr_t>(at) % kConstantAlignment == 0;
}

}  // namespace

Expected<Module> ReadModule(std::span<const std::byte> file,
                            const ReadOptions& options) {
  TRY(const FileFrame frame, ReadFrame(file, options.check_checksums));
  if (options.check_checksums) RETURN_IF_ERROR(CheckSections(file, frame));
  if (options.check_constants) RETURN_IF_ERROR(CheckData(file, frame));

  Module module;
  std::span<const std::byte> data =
      file.subspan(frame.data_offset, frame.data_bytes);
  if (!data.empty() && !IsAligned(data.data())) {
    const std::span<std::byte> copy = AddOwnedBytes(module, data.size());
    std::ranges::copy(data, copy.begin());
    data = copy;
  }
  for (std::size_t i = 0; i < kSectionCount; ++i) {
    const SectionEntry& section = frame.sections[i];
    RETURN_IF_ERROR(ReadSection(static_cast<SectionKind>(i + 1),
                                file.subspan(section.offset, section.bytes),
                                data, module));
  }
  if (options.verify) RETURN_IF_ERROR(Verify(module));
  return module;
}

Status VerifyConstants(std::span<const std::byte> file) {
  TRY(const FileFrame frame, ReadFrame(file, true));
  return CheckData(file, frame);
}

}  // namespace ebb::bytecode
