// The opcode table as Markdown: the content of docs/opcodes.md, which a test
// holds to it.
#ifndef EBB_BYTECODE_OPCODE_DOCS_H_
#define EBB_BYTECODE_OPCODE_DOCS_H_

#include <string>

namespace ebb::bytecode {

std::string OpcodesMarkdown();

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_OPCODE_DOCS_H_
