// The table of the commands of `ebb`, and what runs them. A new command is a
// row in commands.cc and a pair command_<name>.h/.cc.
#ifndef EBB_TOOLS_COMMANDS_H_
#define EBB_TOOLS_COMMANDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::tools {

struct Command {
  std::string_view name;
  std::string_view summary;
  // The words after the command's name; returns an exit code.
  int (*run)(const std::vector<std::string>& words);
};

// In the order in which `ebb --help` lists them.
std::span<const Command> Commands();

// The words after `ebb`; returns an exit code.
int RunEbb(const std::vector<std::string>& words);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_COMMANDS_H_
