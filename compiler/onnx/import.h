// Import: from an ONNX model as read to an IR module with types, symbolic
// shapes and contents inferred, all operators in the core set. Nodes may stand
// in any order; forms of all opsets are turned into the newest one's.
//
//   TRY(Model model, ReadModel(file->bytes()));
//   TRY(ir::Module module, ImportModel(model, folder, options));
//
// Initializers are borrowed from the model's bytes, which the caller keeps
// alive. An initializer that is also a graph input (IR version 4 on) becomes
// an input that may be left out.
#ifndef EBB_COMPILER_ONNX_IMPORT_H_
#define EBB_COMPILER_ONNX_IMPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bytecode/error.h"
#include "compiler/ir/ir.h"
#include "compiler/onnx/proto.h"

namespace ebb::onnx {

// What the caller says of one dim of an input: a size, a range, or nothing.
struct DimBound {
  int64_t low = 0;
  std::optional<int64_t> high;  // none: open
  bool IsFixed() const { return high.has_value() && *high == low; }
};

struct ImportOptions {
  // By input name, one entry a dim; replaces what the model declares.
  std::map<std::string, std::vector<DimBound>> shapes;
  // Keep only these outputs, in this order; empty: all.
  std::vector<std::string> outputs;
};

// `folder` is where external data lies; "" when the model is not a file.
Expected<ir::Module> ImportModel(const Model& model, const std::string& folder,
                                 const ImportOptions& options);

// An operator of the model that is not built in, with the nodes that use it.
struct UnsupportedOperator {
  std::string name;  // "NonZero", "com.microsoft.Gelu"
  std::vector<std::string> nodes;
};

// All of them, subgraphs included, in the order of their first node.
std::vector<UnsupportedOperator> FindUnsupported(const Model& model);

// The opset version that a node of `domain` is written for; 0: not imported.
int64_t OpsetOf(const Model& model, std::string_view domain);

}  // namespace ebb::onnx

#endif  // EBB_COMPILER_ONNX_IMPORT_H_
