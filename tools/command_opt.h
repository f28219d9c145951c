// `ebb opt`: see its help page in command_opt.cc.
#ifndef EBB_TOOLS_COMMAND_OPT_H_
#define EBB_TOOLS_COMMAND_OPT_H_

#include <string>
#include <vector>

namespace ebb::tools {

int RunOpt(const std::vector<std::string>& words);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_COMMAND_OPT_H_
