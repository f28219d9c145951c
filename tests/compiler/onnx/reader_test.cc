#include "compiler/onnx/reader.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "compiler/ir/ir.h"
#include "compiler/onnx/import.h"
#include "tests/compiler/onnx/model_builder.h"

namespace ebb::onnx {
namespace {

// A small model with something in every field that is read.
std::string SmallModel() {
  GraphProto then_branch;
  then_branch.Add(NodeProto("Relu", {"x"}, {"t"})).Output("t");
  GraphProto else_branch;
  else_branch.Add(NodeProto("Neg", {"x"}, {"e"})).Output("e");
  GraphProto graph;
  graph.Input("x", kFloat, {"n", 2}).Input("c", kBool, {});
  graph.Initializer(TensorProto::Floats("w", {1, 2}, {1, 2}));
  graph.Initializer(TensorProto("v", kFloat, {2}).FloatData({3, 4}));
  graph.Add(NodeProto("Add", {"x", "w"}, {"a"}).Name("first"));
  graph.Add(NodeProto("Mul", {"a", "v"}, {"b"}));
  graph.Add(NodeProto("If", {"c"}, {"r"})
                .Graph("then_branch", then_branch)
                .Graph("else_branch", else_branch));
  graph.Add(NodeProto("LeakyRelu", {"b"}, {"l"}).Float("alpha", 0.5F));
  graph.Add(NodeProto("Transpose", {"r"}, {"p"}).Ints("perm", {0, 1}));
  graph.Add(NodeProto("Add", {"l", "p"}, {"y"})).Output("y");
  return ModelOf(graph);
}

std::string ErrorOf(std::string_view bytes) {
  const auto model = ReadModel(AsBytes(bytes));
  return model.has_value() ? "" : model.error().ToString();
}

TEST(ReaderTest, ReadsEveryField) {
  const std::string bytes = SmallModel();
  const auto model = ReadModel(AsBytes(bytes));
  ASSERT_TRUE(model.has_value()) << model.error().ToString();
  EXPECT_EQ(model->ir_version, 8);
  EXPECT_EQ(model->producer_name, "test");
  ASSERT_EQ(model->opsets.size(), 1U);
  EXPECT_EQ(model->opsets[0].version, 17);
  const Graph& graph = model->graph;
  ASSERT_EQ(graph.nodes.size(), 6U);
  EXPECT_EQ(graph.nodes[0].name, "first");
  EXPECT_EQ(graph.nodes[0].op_type, "Add");
  ASSERT_EQ(graph.nodes[0].inputs.size(), 2U);
  EXPECT_EQ(graph.nodes[0].inputs[1], "w");
  EXPECT_EQ(graph.nodes[2].attributes[1].g->nodes[0].op_type, "Neg");
  EXPECT_EQ(graph.nodes[3].Find("alpha")->f, 0.5F);
  EXPECT_EQ(graph.nodes[4].Find("perm")->ints, (std::vector<int64_t>{0, 1}));
  ASSERT_EQ(graph.inputs.size(), 2U);
  EXPECT_EQ(graph.inputs[0].type.dims[0].param, "n");
  EXPECT_EQ(graph.inputs[0].type.dims[1].value, 2);
  EXPECT_EQ(graph.initializers[0].raw_data.size(), 8U);
  EXPECT_EQ(graph.initializers[1].dims, (std::vector<int64_t>{2}));
}

TEST(ReaderTest, KindOfAnAttributeWithoutTypeIsThatOfItsField) {
  std::string attribute;
  protozero::pbf_writer out(attribute);
  out.add_string(1, "perm");
  out.add_int64(8, 1);
  out.add_int64(8, 0);
  std::string node;
  protozero::pbf_writer(node).add_string(4, "Transpose");
  protozero::pbf_writer(node).add_message(5, attribute);
  const std::string bytes = ModelOf(GraphProto().Message(1, node));
  const auto model = ReadModel(AsBytes(bytes));
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->graph.nodes[0].attributes[0].type, Attribute::kInts);
}

TEST(ReaderTest, PackedAndSingleIntegersAreTheSame) {
  std::string packed;
  const std::vector<int64_t> dims = {2, 3};
  protozero::pbf_writer(packed).add_packed_int64(1, dims.begin(), dims.end());
  const auto a = ReadTensor(AsBytes(packed));
  const TensorProto single("", kFloat, dims);
  const auto b = ReadTensor(AsBytes(single.bytes()));
  ASSERT_TRUE(a.has_value() && b.has_value());
  EXPECT_EQ(a->dims, b->dims);
}

TEST(ReaderTest, AModelWithoutAGraphIsRefused) {
  EXPECT_EQ(ErrorOf(""), "the model has no graph");
  EXPECT_TRUE(ErrorOf("no protobuf at all").starts_with("not an ONNX model"));
}

TEST(ReaderTest, AFieldOfAnotherEncodingIsRefused) {
  std::string bytes;
  protozero::pbf_writer(bytes).add_fixed32(1, 8);  // ir_version
  EXPECT_EQ(ErrorOf(bytes),
            "not an ONNX model: field 1 has wire type 5, not 0");
  bytes.clear();
  protozero::pbf_writer(bytes).add_int64(7, 8);  // graph
  EXPECT_EQ(ErrorOf(bytes),
            "not an ONNX model: field 7 has wire type 0, not 2");
}

// What is read or refused is then imported or refused: no crash on the way.
void ReadAndImport(std::string_view bytes) {
  const auto model = ReadModel(AsBytes(bytes));
  if (model.has_value()) (void)ImportModel(*model, "", {});
}

TEST(ReaderTest, EveryTruncationIsReadOrRefused) {
  const std::string bytes = SmallModel();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    // A copy, so that reading past the end is caught.
    ReadAndImport(std::string(bytes.substr(0, size)));
  }
}

