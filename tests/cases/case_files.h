// The cases under $EBB_SHARED_DIR/cases (folders in the layout of ONNX's
// backend tests, some with a README.md that states a procedure): finding,
// reading, compiling, feeding and comparing.
#ifndef EBB_TESTS_CASES_CASE_FILES_H_
#define EBB_TESTS_CASES_CASE_FILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/dtype.h"
#include "bytecode/error.h"
#include "compiler/compile.h"
#include "vm/program.h"
#include "vm/session.h"

namespace ebb::cases {

struct NamedTensor {
  std::string name;
  DType dtype = DType::kInvalid;
  std::vector<int64_t> dims;
  std::vector<std::byte> bytes;

  vm::TensorView View();
};

struct DataSet {
  std::vector<NamedTensor> inputs;
  std::vector<NamedTensor> outputs;
};

// "" when there is none.
std::string FolderOf(const std::string& name);
// A TensorProto of a file.
Expected<NamedTensor> ReadTensorFile(const std::string& path);
// The set `number`; empty when there is no such folder.
Expected<DataSet> ReadDataSet(const std::string& name, int number);
// Compiled from its file, ready to run.
Expected<vm::ProgramRef> Compile(const std::string& name,
                                 compiler::CompileOptions options = {});

// Sets the inputs of a set by their names.
Status Feed(vm::Session& session, std::vector<NamedTensor>& inputs);
// "" when the output is the expected tensor, floats within 1e-4 relative and
// 1e-5 absolute; else what differs.
std::string Difference(const vm::TensorView& got, const NamedTensor& expected);
// The same for all outputs of the last run, by name.
std::string Difference(const vm::Session& session, const DataSet& set);
// Feeds, runs and compares; an error's text is a difference too.
std::string RunAndCompare(vm::Session& session, DataSet& set);

}  // namespace ebb::cases

#endif  // EBB_TESTS_CASES_CASE_FILES_H_
