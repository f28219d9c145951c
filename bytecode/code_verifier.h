// The part of Verify (verifier.h) that looks at each instruction by itself:
// operands, register bounds, labels, arities. What it accepts may be walked
// with ForEachOperand and followed along its labels.
#ifndef EBB_BYTECODE_CODE_VERIFIER_H_
#define EBB_BYTECODE_CODE_VERIFIER_H_

#include <cstddef>
#include <string>

#include "bytecode/error.h"
#include "bytecode/module.h"

namespace ebb::bytecode {

// Registers that a function may have beyond one per parameter and word of
// operands. Frames are as large as the registers say, so a small file must not
// ask for a large one.
inline constexpr uint64_t kSpareRegisters = 256;

// `externals` has a bit per string that call_external may name.
Status VerifyCode(const Module& module, const Function& function,
                  const std::vector<bool>& externals);

// "function main, instruction 12 (kill_tensor)"
std::string WhereInCode(const Module& module, const Function& function,
                        std::size_t instruction);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_CODE_VERIFIER_H_
