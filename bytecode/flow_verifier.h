// The part of Verify (verifier.h) that follows control: on every path, integer
// registers are written before they are read, and hold registers hold what is
// used, killed or moved and nothing where something is put.
#ifndef EBB_BYTECODE_FLOW_VERIFIER_H_
#define EBB_BYTECODE_FLOW_VERIFIER_H_

#include <cstdint>

#include "bytecode/error.h"
#include "bytecode/module.h"

namespace ebb::bytecode {

// Bits of state for all blocks of one function together; 64 MiB.
inline constexpr uint64_t kMaxFlowBits = uint64_t{1} << 29;
// Rounds over the code until nothing changes. Nested loops take a few more
// rounds than their depth; only tangled jumps take more.
inline constexpr int kMaxFlowRounds = 300;

// The code has passed VerifyCode.
Status VerifyFlow(const Module& module, const Function& function);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_FLOW_VERIFIER_H_
