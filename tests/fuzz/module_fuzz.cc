// Bytes as a `.ebb` file, past the checksums: an error, or a module that
// verifies, is written as the same bytes again, and goes through the checker.
#include <cstdlib>
#include <span>

#include "bytecode/lifetime_checker.h"
#include "bytecode/reader.h"
#include "bytecode/writer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  using namespace ebb::bytecode;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto module = ReadModule(bytes, {.check_checksums = false});
  if (!module.has_value()) return 0;
  (void)CheckLifetimes(*module);
  const auto again = ModuleToBytes(*module);
  if (!again.has_value() || again->size() != size) std::abort();
  return 0;
}
