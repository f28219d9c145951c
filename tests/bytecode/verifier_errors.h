// What the verifier says of a module, and of a function with one mistake in a
// module that is right otherwise.
#ifndef EBB_TESTS_BYTECODE_VERIFIER_ERRORS_H_
#define EBB_TESTS_BYTECODE_VERIFIER_ERRORS_H_

#include <functional>
#include <string>

#include "bytecode/function_builder.h"
#include "bytecode/module.h"

namespace ebb::bytecode {

// The error as text; "" for none.
std::string ErrorOf(const Module& module);

// The module has function main (of one borrowed parameter x and no result),
// which `emit` fills in, function other (two parameters, one result), a site of
// relu, one of slice, and a constant. `change` comes last.
std::string ErrorOfCode(const std::function<void(FunctionBuilder&)>& emit,
                        const std::function<void(Module&)>& change = {});

}  // namespace ebb::bytecode

#endif  // EBB_TESTS_BYTECODE_VERIFIER_ERRORS_H_
