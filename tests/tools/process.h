// Runs the built `ebb` as a user would, in a folder of the test's own.
//
//   const ProcessResult result = CallEbb({"inspect", "model.ir"});
//   EXPECT_EQ(result.exit_code, 0) << result.errors;
#ifndef EBB_TESTS_TOOLS_PROCESS_H_
#define EBB_TESTS_TOOLS_PROCESS_H_

#include <string>
#include <string_view>
#include <vector>

namespace ebb::tools {

struct ProcessResult {
  int exit_code = -1;  // Negative: the signal that ended it.
  std::string output;
  std::string errors;
};

// `words[0]` is looked up in PATH. `input` becomes its standard input.
ProcessResult RunProcess(const std::vector<std::string>& words,
                         std::string_view input = {});
ProcessResult CallEbb(const std::vector<std::string>& words,
                      std::string_view input = {});

// A folder that goes away with the object.
class TestFolderOnDisk {
 public:
  TestFolderOnDisk();
  ~TestFolderOnDisk();
  TestFolderOnDisk(const TestFolderOnDisk&) = delete;
  TestFolderOnDisk& operator=(const TestFolderOnDisk&) = delete;

  const std::string& path() const { return path_; }
  // The path of a file in it; its folders are made.
  std::string File(const std::string& name) const;
  std::string Write(const std::string& name, std::string_view content) const;
  std::string Read(const std::string& name) const;

 private:
  std::string path_;
};

// ONNX's node cases: Debian's libonnx-testdata; "" when it is not installed.
std::string NodeCases();

}  // namespace ebb::tools

#endif  // EBB_TESTS_TOOLS_PROCESS_H_
