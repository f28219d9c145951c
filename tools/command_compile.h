// `ebb compile`: see its help page in command_compile.cc.
#ifndef EBB_TOOLS_COMMAND_COMPILE_H_
#define EBB_TOOLS_COMMAND_COMPILE_H_

#include <string>
#include <vector>

namespace ebb::tools {

int RunCompile(const std::vector<std::string>& words);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_COMMAND_COMPILE_H_
