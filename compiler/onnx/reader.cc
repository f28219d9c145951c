#include "compiler/onnx/reader.h"

#include <exception>
#include <protozero/pbf_reader.hpp>
#include <stdexcept>
#include <string>

#include "compiler/ir/ir.h"

namespace ebb::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// protozero takes it for granted that a field is encoded as its caller says.
void ExpectEncoding(const pbf_reader& in, pbf_wire_type wanted) {
  if (in.wire_type() == wanted) return;
  throw std::invalid_argument(
      "field " + std::to_string(in.tag()) + " has wire type " +
      std::to_string(static_cast<uint32_t>(in.wire_type())) + ", not " +
      std::to_string(static_cast<uint32_t>(wanted)));
}

std::string_view View(pbf_reader& in) {
  ExpectEncoding(in, pbf_wire_type::length_delimited);
  const protozero::data_view view = in.get_view();
  return {view.data(), view.size()};
}

int64_t Int64(pbf_reader& in) {
  ExpectEncoding(in, pbf_wire_type::varint);
  return in.get_int64();
}

int32_t Int32(pbf_reader& in) {
  ExpectEncoding(in, pbf_wire_type::varint);
  return in.get_int32();
}

float Float(pbf_reader& in) {
  ExpectEncoding(in, pbf_wire_type::fixed32);
  return in.get_float();
}

pbf_reader Message(std::string_view bytes) {
  return pbf_reader(bytes.data(), bytes.size());
}

// Repeated scalars come packed or one by one; both are legal in either form.
bool IsPacked(const pbf_reader& in) {
  return in.wire_type() == pbf_wire_type::length_delimited;
}

void AppendInts(pbf_reader& in, std::vector<int64_t>& out) {
  if (!IsPacked(in)) {
    out.push_back(Int64(in));
    return;
  }
  for (const int64_t value : in.get_packed_int64()) out.push_back(value);
}

void AppendFloats(pbf_reader& in, std::vector<float>& out) {
  if (!IsPacked(in)) {
    out.push_back(Float(in));
    return;
  }
  for (const float value : in.get_packed_float()) out.push_back(value);
}

std::pair<std::string_view, std::string_view> Entry(std::string_view bytes) {
  std::pair<std::string_view, std::string_view> entry;
  pbf_reader in = Message(bytes);
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        entry.first = View(in);
        break;
      case 2:
        entry.second = View(in);
        break;
      default:
        in.skip();
    }
  }
  return entry;
}

Tensor ParseTensor(std::string_view bytes) {
  Tensor tensor;
  tensor.message = bytes;
  pbf_reader in = Message(bytes);
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        AppendInts(in, tensor.dims);
        break;
      case 2:
        tensor.data_type = Int32(in);
        break;
      case 3:
        tensor.has_segment = true;
        in.skip();
        break;
      case 8:
        tensor.name = View(in);
        break;
      case 9:
        tensor.has_raw_data = true;
        tensor.raw_data = View(in);
        break;
      case 13:
        tensor.external_data.push_back(Entry(View(in)));
        break;
      case 14:
        tensor.external = Int32(in) == 1;
        break;
      default:
        in.skip();
    }
  }
  return tensor;
}

// Recursion ends at kMaxNesting graphs, with the exception that ReadModel
// turns into an error.
Graph ParseGraph(std::string_view bytes, int depth);

Attribute ParseAttribute(std::string_view bytes, int depth) {
  Attribute attribute;
  pbf_reader in = Message(bytes);
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        attribute.name = View(in);
        break;
      case 2:
        attribute.f = Float(in);
        break;
      case 3:
        attribute.i = Int64(in);
        break;
      case 4:
        attribute.s = View(in);
        break;
      case 5:
        attribute.t = ParseTensor(View(in));
        break;
      case 6:
        attribute.g = std::make_unique<Graph>(ParseGraph(View(in), depth + 1));
        break;
      case 7:
        AppendFloats(in, attribute.floats);
        break;
      case 8:
        AppendInts(in, attribute.ints);
        break;
      case 9:
        attribute.strings.push_back(View(in));
        break;
      case 20:
        attribute.type = Int32(in);
        break;
      default:
        in.skip();
    }
  }
  // Early writers left the type out; the one field that is set tells it.
  if (attribute.type == Attribute::kUndefined) {
    if (attribute.g != nullptr) {
      attribute.type = Attribute::kGraph;
    } else if (!attribute.t.message.empty()) {
      attribute.type = Attribute::kTensor;
    } else if (!attribute.ints.empty()) {
      attribute.type = Attribute::kInts;
    } else if (!attribute.floats.empty()) {
      attribute.type = Attribute::kFloats;
    } else if (!attribute.strings.empty()) {
      attribute.type = Attribute::kStrings;
    } else if (!attribute.s.empty()) {
      attribute.type = Attribute::kString;
    } else if (attribute.f != 0) {
      attribute.type = Attribute::kFloat;
    } else {
      attribute.type = Attribute::kInt;
    }
  }
  return attribute;
}

