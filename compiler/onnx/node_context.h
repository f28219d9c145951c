// One node while it is imported: its inputs as values, its attributes with
// their kinds checked, and the instructions that it becomes. After the
// importer, `Finish` names attributes that nobody asked for: a misspelt or
// newer attribute must not be passed over.
#ifndef EBB_COMPILER_ONNX_NODE_CONTEXT_H_
#define EBB_COMPILER_ONNX_NODE_CONTEXT_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/error.h"
#include "compiler/onnx/graph_builder.h"
#include "compiler/onnx/proto.h"

namespace ebb::onnx {

class NodeContext {
 public:
  NodeContext(const Node& node, int64_t opset, std::vector<ir::ValueId> inputs,
              GraphBuilder& builder)
      : node_(node),
        opset_(opset),
        inputs_(std::move(inputs)),
        outputs_(node.outputs.size()),
        builder_(builder) {}

  const Node& node() const { return node_; }
  int64_t opset() const { return opset_; }
  GraphBuilder& builder() { return builder_; }

  std::size_t input_count() const { return inputs_.size(); }
  bool Has(std::size_t i) const {
    return i < inputs_.size() && inputs_[i].valid();
  }
  // none when absent.
  ir::ValueId Input(std::size_t i) const {
    return i < inputs_.size() ? inputs_[i] : ir::ValueId();
  }
  const ir::Type& TypeOf(std::size_t i) { return builder_.TypeOf(Input(i)); }
  std::size_t output_count() const { return node_.outputs.size(); }
  bool Wants(std::size_t output) const {
    return output < node_.outputs.size() && !node_.outputs[output].empty();
  }

  // "needs at least 2 inputs, has 0"; required inputs may not be absent.
  Status CheckInputs(std::size_t least, std::size_t most);

  // Attributes; an error when the kind is another.
  bool HasAttribute(std::string_view name);
  Expected<int64_t> Int(std::string_view name, int64_t fallback);
  Expected<float> Float(std::string_view name, float fallback);
  Expected<std::string> String(std::string_view name,
                               std::string_view fallback);
  Expected<std::optional<std::vector<int64_t>>> Ints(std::string_view name);
  Expected<std::optional<std::vector<float>>> Floats(std::string_view name);
  const Attribute* Raw(std::string_view name);
  void Ignore(std::string_view name) { asked_.emplace(name); }

  // Adds an operator. Trailing absent inputs are dropped.
  Expected<std::vector<ir::ValueId>> Op(OperatorCode code,
                                        std::vector<ir::ValueId> inputs,
                                        Attributes attributes = {},
                                        std::size_t outputs = 1);
  // The same for one result.
  Expected<ir::ValueId> Op1(OperatorCode code, std::vector<ir::ValueId> inputs,
                            Attributes attributes = {});

  // Result i of the node: a value that this node made, or another's (then the
  // name is one more for it, at no cost).
  void SetOutput(std::size_t i, ir::ValueId value) { outputs_[i] = value; }
  const std::vector<ir::ValueId>& outputs() const { return outputs_; }

  Status Finish();

  std::unexpected<Error> Invalid(std::string message) const;
  std::unexpected<Error> Unsupported(std::string message) const;
  // "node \"x\" (Conv, opset 11)".
  std::string Where() const;

 private:
  std::unexpected<Error> WrongKind(std::string_view name) const;

  const Node& node_;
  int64_t opset_;
  std::vector<ir::ValueId> inputs_;
  std::vector<ir::ValueId> outputs_;
  GraphBuilder& builder_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace ebb::onnx

#endif  // EBB_COMPILER_ONNX_NODE_CONTEXT_H_