TEST(ReaderTest, EveryChangedByteIsReadOrRefused) {
  const std::string bytes = SmallModel();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      ReadAndImport(damaged);
    }
  }
}

GraphProto NestedIfs(int depth) {
  GraphProto graph;
  graph.Add(NodeProto("Relu", {"x"}, {"r0"})).Output("r0");
  for (int i = 1; i < depth; ++i) {
    const std::string result = "r" + std::to_string(i);
    GraphProto outer;
    outer.Add(
        NodeProto("If", {"c"}, {result})
            .Graph("then_branch", graph)
            .Graph(
                "else_branch",
                GraphProto().Add(NodeProto("Neg", {"x"}, {"e"})).Output("e")));
    outer.Output(result);
    graph = outer;
  }
  graph.Input("x", kFloat, {2}).Input("c", kBool, {});
  return graph;
}

TEST(ReaderTest, NestingOfGraphsIsLimited) {
  EXPECT_EQ(ErrorOf(ModelOf(NestedIfs(ir::kMaxNesting))), "");
  EXPECT_EQ(ErrorOf(ModelOf(NestedIfs(ir::kMaxNesting + 1))),
            "graphs are nested deeper than 256");
}

TEST(ReaderTest, ALongGraphTakesLinearTime) {
  GraphProto graph;
  graph.Input("v0", kFloat, {2});
  constexpr int kNodes = 100'000;
  for (int i = 0; i < kNodes; ++i) {
    graph.Add(NodeProto("Relu", {"v" + std::to_string(i)},
                        {"v" + std::to_string(i + 1)}));
  }
  const std::string bytes = ModelOf(graph);
  const auto start = std::chrono::steady_clock::now();
  const auto model = ReadModel(AsBytes(bytes));
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->graph.nodes.size(), static_cast<std::size_t>(kNodes));
  EXPECT_LT(taken.count(), 5.0);
}

}  // namespace
}  // namespace ebb::onnx
