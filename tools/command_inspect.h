// `ebb inspect`: see its help page in command_inspect.cc.
#ifndef EBB_TOOLS_COMMAND_INSPECT_H_
#define EBB_TOOLS_COMMAND_INSPECT_H_

#include <string>
#include <vector>

namespace ebb::tools {

int RunInspect(const std::vector<std::string>& words);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_COMMAND_INSPECT_H_
