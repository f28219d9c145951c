// The part of the verifier that looks at one instruction alone: counts and
// types of operands and results, attributes, callees, shapes of regions.
#ifndef EBB_COMPILER_IR_VERIFY_INSTR_H_
#define EBB_COMPILER_IR_VERIFY_INSTR_H_

#include <string>

#include "bytecode/error.h"
#include "compiler/ir/instr_info.h"
#include "compiler/ir/ir.h"

namespace ebb::ir {

// An error at the instruction: its line and column, or its function.
std::unexpected<Error> FailAt(const Function& function, const Instr& instr,
                              std::string message,
                              ErrorCode code = ErrorCode::kInvalidFile);

// Ids of operands, results and regions are in range already.
Status VerifyInstr(const Module& module, const FunctionNames& functions,
                   const Function& function, const Instr& instr);

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_VERIFY_INSTR_H_
