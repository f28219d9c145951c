// Files that are there whole or not at all: the content goes to a new file
// beside the target, which is renamed over it once everything is on the disk.
// After an error the target is as it was and nothing is left over.
#ifndef EBB_BYTECODE_ATOMIC_FILE_H_
#define EBB_BYTECODE_ATOMIC_FILE_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "bytecode/error.h"

namespace ebb::bytecode {

// Takes the next bytes of a file; the first error ends the writing.
using Sink = std::function<Status(std::span<const std::byte>)>;

// Calls `write` with a sink, once.
Status WriteFileAtomically(const std::string& path,
                           const std::function<Status(const Sink&)>& write);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_ATOMIC_FILE_H_
