// A test case as it lies on the disk, in the layout of ONNX's backend tests:
//
//   FOLDER/model.onnx  or model.ebb, where there is no model.onnx
//   FOLDER/test_data_set_<k>/input_<i>.pb, output_<i>.pb
//   FOLDER/expect.txt  first line "must be rejected…" or "the run must be
//                      rejected…", where that is what should happen
#ifndef EBB_TOOLS_TEST_FOLDER_H_
#define EBB_TOOLS_TEST_FOLDER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/error.h"

namespace ebb::tools {

enum class Expectation : uint8_t {
  kPass,         // Runs, with the outputs that are given.
  kRejected,     // Loading, compiling or running fails.
  kRunRejected,  // Each set without outputs fails when it is run.
};

// Files in the order of their numbers, which may have gaps.
struct DataSet {
  std::string name;  // "test_data_set_0"
  std::vector<std::pair<std::size_t, std::string>> inputs;
  std::vector<std::pair<std::size_t, std::string>> outputs;
};

struct TestFolder {
  std::string path;
  std::string name;   // The last part of the path.
  std::string model;  // The model's path; "" when there is none.
  Expectation expectation = Expectation::kPass;
  std::vector<DataSet> sets;  // In the order of their numbers.
};

Expected<TestFolder> ReadTestFolder(const std::string& path);

// The cases of a folder given: itself when it holds a model, else those of
// its direct children that do, by name; else itself, without a model.
Expected<std::vector<std::string>> FindTestFolders(const std::string& path);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_TEST_FOLDER_H_
