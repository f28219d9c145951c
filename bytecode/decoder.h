// The inverse of encoder.h: bytes to pre-decoded code. Checks that opcodes and
// operands are well-formed, not what they mean (verifier.h does). Takes time
// and memory linear in the bytes.
#ifndef EBB_BYTECODE_DECODER_H_
#define EBB_BYTECODE_DECODER_H_

#include <cstddef>

#include "bytecode/byte_reader.h"
#include "bytecode/module.h"

namespace ebb::bytecode {

// Appends `count` instructions to `function`. Errors stick to `in`.
void DecodeCode(ByteReader& in, std::size_t count, Function& function);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_DECODER_H_
