// What an ONNX file says of itself, without compiling it: for `ebb inspect`,
// and for `ebb test` to tell what may be skipped.
#ifndef EBB_TOOLS_ONNX_FACTS_H_
#define EBB_TOOLS_ONNX_FACTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/error.h"
#include "compiler/onnx/proto.h"

namespace ebb::tools {

struct OnnxFacts {
  struct Value {
    std::string name;
    std::string type;  // "f32[batch, 3]", "sequence", "optional", "map"
    bool is_tensor = true;
    int32_t element_type = 0;  // TensorProto.DataType; 0: not declared
    bool has_shape = false;
    std::vector<int64_t> dims;  // -1: not fixed
  };
  struct Unsupported {
    std::string what;  // "NonZero", "com.microsoft.Gelu", "sequence input"
    std::vector<std::string> nodes;
  };

  std::string producer;
  int64_t ir_version = 0;
  std::vector<std::pair<std::string, int64_t>> opsets;
  std::vector<Value> inputs;  // Those that have no initializer.
  std::vector<Value> outputs;
  uint64_t node_count = 0;  // Subgraphs included.
  uint64_t initializer_count = 0;
  std::vector<std::pair<std::string, uint64_t>> operators;  // By count.
  // Element types beyond the plain ones (floats of 16 to 64 bits, integers of 8
  // to 64, bool) of inputs, outputs, constants and casts. Some operators take
  // them.
  std::vector<std::string> unusual_element_types;
  // Operators that are not built in, then inputs and outputs of a kind that
  // is not.
  std::vector<Unsupported> unsupported;
};

OnnxFacts FactsOfOnnx(const onnx::Model& model);
Expected<OnnxFacts> ReadOnnxFacts(const std::string& path);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_ONNX_FACTS_H_
