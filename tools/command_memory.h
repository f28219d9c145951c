// `ebb memory`: see its help page in command_memory.cc.
#ifndef EBB_TOOLS_COMMAND_MEMORY_H_
#define EBB_TOOLS_COMMAND_MEMORY_H_

#include <string>
#include <vector>

namespace ebb::tools {

int RunMemory(const std::vector<std::string>& words);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_COMMAND_MEMORY_H_
