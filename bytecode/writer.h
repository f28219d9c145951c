// Writes a module as a `.ebb` file (file_format.h). The bytes go to a sink
// piece by piece and in order, the constants straight from where they lie, so
// writing takes memory for the sections only. The same module always gives the
// same bytes.
//
//   RETURN_IF_ERROR(WriteFileAtomically(path, [&](const Sink& sink) {
//     return WriteModule(module, sink);
//   }));
#ifndef EBB_BYTECODE_WRITER_H_
#define EBB_BYTECODE_WRITER_H_

#include <cstddef>
#include <vector>

#include "bytecode/atomic_file.h"
#include "bytecode/error.h"
#include "bytecode/module.h"

namespace ebb::bytecode {

// The module should verify: a reader checks all of it again.
Status WriteModule(const Module& module, const Sink& sink);

Expected<std::vector<std::byte>> ModuleToBytes(const Module& module);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_WRITER_H_
