// `ebb test`: see its help page in command_test.cc.
#ifndef EBB_TOOLS_COMMAND_TEST_H_
#define EBB_TOOLS_COMMAND_TEST_H_

#include <string>
#include <vector>

namespace ebb::tools {

int RunTest(const std::vector<std::string>& words);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_COMMAND_TEST_H_
