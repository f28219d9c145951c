// Proves that every function of a module frees what it owns, once and in time,
// on every path: the check of the compiler's kills. Written apart from the pass
// that places kills and from the verifier, and shares no code with them.
//
//   - nothing is read, moved or killed after its kill or move;
//   - nothing is put over a value that is still held;
//   - when a function returns it holds nothing that it owns: parameters marked
//     donated and all that it made itself, by whatever means. Constants may be
//     killed but need not be: they hold no buffer;
//   - parameters not marked donated are borrowed: never killed, never moved;
//   - the kind of kill is that of the value: tensor, storage, anything else.
//     Where only the run tells (an external's result, a field) each will do.
//
// The module must verify. Missing kills, legal in a file, are errors here.
//
//   RETURN_IF_ERROR(CheckLifetimes(module));
//   // function main, instruction 9 (return): register 4 still holds a tensor
#ifndef EBB_BYTECODE_LIFETIME_CHECKER_H_
#define EBB_BYTECODE_LIFETIME_CHECKER_H_

#include "bytecode/error.h"
#include "bytecode/module.h"

namespace ebb::bytecode {

Status CheckLifetimes(const Module& module);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_LIFETIME_CHECKER_H_
