// `.ebbt` text to a module: the inverse of Disassemble (disassembler.h), and
// what small programs in tests are written in. Strings and types may be written
// where they are used; those that no table lists are added to it in the order
// they come. Errors carry "line:column" as where; the module has verified.
//
//   TRY(Module module, Assemble(R"(
//     ebbt 1.0
//     entry @main
//     func @main(%h0 "x": f32[n]) -> ("y": f32[n]) ints 0 holds 1 {
//       return [share %h0]
//     }
//   )"));
#ifndef EBB_BYTECODE_ASSEMBLER_H_
#define EBB_BYTECODE_ASSEMBLER_H_

#include <string_view>

#include "bytecode/error.h"
#include "bytecode/module.h"

namespace ebb::bytecode {

struct AssembleOptions {
  bool verify = true;
};

Expected<Module> Assemble(std::string_view text,
                          const AssembleOptions& options = {});

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_ASSEMBLER_H_
