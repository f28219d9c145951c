// What `ebb run` does with outputs: names them, writes them to `.npy` files,
// or sums them up for people and as JSON. Tensors within sequences, optionals
// and tuples count as outputs "name.0", "name.1", … of their own.
#ifndef EBB_TOOLS_OUTPUT_WRITER_H_
#define EBB_TOOLS_OUTPUT_WRITER_H_

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "bytecode/error.h"
#include "vm/session.h"
#include "vm/tensor_view.h"

namespace ebb::tools {

// Borrowed from the session: valid until its next run.
struct NamedView {
  std::string name;
  vm::TensorView view;
};

// The tensors of the last run's outputs, in order.
Expected<std::vector<NamedView>> OutputTensors(const vm::Session& session);

// Writes each to FOLDER/NAME.npy, the folder made where it is not there.
// Characters that file names should not have become '_'. Returns the paths.
Expected<std::vector<std::string>> WriteOutputs(
    const std::vector<NamedView>& outputs, const std::string& folder);

// Lines "name  f32[2,3]  min …".
std::string OutputsText(const std::vector<NamedView>& outputs);

// [{"name", "dtype", "shape", "min", "mean", "max", "nan_count", "first"}]
boost::json::array OutputsJson(const std::vector<NamedView>& outputs);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_OUTPUT_WRITER_H_
