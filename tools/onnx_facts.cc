#include "tools/onnx_facts.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "bytecode/dtype.h"
#include "bytecode/mapped_file.h"
#include "bytecode/shape_rules/dtype_sets.h"
#include "compiler/onnx/import.h"
#include "compiler/onnx/reader.h"
#include "tools/module_facts.h"

namespace ebb::tools {
namespace {

using onnx::TypeProto;

std::string KindText(const TypeProto& type) {
  switch (type.kind) {
    case TypeProto::kSequence:
      return "sequence";
    case TypeProto::kOptional:
      return "optional";
    case TypeProto::kMap:
      return "map";
    case TypeProto::kNone:
      return "value without a type";
    case TypeProto::kTensor:
    case TypeProto::kOther:
      break;
  }
  return "value of an unknown kind";
}

std::string TypeText(const TypeProto& type) {
  if (type.kind != TypeProto::kTensor) return KindText(type);
  const bool known = type.elem_type > 0 && type.elem_type < 256 &&
                     IsValidDType(static_cast<uint8_t>(type.elem_type));
  std::string text =
      known ? std::string(DTypeName(static_cast<DType>(type.elem_type)))
            : "element type " + std::to_string(type.elem_type);
  if (!type.has_shape) return text + "[*]";
  text += "[";
  for (std::size_t i = 0; i < type.dims.size(); ++i) {
    const onnx::DimProto& dim = type.dims[i];
    text += i == 0 ? "" : ", ";
    if (dim.has_value) {
      text += std::to_string(dim.value);
    } else {
      text += dim.param.empty() ? "?" : std::string(dim.param);
    }
  }
  return text + "]";
}

OnnxFacts::Value ValueOf(const onnx::ValueInfo& info) {
  // A graph's outputs may be left without a type: inference finds it.
  OnnxFacts::Value value{.name = std::string(info.name),
                         .type = TypeText(info.type),
                         .is_tensor = info.type.kind == TypeProto::kTensor ||
                                      info.type.kind == TypeProto::kNone,
                         .element_type = info.type.elem_type,
                         .has_shape = info.type.has_shape,
                         .dims = {}};
  for (const onnx::DimProto& dim : info.type.dims) {
    value.dims.push_back(dim.has_value ? dim.value : -1);
  }
  return value;
}

void NoteElementType(int64_t type, OnnxFacts& facts) {
  if (type <= 0) return;
  const bool known = type < 256 && IsValidDType(static_cast<uint8_t>(type));
  if (known && Contains(kPlainTypes, static_cast<DType>(type))) return;
  const std::string name =
      known ? std::string(DTypeName(static_cast<DType>(type)))
            : "number " + std::to_string(type);
  if (std::ranges::find(facts.unusual_element_types, name) ==
      facts.unusual_element_types.end()) {
    facts.unusual_element_types.push_back(name);
  }
}

// Counts nodes and initializers, subgraphs included.
void CountNodes(const onnx::Graph& top, OnnxFacts& facts) {
  std::map<std::string, uint64_t> operators;
  std::vector<const onnx::Graph*> pending = {&top};
  while (!pending.empty()) {
    const onnx::Graph& graph = *pending.back();
    pending.pop_back();
    facts.initializer_count += graph.initializers.size();
    facts.node_count += graph.nodes.size();
    for (const onnx::Tensor& tensor : graph.initializers) {
      NoteElementType(tensor.data_type, facts);
    }
    for (const onnx::Node& node : graph.nodes) {
      std::string name(node.op_type);
      if (!node.domain.empty() && node.domain != "ai.onnx") {
        name = std::string(node.domain) + "." + name;
      }
      ++operators[name];
      for (const onnx::Attribute& attribute : node.attributes) {
        NoteElementType(attribute.t.data_type, facts);
        if (node.op_type == "Cast" && attribute.name == "to") {
          NoteElementType(attribute.i, facts);
        }
        if (attribute.g != nullptr) pending.push_back(attribute.g.get());
      }
    }
  }
  facts.operators.assign(operators.begin(), operators.end());
  SortByCount(facts.operators);
}

void AddUnsupportedValues(const std::vector<OnnxFacts::Value>& values,
                          const std::string& what, OnnxFacts& facts) {
  for (const OnnxFacts::Value& value : values) {
    if (value.is_tensor) continue;
    facts.unsupported.push_back({value.type + " " + what, {value.name}});
  }
}

}  // namespace

OnnxFacts FactsOfOnnx(const onnx::Model& model) {
  OnnxFacts facts;
  facts.producer = model.producer_name;
  if (!model.producer_version.empty()) {
    facts.producer += " " + std::string(model.producer_version);
  }
  facts.ir_version = model.ir_version;
  for (const onnx::OpsetId& opset : model.opsets) {
    facts.opsets.emplace_back(
        opset.domain.empty() ? "ai.onnx" : std::string(opset.domain),
        opset.version);
  }
  std::unordered_set<std::string_view> initialized;
  for (const onnx::Tensor& tensor : model.graph.initializers) {
    initialized.insert(tensor.name);
  }
  for (const onnx::ValueInfo& input : model.graph.inputs) {
    if (initialized.contains(input.name)) continue;
    facts.inputs.push_back(ValueOf(input));
  }
  for (const onnx::ValueInfo& output : model.graph.outputs) {
    facts.outputs.push_back(ValueOf(output));
  }
  CountNodes(model.graph, facts);
  for (const auto* values : {&facts.inputs, &facts.outputs}) {
    for (const OnnxFacts::Value& value : *values) {
      NoteElementType(value.element_type, facts);
    }
  }
  for (auto& found : onnx::FindUnsupported(model)) {
    facts.unsupported.push_back({found.name, std::move(found.nodes)});
  }
  AddUnsupportedValues(facts.inputs, "input", facts);
  AddUnsupportedValues(facts.outputs, "output", facts);
  return facts;
}

Expected<OnnxFacts> ReadOnnxFacts(const std::string& path) {
  TRY(const MappedFile file, MappedFile::Open(path));
  TRY(const onnx::Model model, onnx::ReadModel(file.bytes()));
  return FactsOfOnnx(model);
}

}  // namespace ebb::tools
