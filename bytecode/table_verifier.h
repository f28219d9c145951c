// The part of Verify (verifier.h) that looks at a module's tables: strings,
// types, constants, sites and the signatures of functions.
#ifndef EBB_BYTECODE_TABLE_VERIFIER_H_
#define EBB_BYTECODE_TABLE_VERIFIER_H_

#include "bytecode/error.h"
#include "bytecode/module.h"

namespace ebb::bytecode {

Status VerifyTables(const Module& module);

// Bytes that `constant` must have, by its kind, dtype, dims and packing;
// nullopt when they do not give a number (strings, overflow, malformed).
std::optional<int64_t> DataBytesOf(const Constant& constant);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_TABLE_VERIFIER_H_
