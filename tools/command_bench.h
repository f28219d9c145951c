// `ebb bench`: see its help page in command_bench.cc.
#ifndef EBB_TOOLS_COMMAND_BENCH_H_
#define EBB_TOOLS_COMMAND_BENCH_H_

#include <string>
#include <vector>

namespace ebb::tools {

int RunBench(const std::vector<std::string>& words);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_COMMAND_BENCH_H_