Node ParseNode(std::string_view bytes, int depth) {
  Node node;
  pbf_reader in = Message(bytes);
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        node.inputs.push_back(View(in));
        break;
      case 2:
        node.outputs.push_back(View(in));
        break;
      case 3:
        node.name = View(in);
        break;
      case 4:
        node.op_type = View(in);
        break;
      case 5:
        node.attributes.push_back(ParseAttribute(View(in), depth));
        break;
      case 7:
        node.domain = View(in);
        break;
      default:
        in.skip();
    }
  }
  return node;
}

DimProto ParseDim(std::string_view bytes) {
  DimProto dim;
  pbf_reader in = Message(bytes);
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        dim.has_value = true;
        dim.value = Int64(in);
        break;
      case 2:
        dim.param = View(in);
        break;
      default:
        in.skip();
    }
  }
  return dim;
}

void ParseTensorType(std::string_view bytes, TypeProto& type) {
  pbf_reader in = Message(bytes);
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        type.elem_type = Int32(in);
        break;
      case 2: {
        type.has_shape = true;
        pbf_reader shape = Message(View(in));
        while (shape.next()) {
          if (shape.tag() == 1) {
            type.dims.push_back(ParseDim(View(shape)));
          } else {
            shape.skip();
          }
        }
        break;
      }
      default:
        in.skip();
    }
  }
}

TypeProto ParseType(std::string_view bytes) {
  TypeProto type;
  pbf_reader in = Message(bytes);
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        type.kind = TypeProto::kTensor;
        ParseTensorType(View(in), type);
        break;
      case 4:
        type.kind = TypeProto::kSequence;
        in.skip();
        break;
      case 5:
        type.kind = TypeProto::kMap;
        in.skip();
        break;
      case 9:
        type.kind = TypeProto::kOptional;
        in.skip();
        break;
      case 6:  // denotation
        in.skip();
        break;
      default:
        type.kind = TypeProto::kOther;
        in.skip();
    }
  }
  return type;
}

ValueInfo ParseValueInfo(std::string_view bytes) {
  ValueInfo info;
  pbf_reader in = Message(bytes);
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        info.name = View(in);
        break;
      case 2:
        info.type = ParseType(View(in));
        break;
      default:
        in.skip();
    }
  }
  return info;
}

Graph ParseGraph(std::string_view bytes, int depth) {
  if (depth > ir::kMaxNesting) {
    throw std::length_error("graphs are nested deeper than " +
                            std::to_string(ir::kMaxNesting));
  }
  Graph graph;
  pbf_reader in = Message(bytes);
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        graph.nodes.push_back(ParseNode(View(in), depth));
        break;
      case 2:
        graph.name = View(in);
        break;
      case 5:
        graph.initializers.push_back(ParseTensor(View(in)));
        break;
      case 11:
        graph.inputs.push_back(ParseValueInfo(View(in)));
        break;
      case 12:
        graph.outputs.push_back(ParseValueInfo(View(in)));
        break;
      case 15:
        graph.has_sparse_initializers = true;
        in.skip();
        break;
      default:
        in.skip();
    }
  }
  return graph;
}

OpsetId ParseOpset(std::string_view bytes) {
  OpsetId opset;
  pbf_reader in = Message(bytes);
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        opset.domain = View(in);
        break;
      case 2:
        opset.version = Int64(in);
        break;
      default:
        in.skip();
    }
  }
  return opset;
}

std::string_view FunctionName(std::string_view bytes) {
  std::string_view name;
  pbf_reader in = Message(bytes);
  while (in.next()) {
    if (in.tag() == 1) {
      name = View(in);
    } else {
      in.skip();
    }
  }
  return name;
}

Model ParseModel(std::string_view bytes) {
  Model model;
  bool has_graph = false;
  pbf_reader in = Message(bytes);
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        model.ir_version = Int64(in);
        break;
      case 2:
        model.producer_name = View(in);
        break;
      case 3:
        model.producer_version = View(in);
        break;
      case 7:
        model.graph = ParseGraph(View(in), 1);
        has_graph = true;
        break;
      case 8:
        model.opsets.push_back(ParseOpset(View(in)));
        break;
      case 25:
        model.functions.push_back(FunctionName(View(in)));
        break;
      default:
        in.skip();
    }
  }
  if (!has_graph) throw std::length_error("the model has no graph");
  return model;
}

// protozero reports a damaged encoding by exceptions; they end here.
template <class Parse>
auto Guarded(std::span<const std::byte> bytes, const char* what, Parse parse)
    -> Expected<decltype(parse(std::string_view()))> {
  const std::string_view view(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  try {
    return parse(view);
  } catch (const std::length_error& error) {
    return Fail(ErrorCode::kInvalidModel, error.what());
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kInvalidModel,
                std::string("not ") + what + ": " + error.what());
  }
}

}  // namespace

Expected<Model> ReadModel(std::span<const std::byte> bytes) {
  return Guarded(bytes, "an ONNX model", ParseModel);
}

Expected<Tensor> ReadTensor(std::span<const std::byte> bytes) {
  return Guarded(bytes, "an ONNX tensor", ParseTensor);
}

}  // namespace ebb::onnx
