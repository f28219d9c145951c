// The text form of the IR, read. Its grammar is what printer.h prints, freely
// spaced; `#` begins a comment. Errors say `line:column` in `where`.
//
// Types are what the text says: nothing is inferred but what follows from an
// instruction alone. `%true` and `%false` are bool scalars where nothing else
// has these names. A constant that is declared nowhere gets its type from its
// first use and no data (`declared_only`). Entry is `@main`, else the first
// function, unless the text says `entry @name`.
//
// The result is well-formed as a data structure (ids in range, names bound);
// `Verify` holds it to the rules.
#ifndef EBB_COMPILER_IR_PARSER_H_
#define EBB_COMPILER_IR_PARSER_H_

#include <string_view>

#include "bytecode/error.h"
#include "compiler/ir/ir.h"

namespace ebb::ir {

Expected<Module> ParseModule(std::string_view text);

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_PARSER_H_
