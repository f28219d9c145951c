// `ebb disassemble`, `ebb assemble` and `ebb verify`: bytecode as text and
// back, and all checks on a file. Their help pages stand in
// command_assemble.cc.
#ifndef EBB_TOOLS_COMMAND_ASSEMBLE_H_
#define EBB_TOOLS_COMMAND_ASSEMBLE_H_

#include <string>
#include <vector>

namespace ebb::tools {

int RunDisassemble(const std::vector<std::string>& words);
int RunAssemble(const std::vector<std::string>& words);
int RunVerify(const std::vector<std::string>& words);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_COMMAND_ASSEMBLE_H_
