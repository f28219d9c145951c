#include "tools/forked_jobs.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <utility>
#include <vector>

#include "tools/quantities.h"

namespace ebb::tools {
namespace {

using Clock = std::chrono::steady_clock;

struct Child {
  std::size_t index = 0;
  pid_t pid = -1;
  int pipe = -1;
  Clock::time_point deadline;
  std::string text;
  bool timed_out = false;
};

void WriteAll(int file, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(file, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    done += static_cast<std::size_t>(n);
  }
}

class ForkedRunner {
 public:
  ForkedRunner(const ForkOptions& options,
               const std::function<std::string(std::size_t)>& job,
               const std::function<void(std::size_t, const JobResult&)>& done)
      : options_(options), job_(job), done_(done) {}

  void Run();

 private:
  void Start(std::size_t index);
  void Wait();
  void Read(Child& child);
  void End(Child& child);
  void Deliver(std::size_t index, JobResult result);

  const ForkOptions& options_;
  const std::function<std::string(std::size_t)>& job_;
  const std::function<void(std::size_t, const JobResult&)>& done_;
  std::vector<Child> children_;
  // Results that came before those of earlier jobs.
  std::map<std::size_t, JobResult> waiting_;
  std::size_t next_to_deliver_ = 0;
};

void ForkedRunner::Start(std::size_t index) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    Deliver(index, {{}, std::string("no pipe: ") + std::strerror(errno)});
    return;
  }
  // What is buffered would be written by both processes.
  std::cout.flush();
  std::cerr.flush();
  const pid_t pid = fork();
  if (pid < 0) {
    const int reason = errno;
    close(ends[0]);
    close(ends[1]);
    Deliver(index, {{}, std::string("no process: ") + std::strerror(reason)});
    return;
  }
  if (pid == 0) {
    // A crash is a result here; nobody wants its core.
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    WriteAll(ends[1], job_(index));
    // With all that a process does when it ends: leak checkers work then.
    std::exit(0);
  }
  close(ends[1]);
  Child child;
  child.index = index;
  child.pid = pid;
  child.pipe = ends[0];
  child.deadline =
      options_.timeout_seconds > 0
          ? Clock::now() +
                std::chrono::duration_cast<Clock::duration>(
                    std::chrono::duration<double>(options_.timeout_seconds))
          : Clock::time_point::max();
  children_.push_back(std::move(child));
}

void ForkedRunner::Read(Child& child) {
  std::array<char, 4096> buffer{};
  const ssize_t n = read(child.pipe, buffer.data(), buffer.size());
  if (n < 0 && errno == EINTR) return;
  if (n > 0) {
    child.text.append(buffer.data(), static_cast<std::size_t>(n));
    return;
  }
  close(child.pipe);
  child.pipe = -1;
}

void ForkedRunner::End(Child& child) {
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  JobResult result;
  result.text = std::move(child.text);
  if (child.timed_out) {
    result.crash =
        "timed out after " + NumberText(options_.timeout_seconds) + " s";
  } else if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    result.crash = "crashed: signal " + std::to_string(number) + " (" +
                   strsignal(number) + ")";
  } else if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    result.crash =
        "ended with exit code " + std::to_string(WEXITSTATUS(status));
  }
  Deliver(child.index, std::move(result));
}

void ForkedRunner::Wait() {
  std::vector<pollfd> files;
  Clock::time_point first = Clock::time_point::max();
  for (const Child& child : children_) {
    files.push_back({child.pipe, POLLIN, 0});
    first = std::min(first, child.deadline);
  }
  int milliseconds = -1;
  if (first != Clock::time_point::max()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        first - Clock::now());
    milliseconds =
        static_cast<int>(std::clamp<int64_t>(left.count() + 1, 0, 3'600'000));
  }
  if (poll(files.data(), files.size(), milliseconds) < 0) return;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    Child& child = children_[i];
    if (files[i].revents != 0) Read(child);
    if (child.pipe >= 0 && !child.timed_out && Clock::now() >= child.deadline) {
      child.timed_out = true;
      // The pipe ends with the process, and so does the loop's interest.
      child.deadline = Clock::time_point::max();
      kill(child.pid, SIGKILL);
    }
  }
  // Results are delivered out of a list of their own, for `done_` may take
  // its time.
  std::vector<Child> ended;
  std::erase_if(children_, [&](Child& child) {
    if (child.pipe >= 0) return false;
    ended.push_back(std::move(child));
    return true;
  });
  for (Child& child : ended) End(child);
}

void ForkedRunner::Deliver(std::size_t index, JobResult result) {
  waiting_.emplace(index, std::move(result));
  while (!waiting_.empty() && waiting_.begin()->first == next_to_deliver_) {
    done_(next_to_deliver_, waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    ++next_to_deliver_;
  }
}

void ForkedRunner::Run() {
  std::size_t next = 0;
  while (next < options_.job_count || !children_.empty()) {
    if (next < options_.job_count &&
        children_.size() < std::max<std::size_t>(options_.parallel, 1)) {
      Start(next++);
    } else {
      Wait();
    }
  }
}

}  // namespace

void RunForked(const ForkOptions& options,
               const std::function<std::string(std::size_t)>& job,
               const std::function<void(std::size_t, const JobResult&)>& done) {
  ForkedRunner(options, job, done).Run();
}

}  // namespace ebb::tools
