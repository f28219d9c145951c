// `ebb test`: see its help page in command_test_folders.cc. (The build takes
// files that end in _test.cc for tests.)
#ifndef EBB_TOOLS_COMMAND_TEST_FOLDERS_H_
#define EBB_TOOLS_COMMAND_TEST_FOLDERS_H_

#include <string>
#include <vector>

namespace ebb::tools {

int RunTest(const std::vector<std::string>& words);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_COMMAND_TEST_FOLDERS_H_
