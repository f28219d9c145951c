// Writes ONNX models for tests: a graph put together in C++ becomes the bytes
// of a model. Nothing is checked, so broken models are as easy as good ones.
//
//   GraphProto graph;
//   graph.Input("x", kFloat, {"n", 4}).Output("y");
//   graph.Add(NodeProto("Softmax", {"x"}, {"y"}).Int("axis", 1));
//   std::string bytes = ModelProto(graph).Opset("", 13).Bytes();
//
// Everything is a value that holds its encoded bytes.
#ifndef EBB_TESTS_COMPILER_ONNX_MODEL_BUILDER_H_
#define EBB_TESTS_COMPILER_ONNX_MODEL_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ebb::onnx {

// TensorProto.DataType.
inline constexpr int32_t kFloat = 1;
inline constexpr int32_t kUint8 = 2;
inline constexpr int32_t kInt32 = 6;
inline constexpr int32_t kInt64 = 7;
inline constexpr int32_t kBool = 9;
inline constexpr int32_t kFloat16 = 10;

// TensorProto.
class TensorProto {
 public:
  TensorProto(std::string_view name, int32_t data_type,
              const std::vector<int64_t>& dims) {
    protozero::pbf_writer out(bytes_);
    for (const int64_t dim : dims) out.add_int64(1, dim);
    out.add_int32(2, data_type);
    out.add_string(8, name.data(), name.size());
  }
  template <class T>
  static TensorProto Of(std::string_view name, int32_t data_type,
                        const std::vector<int64_t>& dims,
                        const std::vector<T>& values) {
    std::string raw(values.size() * sizeof(T), '\0');
    if (!values.empty()) std::memcpy(raw.data(), values.data(), raw.size());
    return TensorProto(name, data_type, dims).Raw(raw);
  }
  static TensorProto Floats(std::string_view name,
                            const std::vector<int64_t>& dims,
                            const std::vector<float>& values) {
    return Of(name, kFloat, dims, values);
  }
  static TensorProto Ints(std::string_view name,
                          const std::vector<int64_t>& values) {
    return Of(name, kInt64, {static_cast<int64_t>(values.size())}, values);
  }

