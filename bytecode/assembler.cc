#include "bytecode/assembler.h"

#include "bytecode/text_parser.h"
#include "bytecode/verifier.h"

namespace ebb::bytecode {

Expected<Module> Assemble(std::string_view text,
                          const AssembleOptions& options) {
  TRY(Module module, TextParser(text).Run());
  if (options.verify) RETURN_IF_ERROR(Verify(module));
  return module;
}

}  // namespace ebb::bytecode
