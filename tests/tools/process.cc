#include "tests/tools/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace ebb::tools {
namespace {

namespace fs = std::filesystem;

std::string ReadWhole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

// Files in place of pipes: nothing can fill up and block.
ProcessResult RunProcess(const std::vector<std::string>& words,
                         std::string_view input) {
  const TestFolderOnDisk folder;
  const std::string in = folder.Write("in", input);
  const std::string out = folder.File("out");
  const std::string errors = folder.File("errors");
  const pid_t pid = fork();
  if (pid == 0) {
    const int files[] = {open(in.c_str(), O_RDONLY),
                         open(out.c_str(), O_WRONLY | O_CREAT, 0600),
                         open(errors.c_str(), O_WRONLY | O_CREAT, 0600)};
    for (int i = 0; i < 3; ++i) dup2(files[i], i);
    std::vector<char*> arguments;
    for (const std::string& word : words) {
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return {
      .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
      .output = ReadWhole(out),
      .errors = ReadWhole(errors)};
}

ProcessResult CallEbb(const std::vector<std::string>& words,
                      std::string_view input) {
  std::vector<std::string> all = {EBB_BINARY_DIR "/bin/ebb"};
  all.insert(all.end(), words.begin(), words.end());
  return RunProcess(all, input);
}

TestFolderOnDisk::TestFolderOnDisk() {
  std::string pattern =
      (fs::temp_directory_path() / "ebb-tools-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) std::abort();
  path_ = pattern;
}

TestFolderOnDisk::~TestFolderOnDisk() {
  std::error_code error;
  fs::remove_all(path_, error);
}

std::string TestFolderOnDisk::File(const std::string& name) const {
  const fs::path path = fs::path(path_) / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  return path.string();
}

std::string TestFolderOnDisk::Write(const std::string& name,
                                    std::string_view content) const {
  const std::string path = File(name);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string TestFolderOnDisk::Read(const std::string& name) const {
  return ReadWhole(fs::path(path_) / name);
}

std::string NodeCases() {
  const std::string path = "/usr/share/libonnx-testdata/data/node";
  return fs::is_directory(path) ? path : std::string();
}

}  // namespace ebb::tools
