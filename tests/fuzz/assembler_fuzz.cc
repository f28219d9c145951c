// Bytes as `.ebbt` text: an error, or a module whose text reads back as it is.
#include <cstdlib>
#include <string_view>

#include "bytecode/assembler.h"
#include "bytecode/disassembler.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  using namespace ebb::bytecode;
  const auto module =
      Assemble(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!module.has_value()) return 0;
  const std::string text = Disassemble(*module);
  const auto again = Assemble(text);
  if (!again.has_value() || Disassemble(*again) != text) std::abort();
  return 0;
}
