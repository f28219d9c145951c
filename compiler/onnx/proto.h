// An ONNX model as read: plain structs whose strings and weights are views
// into the bytes that were read, which must outlive them. Field meanings are
// those of onnx.proto (ONNX IR specification).
#ifndef EBB_COMPILER_ONNX_PROTO_H_
#define EBB_COMPILER_ONNX_PROTO_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace ebb::onnx {

// TensorProto. `message` is the whole encoded message: elements that do not
// lie in raw_data are decoded from it when they are wanted (weights.h).
struct Tensor {
  std::string_view name;
  std::vector<int64_t> dims;
  int32_t data_type = 0;
  bool has_raw_data = false;
  std::string_view raw_data;
  bool external = false;  // data_location
  std::vector<std::pair<std::string_view, std::string_view>> external_data;
  bool has_segment = false;
  std::string_view message;
};

struct Graph;

struct Attribute {
  // AttributeProto.AttributeType.
  enum Type : int32_t {
    kUndefined = 0,
    kFloat = 1,
    kInt = 2,
    kString = 3,
    kTensor = 4,
    kGraph = 5,
    kFloats = 6,
    kInts = 7,
    kStrings = 8,
    kTensors = 9,
    kGraphs = 10,
    kSparseTensor = 11,
  };
  std::string_view name;
  int32_t type = kUndefined;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  Tensor t;
  std::unique_ptr<Graph> g;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
};

struct Node {
  std::string_view name;
  std::string_view op_type;
  std::string_view domain;
  std::vector<std::string_view> inputs;   // "": absent
  std::vector<std::string_view> outputs;  // "": not wanted
  std::vector<Attribute> attributes;

  const Attribute* Find(std::string_view attribute) const {
    for (const Attribute& a : attributes) {
      if (a.name == attribute) return &a;
    }
    return nullptr;
  }
};

struct DimProto {
  bool has_value = false;
  int64_t value = 0;
  std::string_view param;  // "": unnamed
};

struct TypeProto {
  enum Kind : uint8_t { kNone, kTensor, kSequence, kOptional, kMap, kOther };
  Kind kind = kNone;
  int32_t elem_type = 0;
  bool has_shape = false;
  std::vector<DimProto> dims;
};

struct ValueInfo {
  std::string_view name;
  TypeProto type;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  bool has_sparse_initializers = false;
};

struct OpsetId {
  std::string_view domain;
  int64_t version = 0;
};

struct Model {
  int64_t ir_version = 0;
  std::string_view producer_name;
  std::string_view producer_version;
  std::vector<OpsetId> opsets;
  std::vector<std::string_view> functions;  // "domain.name" of local functions
  Graph graph;
};

}  // namespace ebb::onnx

#endif  // EBB_COMPILER_ONNX_PROTO_H_
