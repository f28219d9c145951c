// Writes each section of a file but the constants' data. The layouts are in
// docs/bytecode.md; section_reader.h is the inverse.
#ifndef EBB_BYTECODE_SECTION_WRITER_H_
#define EBB_BYTECODE_SECTION_WRITER_H_

#include "bytecode/byte_writer.h"
#include "bytecode/error.h"
#include "bytecode/file_format.h"
#include "bytecode/module.h"

namespace ebb::bytecode {

Status WriteSection(SectionKind kind, const Module& module, ByteWriter& out);

// Where a constant goes that is the next one after `end` bytes of data.
constexpr uint64_t ConstantOffset(uint64_t end) {
  return AlignUp(end, kConstantAlignment);
}

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_SECTION_WRITER_H_
