// A module's types and tensors in words: for help, errors and tables.
#ifndef EBB_TOOLS_PROGRAM_TEXT_H_
#define EBB_TOOLS_PROGRAM_TEXT_H_

#include <string>

#include "bytecode/module.h"

namespace ebb::tools {

// "f32[batch, 3, ?, 224]", "sequence(f32[*])".
std::string TypeText(const bytecode::Module& module, bytecode::TypeId type);

// "f32[batch, 3] x, i64[] y": the parameters of the entry function.
std::string InputListText(const bytecode::Module& module);

// The type, when it is a tensor's; else nullptr.
const bytecode::Type* TensorType(const bytecode::Module& module,
                                 bytecode::TypeId type);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_PROGRAM_TEXT_H_
