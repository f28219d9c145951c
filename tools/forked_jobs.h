// Jobs in processes of their own, so that a crash, a hang or a leak of one is
// its own result and nobody else's.
//
//   RunForked({.job_count = 100, .parallel = 2}, run_one, print_one);
//
// The calling process must have one thread only. A job starts as a copy of it,
// runs, and ends; its text comes back through a pipe.
#ifndef EBB_TOOLS_FORKED_JOBS_H_
#define EBB_TOOLS_FORKED_JOBS_H_

#include <cstddef>
#include <functional>
#include <string>

namespace ebb::tools {

struct ForkOptions {
  std::size_t job_count = 0;
  std::size_t parallel = 1;
  double timeout_seconds = 0;  // 0: none
};

struct JobResult {
  std::string text;   // What the job returned.
  std::string crash;  // "" when it ended by itself; else how it did.
};

// `done` is called in the parent, once a job and in the order of the jobs.
void RunForked(const ForkOptions& options,
               const std::function<std::string(std::size_t)>& job,
               const std::function<void(std::size_t, const JobResult&)>& done);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_FORKED_JOBS_H_
