// Lowering: from the IR after its memory and kill steps to a bytecode module.
//
//   TRY(bytecode::Module module, lowering::Lower(ir_module, options));
//
// The result verifies, and passes the lifetime checker when kills were
// inserted. Constants are not copied: the bytecode's spans point where the
// IR's do, and the same owners keep them alive.
#ifndef EBB_COMPILER_LOWERING_LOWER_H_
#define EBB_COMPILER_LOWERING_LOWER_H_

#include <string>

#include "bytecode/error.h"
#include "bytecode/module.h"
#include "compiler/ir/ir.h"

namespace ebb::lowering {

struct LowerOptions {
  std::string producer;
  std::string target;
  // Kills were inserted: holds the result to the lifetime rules.
  bool check_lifetimes = true;
};

Expected<bytecode::Module> Lower(const ir::Module& module,
                                 const LowerOptions& options);

}  // namespace ebb::lowering

#endif  // EBB_COMPILER_LOWERING_LOWER_H_