  TensorProto& Raw(std::string_view raw) { return Bytes(9, raw); }
  // A typed field, packed: 4 floats, 5 int32, 7 int64, 10 doubles, 11 uint64.
  TensorProto& FloatData(const std::vector<float>& values) {
    protozero::pbf_writer(bytes_).add_packed_float(4, values.begin(),
                                                   values.end());
    return *this;
  }
  TensorProto& Int32Data(const std::vector<int32_t>& values) {
    protozero::pbf_writer(bytes_).add_packed_int32(5, values.begin(),
                                                   values.end());
    return *this;
  }
  TensorProto& Int64Data(const std::vector<int64_t>& values) {
    protozero::pbf_writer(bytes_).add_packed_int64(7, values.begin(),
                                                   values.end());
    return *this;
  }
  TensorProto& External(std::string_view key, std::string_view value) {
    std::string entry;
    protozero::pbf_writer out(entry);
    out.add_string(1, key.data(), key.size());
    out.add_string(2, value.data(), value.size());
    if (key == "location") protozero::pbf_writer(bytes_).add_int32(14, 1);
    return Bytes(13, entry);
  }
  // Any field, with any content.
  TensorProto& Bytes(uint32_t field, std::string_view content) {
    protozero::pbf_writer(bytes_).add_bytes(field, content.data(),
                                            content.size());
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class NodeProto;

// GraphProto.
class GraphProto {
 public:
  // A size, or the name of a dim; "" is a dim of which nothing is said.
  using Dim = std::variant<int64_t, std::string>;

  GraphProto& Input(std::string_view name, int32_t data_type,
                    const std::vector<Dim>& dims) {
    return Message(11, Info(name, data_type, &dims));
  }
  GraphProto& UnrankedInput(std::string_view name, int32_t data_type) {
    return Message(11, Info(name, data_type, nullptr));
  }
  GraphProto& Output(std::string_view name) {
    return Message(12, Info(name, kFloat, nullptr));
  }
  GraphProto& Initializer(const TensorProto& tensor) {
    return Message(5, tensor.bytes());
  }
  GraphProto& Add(const NodeProto& node);
  GraphProto& Message(uint32_t field, std::string_view content) {
    protozero::pbf_writer(bytes_).add_message(field, content.data(),
                                              content.size());
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  static std::string Info(std::string_view name, int32_t data_type,
                          const std::vector<Dim>* dims) {
    std::string shape;
    for (std::size_t i = 0; dims != nullptr && i < dims->size(); ++i) {
      std::string dim;
      protozero::pbf_writer out(dim);
      if (const auto* size = std::get_if<int64_t>(&(*dims)[i])) {
        out.add_int64(1, *size);
      } else if (!std::get<std::string>((*dims)[i]).empty()) {
        out.add_string(2, std::get<std::string>((*dims)[i]));
      }
      protozero::pbf_writer(shape).add_message(1, dim);
    }
    std::string tensor;
    protozero::pbf_writer(tensor).add_int32(1, data_type);
    if (dims != nullptr) protozero::pbf_writer(tensor).add_message(2, shape);
    std::string type;
    protozero::pbf_writer(type).add_message(1, tensor);
    std::string info;
    protozero::pbf_writer out(info);
    out.add_string(1, name.data(), name.size());
    out.add_message(2, type);
    return info;
  }

  std::string bytes_;
};

// NodeProto.
class NodeProto {
 public:
  NodeProto(std::string_view op_type, const std::vector<std::string>& inputs,
            const std::vector<std::string>& outputs) {
    protozero::pbf_writer out(bytes_);
    for (const std::string& input : inputs) out.add_string(1, input);
    for (const std::string& output : outputs) out.add_string(2, output);
    out.add_string(4, op_type.data(), op_type.size());
  }
  NodeProto& Name(std::string_view name) { return Text(3, name); }
  NodeProto& Domain(std::string_view domain) { return Text(7, domain); }

  NodeProto& Int(std::string_view name, int64_t value) {
    std::string a = Start(name, 2);
    protozero::pbf_writer(a).add_int64(3, value);
    return Attribute(a);
  }
  NodeProto& Float(std::string_view name, float value) {
    std::string a = Start(name, 1);
    protozero::pbf_writer(a).add_float(2, value);
    return Attribute(a);
  }
  NodeProto& String(std::string_view name, std::string_view value) {
    std::string a = Start(name, 3);
    protozero::pbf_writer(a).add_bytes(4, value.data(), value.size());
    return Attribute(a);
  }
  NodeProto& Ints(std::string_view name, const std::vector<int64_t>& values) {
    std::string a = Start(name, 7);
    for (const int64_t v : values) protozero::pbf_writer(a).add_int64(8, v);
    return Attribute(a);
  }
  NodeProto& Floats(std::string_view name, const std::vector<float>& values) {
    std::string a = Start(name, 6);
    protozero::pbf_writer(a).add_packed_float(7, values.begin(), values.end());
    return Attribute(a);
  }
  NodeProto& Tensor(std::string_view name, const TensorProto& tensor) {
    std::string a = Start(name, 4);
    protozero::pbf_writer(a).add_message(5, tensor.bytes());
    return Attribute(a);
  }
  NodeProto& Graph(std::string_view name, const GraphProto& graph) {
    std::string a = Start(name, 5);
    protozero::pbf_writer(a).add_message(6, graph.bytes());
    return Attribute(a);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  static std::string Start(std::string_view name, int32_t type) {
    std::string a;
    protozero::pbf_writer out(a);
    out.add_string(1, name.data(), name.size());
    out.add_int32(20, type);
    return a;
  }
  NodeProto& Attribute(const std::string& a) {
    protozero::pbf_writer(bytes_).add_message(5, a);
    return *this;
  }
  NodeProto& Text(uint32_t field, std::string_view text) {
    protozero::pbf_writer(bytes_).add_string(field, text.data(), text.size());
    return *this;
  }

  std::string bytes_;
};

inline GraphProto& GraphProto::Add(const NodeProto& node) {
  return Message(1, node.bytes());
}

// ModelProto; without a call of Opset it imports none.
class ModelProto {
 public:
  explicit ModelProto(const GraphProto& graph, int64_t ir_version = 8) {
    protozero::pbf_writer out(bytes_);
    out.add_int64(1, ir_version);
    out.add_string(2, "test");
    out.add_message(7, graph.bytes());
  }
  ModelProto& Opset(std::string_view domain, int64_t version) {
    std::string opset;
    protozero::pbf_writer out(opset);
    out.add_string(1, domain.data(), domain.size());
    out.add_int64(2, version);
    protozero::pbf_writer(bytes_).add_message(8, opset);
    return *this;
  }
  const std::string& Bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

inline std::string ModelOf(const GraphProto& graph, int64_t opset = 17) {
  return ModelProto(graph).Opset("", opset).Bytes();
}

inline std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace ebb::onnx

#endif  // EBB_TESTS_COMPILER_ONNX_MODEL_BUILDER_H_
