#include "tools/commands.h"

#include <algorithm>
#include <array>
#include <iostream>

#include "compiler/compile.h"
#include "tools/command_assemble.h"
#include "tools/command_compile.h"
#include "tools/command_inspect.h"
#include "tools/command_line.h"
#include "tools/command_opt.h"
#include "tools/command_run.h"
#include "tools/command_test_folders.h"
#include "tools/exit_code.h"
#if __has_include("tools/command_bench.h")
#include "tools/command_bench.h"
#endif
#if __has_include("tools/command_memory.h")
#include "tools/command_memory.h"
#endif

namespace ebb::tools {
namespace {

constexpr std::array kCommands = {
    Command{"compile", "compile a model to a .ebb file", RunCompile},
    Command{"run", "run a model on given or made-up inputs", RunRun},
    Command{"test", "run folders of test cases and compare", RunTest},
#if __has_include("tools/command_bench.h")
    Command{"bench", "measure time and memory of a model", RunBench},
#endif
#if __has_include("tools/command_memory.h")
    Command{"memory", "show the peak of memory and who is live there",
            RunMemory},
#endif
    Command{"inspect", "show what is in a model", RunInspect},
    Command{"opt", "run passes on IR text and print it", RunOpt},
    Command{"disassemble", "print bytecode as text", RunDisassemble},
    Command{"assemble", "make a .ebb file from its text", RunAssemble},
    Command{"verify", "hold a .ebb file to all checks", RunVerify},
};

void PrintHelp() {
  std::cout << "Usage: ebb COMMAND [arguments]\n\n"
               "Compiles ONNX models to bytecode that frees every buffer at "
               "its last use, and runs\nthem.\n\nCommands:\n";
  for (const Command& command : kCommands) {
    std::cout << "  " << command.name
              << std::string(14 - command.name.size(), ' ') << command.summary
              << "\n";
  }
  std::cout << "\n`ebb COMMAND --help` tells more of one, `ebb --version` "
               "which ebb this is.\n\nExample:\n"
               "  ebb compile model.onnx\n"
               "  ebb run model.ebb --fill random --stats\n\n"
               "Exit status: 0 done, 1 the work failed, 2 bad usage or "
               "unreadable input.\n";
}

int UnknownCommand(const std::string& word) {
  std::vector<std::string> known;
  for (const Command& command : kCommands) known.emplace_back(command.name);
  std::string what = "unknown ";
  what += (word.starts_with("-") ? "option " : "command ") + word;
  if (const auto nearest = Nearest(word, known)) {
    what += "; did you mean " + *nearest + "?";
  } else {
    what += "; `ebb --help` lists all";
  }
  SayError("command line", what);
  return kBadUsage;
}

}  // namespace

std::span<const Command> Commands() { return kCommands; }

int RunEbb(const std::vector<std::string>& words) {
  if (words.empty()) {
    SayError("command line", "no command given; `ebb --help` lists them");
    return kBadUsage;
  }
  const std::string& word = words[0];
  std::vector<std::string> rest(words.begin() + 1, words.end());
  if (word == "--version" || word == "version") {
    std::cout << compiler::Producer() << "\n";
    return kDone;
  }
  if (word == "--help" || word == "-h" || word == "help") {
    if (word != "help" || rest.empty()) {
      PrintHelp();
      return kDone;
    }
    return RunEbb({rest[0], "--help"});
  }
  const auto* command =
      std::find_if(kCommands.begin(), kCommands.end(),
                   [&](const Command& row) { return row.name == word; });
  if (command == kCommands.end()) return UnknownCommand(word);
  return command->run(rest);
}

}  // namespace ebb::tools
