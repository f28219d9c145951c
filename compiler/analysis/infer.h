// Types, symbolic shapes and known contents of one instruction's results, from
// those of its operands. The importer calls it for each instruction it adds,
// the `infer-types` pass for all of a module.
//
// Operators go through the shape rules of bytecode/shape_rules over symbolic
// dims. A dim that a rule leaves open keeps the symbol that the result
// already had, or gets a fresh one, bound at run time. Errors name the node.
#ifndef EBB_COMPILER_ANALYSIS_INFER_H_
#define EBB_COMPILER_ANALYSIS_INFER_H_

#include "bytecode/error.h"
#include "compiler/ir/ir.h"

namespace ebb::ir {

// `instr` stands in `function` already; its operands have types. Regions of
// an if or loop have been inferred (their terminators' operands have types).
// Instructions that carry their type in themselves (constants, match_cast,
// alloc_tensor, view) are left as they are.
Status InferInstr(Module& module, Function& function, InstrId instr);

// All instructions, outer before inner, each region in order.
Status InferFunction(Module& module, Function& function);
Status InferTypes(Module& module);

// The common type of two values that meet (the results of an if): dims that
// differ get a fresh symbol, ranks that differ make it unranked.
Expected<Type> MeetTypes(Module& module, const Type& a, const Type& b);

}  // namespace ebb::ir

#endif  // EBB_COMPILER_ANALYSIS_INFER_H_
