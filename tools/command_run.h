// `ebb run`: see its help page in command_run.cc.
#ifndef EBB_TOOLS_COMMAND_RUN_H_
#define EBB_TOOLS_COMMAND_RUN_H_

#include <string>
#include <vector>

namespace ebb::tools {

int RunRun(const std::vector<std::string>& words);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_COMMAND_RUN_H_
