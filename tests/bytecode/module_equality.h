// Compares modules field by field, for round trips: constants by their bytes,
// wherever these lie.
#ifndef EBB_TESTS_BYTECODE_MODULE_EQUALITY_H_
#define EBB_TESTS_BYTECODE_MODULE_EQUALITY_H_

#include <gtest/gtest.h>

#include "bytecode/module.h"

namespace ebb::bytecode {

// Names the first field that differs.
::testing::AssertionResult SameModule(const Module& a, const Module& b);

}  // namespace ebb::bytecode

#endif  // EBB_TESTS_BYTECODE_MODULE_EQUALITY_H_
