// The code of a function as bytes: per instruction the opcode, then its
// operands in the order of the format.
//   Int                    see ByteWriter::Tagged
//   Out OptUse, DefHolds…  LEB128 of the register plus one; 0 for "none"
//   Pass                   LEB128 of register * 2 + (1 if moved)
//   Ins entry              LEB128 of its kind, then as above
//   everything else        LEB128 of the word
// A list is its count, then the entries. decoder.h is the inverse.
#ifndef EBB_BYTECODE_ENCODER_H_
#define EBB_BYTECODE_ENCODER_H_

#include "bytecode/byte_writer.h"
#include "bytecode/error.h"
#include "bytecode/module.h"

namespace ebb::bytecode {

// Fails on words that do not fit the formats, which only a module that does
// not verify can have.
Status EncodeCode(const Function& function, ByteWriter& out);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_ENCODER_H_
