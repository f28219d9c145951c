// Reads each section of a file into a module: the inverse of
// section_writer.h. Checks that the bytes are well-formed, not what they mean:
// indexes may point anywhere until the module is verified.
#ifndef EBB_BYTECODE_SECTION_READER_H_
#define EBB_BYTECODE_SECTION_READER_H_

#include <cstddef>
#include <span>

#include "bytecode/byte_reader.h"
#include "bytecode/file_format.h"
#include "bytecode/module.h"

namespace ebb::bytecode {

// Sections are read in the order of their kinds. `data` is the constants'
// data, which constants become spans of.
Status ReadSection(SectionKind kind, std::span<const std::byte> bytes,
                   std::span<const std::byte> data, Module& module);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_SECTION_READER_H_
