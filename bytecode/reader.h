// Reads a module from the bytes of a `.ebb` file, which may be damaged or
// hostile: everything is checked before it is used, in time linear in the
// bytes and with memory in proportion to them. What comes back has verified.
//
// Constants stay where they are: `Constant::data` points into `file`, which
// must outlive the module (a read-only map, usually). Where `file` is not
// 64-byte aligned in memory the constants are copied and owned by the module.
//
//   TRY(Module module, ReadModule(mapped_bytes));
#ifndef EBB_BYTECODE_READER_H_
#define EBB_BYTECODE_READER_H_

#include <cstddef>
#include <span>

#include "bytecode/error.h"
#include "bytecode/module.h"

namespace ebb::bytecode {

struct ReadOptions {
  // Off for callers that call Verify (verifier.h) themselves.
  bool verify = true;
  // Also the checksum of the constants, which reads every one of their bytes.
  bool check_constants = false;
  // Off only where damage is made on purpose, past the checksums.
  bool check_checksums = true;
};

Expected<Module> ReadModule(std::span<const std::byte> file,
                            const ReadOptions& options = {});

// The checksum of the constants alone.
Status VerifyConstants(std::span<const std::byte> file);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_READER_H_
