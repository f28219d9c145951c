// What the program tells the shell, and how an error is said.
//
//   if (!program) return SayError(command, program.error());
#ifndef EBB_TOOLS_EXIT_CODE_H_
#define EBB_TOOLS_EXIT_CODE_H_

#include <string_view>

#include "bytecode/error.h"

namespace ebb::tools {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;    // A check did not hold, a run failed.
inline constexpr int kBadUsage = 2;  // Bad usage or unreadable input.

// One line on stderr: "ebb: <where>: <what>". Control characters in it, which
// may come from a hostile file, are shown as \xHH.
void SayError(std::string_view where, std::string_view what);
// The same, with the exit code that suits the error's code. `where` is used
// when the error has none of its own, and put before it otherwise.
int SayError(std::string_view where, const Error& error);

// kBadUsage where the input is at fault or cannot be read, else kFailed.
int ExitCodeOf(const Error& error);

// `text` with control characters as \xHH.
std::string Printable(std::string_view text);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_EXIT_CODE_H_
