// A module as `.ebbt` text: everything that it holds, so that the assembler
// (assembler.h) gives back the same module. docs/bytecode.md describes the
// text. The module must verify.
//
//   func @main(%h0 "x": f32[n, 4]) -> ("y": f32[n, 4]) ints 1 holds 3 {
//     %i0 = dim %h0, 0
//     op_alloc #0, [%h1], [%h0] as "y"  // relu "node_3"
//     return [move %h1]
//   }
#ifndef EBB_BYTECODE_DISASSEMBLER_H_
#define EBB_BYTECODE_DISASSEMBLER_H_

#include <cstdint>
#include <limits>
#include <string>

#include "bytecode/module.h"

namespace ebb::bytecode {

struct DisassembleOptions {
  // Constants with more bytes are left out; such a text is for reading only,
  // the assembler refuses it.
  uint64_t elide_above_bytes = std::numeric_limits<uint64_t>::max();
};

std::string Disassemble(const Module& module,
                        const DisassembleOptions& options = {});

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_DISASSEMBLER_H_
