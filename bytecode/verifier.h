// Proves that a module is safe to run: whatever the file said, the interpreter
// cannot read out of bounds or use a register that holds nothing. Checked are
//   - tables: every index, nesting of types (256), operators and their
//     attributes, sizes of constants, string blocks, packing;
//   - instructions: operands and roles, register bounds, labels, arities of
//     calls and operators;
//   - flow: integer registers are written before they are read, hold registers
//     hold something when used or killed and nothing when filled, on every
//     path. An instruction reads and empties its operands in their order, then
//     fills: a result may take the register of a value that was moved. Where
//     paths meet, a register held on one and empty on another may not be
//     touched any more (it is released at the return).
// Not checked: the kinds of values and shapes, which the VM checks as it runs,
// and missing kills, which are legal (lifetime_checker.h finds those).
//
// Time and memory are linear in the module but for flow, where they also grow
// with branches times registers, up to a fixed limit (kLimit beyond).
//
//   RETURN_IF_ERROR(Verify(module));
//   // function main, instruction 12 (kill_tensor): register 3 holds nothing
#ifndef EBB_BYTECODE_VERIFIER_H_
#define EBB_BYTECODE_VERIFIER_H_

#include "bytecode/error.h"
#include "bytecode/module.h"

namespace ebb::bytecode {

inline constexpr int kMaxTypeNesting = 256;

Status Verify(const Module& module);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_VERIFIER_H_
