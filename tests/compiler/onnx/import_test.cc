// What the importer makes of graphs: order, names, inputs, outputs, errors.
// The forms of operators by opset are in opset_forms_test.cc.
#include "compiler/onnx/import.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/onnx/reader.h"
#include "tests/compiler/onnx/model_builder.h"

namespace ebb::onnx {
namespace {

// The IR's text, or the error.
std::string Import(const std::string& bytes,
                   const ImportOptions& options = {}) {
  const auto model = ReadModel(AsBytes(bytes));
  if (!model.has_value()) return model.error().ToString();
  const auto module = ImportModel(*model, "", options);
  if (!module.has_value()) return module.error().ToString();
  const Status status = ir::Verify(*module);
  EXPECT_TRUE(status.has_value()) << status.error().ToString();
  return ir::Print(*module);
}

// The same without constants and metadata: the functions alone.
std::string Functions(const std::string& bytes,
                      const ImportOptions& options = {}) {
  const std::string text = Import(bytes, options);
  const auto at = text.find("func @main");
  return at == std::string::npos ? text : text.substr(at);
}

GraphProto WithInput() {
  GraphProto graph;
  graph.Input("x", kFloat, {"n", 4});
  return graph;
}

TEST(ImportTest, ValuesKeepTheirNames) {
  GraphProto graph = WithInput();
  graph.Add(NodeProto("Relu", {"x"}, {"a"}).Name("first"));
  graph.Add(NodeProto("Neg", {"a"}, {"y"}).Name("second")).Output("y");
  EXPECT_EQ(Functions(ModelOf(graph)),
            R"(func @main(%x: f32[n, 4]) -> y: f32[n, 4] {
  %a = relu %x : f32[n, 4] node "first"
  %y = neg %a : f32[n, 4] node "second"
  return %y
}
)");
}

TEST(ImportTest, NodesMayStandInAnyOrder) {
  GraphProto graph = WithInput();
  graph.Add(NodeProto("Neg", {"b"}, {"y"})).Output("y");
  graph.Add(NodeProto("Abs", {"a"}, {"b"}));
  graph.Add(NodeProto("Relu", {"x"}, {"a"}));
  const std::string text = Functions(ModelOf(graph));
  const auto relu = text.find("relu");
  const auto abs = text.find("abs");
  EXPECT_LT(relu, abs);
  EXPECT_LT(abs, text.find("neg"));
}

TEST(ImportTest, ABranchMayReadWhatALaterNodeMakes) {
  GraphProto branch;
  branch.Add(NodeProto("Relu", {"late"}, {"b"})).Output("b");
  GraphProto graph = WithInput();
  graph.Input("c", kBool, {});
  graph.Add(NodeProto("If", {"c"}, {"y"})
                .Graph("then_branch", branch)
                .Graph("else_branch", branch));
  graph.Add(NodeProto("Neg", {"x"}, {"late"})).Output("y");
  const std::string text = Functions(ModelOf(graph));
  EXPECT_LT(text.find("neg"), text.find("if %c")) << text;
}

// The names of a branch are its own, though the graph around has them too.
TEST(ImportTest, NamesOfABranchDoNotOrderTheGraph) {
  GraphProto branch;
  branch.Add(NodeProto("Relu", {"x"}, {"y"})).Output("y");
  GraphProto graph = WithInput();
  graph.Input("c", kBool, {});
  graph.Add(NodeProto("If", {"c"}, {"r"})
                .Graph("then_branch", branch)
                .Graph("else_branch", branch));
  graph.Add(NodeProto("Neg", {"r"}, {"y"})).Output("y");
  const std::string text = Functions(ModelOf(graph));
  EXPECT_LT(text.find("if %c"), text.find("neg")) << text;
}

TEST(ImportTest, ACycleIsRefused) {
  GraphProto graph = WithInput();
  graph.Add(NodeProto("Add", {"x", "b"}, {"a"}).Name("one"));
  graph.Add(NodeProto("Relu", {"a"}, {"b"}).Name("two")).Output("b");
  EXPECT_EQ(Import(ModelOf(graph)),
            "node \"one\" (Add): needs its own result: the graph has a cycle");
  GraphProto self = WithInput();
  self.Add(NodeProto("Add", {"x", "a"}, {"a"}).Name("loop")).Output("a");
  EXPECT_EQ(Import(ModelOf(self)),
            "node \"loop\" (Add): needs its own result: the graph has a cycle");
}

TEST(ImportTest, ANameHasOneProducer) {
  GraphProto two = WithInput();
  two.Add(NodeProto("Relu", {"x"}, {"y"}));
  two.Add(NodeProto("Neg", {"x"}, {"y"})).Output("y");
  EXPECT_EQ(Import(ModelOf(two)), "value \"y\" has two producers");
  GraphProto input = WithInput();
  input.Add(NodeProto("Relu", {"x"}, {"x"})).Output("x");
  EXPECT_NE(Import(ModelOf(input)).find("cycle"), std::string::npos);
  GraphProto weight = WithInput();
  weight.Initializer(TensorProto::Floats("y", {1}, {1}));
  weight.Add(NodeProto("Relu", {"x"}, {"y"}).Name("n")).Output("y");
  EXPECT_EQ(Import(ModelOf(weight)),
            "node \"n\" (Relu, opset 17): value \"y\" has two producers");
  GraphProto inputs = WithInput();
  inputs.Input("x", kFloat, {2}).Output("x");
  EXPECT_EQ(Import(ModelOf(inputs)), "value \"x\" has two producers");
  GraphProto weights = WithInput();
  weights.Initializer(TensorProto::Floats("w", {1}, {1}));
  weights.Initializer(TensorProto::Floats("w", {1}, {2})).Output("x");
  EXPECT_EQ(Import(ModelOf(weights)), "two initializers are named \"w\"");
}

TEST(ImportTest, MissingValuesAreNamed) {
  GraphProto graph = WithInput();
  graph.Add(NodeProto("Add", {"x", "nothing"}, {"y"}).Name("sum")).Output("y");
  EXPECT_EQ(Import(ModelOf(graph)),
            "node \"sum\" (Add, opset 17): no node, input or initializer gives "
            "\"nothing\"");
  GraphProto output = WithInput();
  output.Output("z");
  EXPECT_EQ(Import(ModelOf(output)),
            "no node, input or initializer gives the output \"z\"");
}

TEST(ImportTest, InputsAreCounted) {
  GraphProto graph = WithInput();
  graph.Add(NodeProto("Add", {}, {"y"}).Name("sum")).Output("y");
  EXPECT_EQ(Import(ModelOf(graph)),
            "node \"sum\" (Add, opset 17): needs at least 2 inputs, has 0");
  GraphProto many = WithInput();
  many.Add(NodeProto("Relu", {"x", "x"}, {"y"}).Name("r")).Output("y");
  EXPECT_EQ(Import(ModelOf(many)),
            "node \"r\" (Relu, opset 17): takes at most 1 inputs, has 2");
  GraphProto absent = WithInput();
  absent.Add(NodeProto("Add", {"x", ""}, {"y"}).Name("sum")).Output("y");
  EXPECT_EQ(Import(ModelOf(absent)),
            "node \"sum\" (Add, opset 17): input 1 may not be absent");
}

TEST(ImportTest, ResultsAreCounted) {
  GraphProto none = WithInput();
  none.Add(NodeProto("Relu", {"x"}, {}).Name("r")).Output("x");
  EXPECT_EQ(Import(ModelOf(none)),
            "node \"r\" (Relu, opset 17): names no results");
  GraphProto many = WithInput();
  many.Add(NodeProto("Relu", {"x"}, {"y", "z"}).Name("r")).Output("y");
  EXPECT_EQ(Import(ModelOf(many)),
            "node \"r\" (Relu, opset 17): names 2 results, the operator has 1");
  GraphProto sum = WithInput();
  sum.Add(NodeProto("Add", {"x", "x"}, {"y", "z"}).Name("s")).Output("y");
  EXPECT_EQ(Import(ModelOf(sum)),
            "node \"s\" (Add, opset 17): gives fewer results than the 2 it "
            "names");
}

TEST(ImportTest, UnknownAttributesAreNamed) {
  GraphProto graph = WithInput();
  graph.Add(NodeProto("Softmax", {"x"}, {"y"}).Name("s").Int("axes", 1));
  graph.Output("y");
  EXPECT_EQ(
      Import(ModelOf(graph)),
      "node \"s\" (Softmax, opset 17): has an attribute \"axes\" that the "
      "operator does not know");
  GraphProto kind = WithInput();
  kind.Add(NodeProto("Softmax", {"x"}, {"y"}).Name("s").Float("axis", 1));
  kind.Output("y");
  EXPECT_EQ(
      Import(ModelOf(kind)),
      "node \"s\" (Softmax, opset 17): attribute axis has the wrong type");
}

TEST(ImportTest, UnsupportedOperatorsAreListedWithCounts) {
  GraphProto branch;
  branch.Add(NodeProto("Foo", {"x"}, {"b"})).Output("b");
  GraphProto graph = WithInput();
  graph.Input("c", kBool, {});
  graph.Add(NodeProto("Bar", {"x"}, {"a"}).Domain("my"));
  graph.Add(NodeProto("Foo", {"x"}, {"d"}));
  graph.Add(NodeProto("If", {"c"}, {"y"})
                .Graph("then_branch", branch)
                .Graph("else_branch", branch));
  graph.Output("y");
  EXPECT_EQ(Import(ModelOf(graph)),
            "operators that are not built in: my.Bar (1 node), Foo (3 nodes)");
}

TEST(ImportTest, AnOpsetMustBeImported) {
  GraphProto graph = WithInput();
  graph.Add(NodeProto("Relu", {"x"}, {"y"}).Name("r")).Output("y");
  EXPECT_EQ(Import(ModelProto(graph).Opset("other", 1).Bytes()),
            "node \"r\" (Relu, opset 0): the model imports no opset for its "
            "domain");
  EXPECT_NE(
      Import(ModelProto(graph).Opset("ai.onnx", 17).Bytes()).find("relu %x"),
      std::string::npos);
}

TEST(ImportTest, InputsMustBeTensorsOfKnownTypes) {
  EXPECT_EQ(Import(ModelOf(GraphProto().Input("x", 77, {1}).Output("x"))),
            "input \"x\": element type 77 is not known");
  const std::vector<GraphProto::Dim> dims(20, int64_t{1});
  EXPECT_EQ(Import(ModelOf(GraphProto().Input("x", kFloat, dims).Output("x"))),
            "input \"x\": has 20 dims, more than 16");
  std::string info;
  protozero::pbf_writer(info).add_string(1, "s");
  std::string type;
  protozero::pbf_writer(type).add_message(4, std::string());
  protozero::pbf_writer(info).add_message(2, type);
  EXPECT_EQ(Import(ModelOf(GraphProto().Message(11, info))),
            "input \"s\": is not a tensor");
}

TEST(ImportTest, OpenDimsGetSymbols) {
  GraphProto graph;
  graph.Input("a", kFloat, {"n", "", int64_t{-1}, int64_t{3}})
      .Input("b", kFloat, {"n", "a_d1"});
  graph.UnrankedInput("c", kFloat).Output("a");
  EXPECT_EQ(
      Functions(ModelOf(graph)),
      R"(func @main(%a: f32[n, a_d0, a_d2, 3], %b: f32[n, a_d1], %c: f32[*]) -> a: f32[n, a_d0, a_d2, 3] {
  return %a
}
)");
}

TEST(ImportTest, ShapesGivenFixDims) {
  GraphProto graph;
  graph.Input("a", kFloat, {"n", 3}).Input("b", kFloat, {"n", "m"}).Output("b");
  ImportOptions options;
  options.shapes["a"] = {{5, 5}, {3, 3}};
  options.shapes["b"] = {{0, {}}, {1, 8}};
  EXPECT_EQ(Functions(ModelOf(graph), options),
            R"(func @main(%a: f32[5, 3], %b: f32[5, m]) -> b: f32[5, m] {
  return %b
}
)");
  EXPECT_NE(Import(ModelOf(graph), options).find("dim m in 1..8"),
            std::string::npos)
      << Import(ModelOf(graph), options);
}

TEST(ImportTest, ShapesGivenMustFit) {
  GraphProto graph;
  graph.Input("a", kFloat, {"n", 3}).Input("b", kFloat, {"n"}).Output("a");
  const std::string bytes = ModelOf(graph);
  const auto error = [&](const char* input, std::vector<DimBound> bounds) {
    ImportOptions options;
    options.shapes[input] = std::move(bounds);
    return Import(bytes, options);
  };
  EXPECT_EQ(error("z", {{1, 1}}), "the model has no input \"z\"");
  EXPECT_EQ(error("a", {{1, 1}}),
            "input \"a\": has 2 dims, the shape given has 1");
  EXPECT_EQ(error("a", {{1, 1}, {4, 4}}),
            "input \"a\": dim 1 is 3 in the model, 4 in the shape given");
  EXPECT_EQ(error("a", {{1, 1}, {4, 8}}),
            "input \"a\": dim 1 is 3 in the model, outside the range 4 to 8 "
            "given");
  EXPECT_EQ(error("a", {{-1, -1}, {3, 3}}),
            "input \"a\": dim 0 is given the range -1 to -1");
  EXPECT_EQ(error("a", {{8, 4}, {3, 3}}),
            "input \"a\": dim 0 is given the range 8 to 4");
  ImportOptions two;
  two.shapes["a"] = {{1, 1}, {3, 3}};
  two.shapes["b"] = {{2, 2}};
  EXPECT_EQ(Import(bytes, two),
            "input \"b\": dim n is given two different sizes");
}

TEST(ImportTest, ShapesGivenRankAnUnrankedInput) {
  GraphProto graph;
  graph.UnrankedInput("a", kFloat).Output("a");
  ImportOptions options;
  options.shapes["a"] = {{2, 2}, {0, {}}};
  EXPECT_EQ(Functions(ModelOf(graph), options),
            R"(func @main(%a: f32[2, a_d0]) -> a: f32[2, a_d0] {
  return %a
}
)");
}

TEST(ImportTest, OutputsAreChosen) {
  GraphProto graph = WithInput();
  graph.Add(NodeProto("Relu", {"x"}, {"a"}));
  graph.Add(NodeProto("Neg", {"a"}, {"y"})).Output("y").Output("a");
  ImportOptions options;
  options.outputs = {"a"};
  EXPECT_NE(Import(ModelOf(graph), options).find("-> a: f32[n, 4]"),
            std::string::npos);
  options.outputs = {"a", "y", "x"};
  EXPECT_NE(Import(ModelOf(graph), options).find("return %a, %y, %x"),
            std::string::npos);
  options.outputs = {"none"};
  EXPECT_EQ(Import(ModelOf(graph), options),
            "no node, input or initializer gives the output \"none\"");
}

TEST(ImportTest, WeightsThatAreInputsAreDefaultsFromIrVersion4) {
  GraphProto graph = WithInput();
  graph.Input("w", kFloat, {4});
  graph.Initializer(TensorProto::Floats("w", {4}, {1, 2, 3, 4}));
  graph.Add(NodeProto("Add", {"x", "w"}, {"y"})).Output("y");
  const std::string old = ModelProto(graph, 3).Opset("", 8).Bytes();
  EXPECT_NE(Functions(old).find("func @main(%x: f32[n, 4]) ->"),
            std::string::npos)
      << Functions(old);
  const std::string now = ModelProto(graph, 7).Opset("", 8).Bytes();
  EXPECT_NE(Functions(now).find("%w: f32[4]"), std::string::npos);
  EXPECT_NE(Functions(now).find("= @w"), std::string::npos) << Functions(now);
}

// A default must be one that the caller could feed.
TEST(ImportTest, DefaultsMustFitTheirInputs) {
  GraphProto graph = WithInput();
  graph.Input("w", kFloat, {5});
  graph.Initializer(TensorProto::Floats("w", {4}, {1, 2, 3, 4}));
  graph.Add(NodeProto("Relu", {"w"}, {"y"})).Output("y");
  EXPECT_EQ(Import(ModelOf(graph)),
            "input \"w\": its initializer is f32[4], the input is f32[5]");
}

TEST(ImportTest, SparseInitializersAreUnsupported) {
  GraphProto graph = WithInput();
  graph.Message(15, "").Output("x");
  EXPECT_EQ(Import(ModelOf(graph)), "the model has sparse initializers");
}

TEST(ImportTest, IdentityAndDropoutAreNamesOnly) {
  GraphProto graph = WithInput();
  graph.Add(NodeProto("Identity", {"x"}, {"a"}));
  graph.Add(NodeProto("Dropout", {"a"}, {"b"})).Output("b");
  EXPECT_NE(Functions(ModelOf(graph)).find("return %x"), std::string::npos);
}

// If.

TEST(ImportTest, BranchesReadTheGraphsAround) {
  GraphProto inner;
  inner.Initializer(TensorProto::Floats("one", {1}, {1}));
  inner.Add(NodeProto("Add", {"x", "one"}, {"i"})).Output("i");
  GraphProto then_branch;
  then_branch.Add(NodeProto("Neg", {"x"}, {"m"}));
  then_branch.Add(NodeProto("If", {"c"}, {"t"})
                      .Graph("then_branch", inner)
                      .Graph("else_branch", GraphProto().Output("m")));
  then_branch.Output("t");
  GraphProto graph = WithInput();
  graph.Input("c", kBool, {});
  graph.Add(NodeProto("If", {"c"}, {"y"})
                .Name("choose")
                .Graph("then_branch", then_branch)
                .Graph("else_branch", GraphProto().Output("x")));
  graph.Output("y");
  EXPECT_EQ(Functions(ModelOf(graph)),
            R"(func @main(%x: f32[n, 4], %c: bool[]) -> y: f32[n, 4] {
  %y = if %c {
    %m = neg %x : f32[n, 4] node "m"
    %t = if %c {
      %one = constant @one : f32[1] node "t"
      %i = add %x, %one : f32[n, 4] node "i"
      yield %i node "t"
    } else {
      yield %m node "t"
    } : f32[n, 4] node "t"
    yield %t node "choose"
  } else {
    yield %x node "choose"
  } : f32[n, 4] node "choose"
  return %y
}
)");
}

TEST(ImportTest, BranchesMustFitTheNode) {
  const auto error = [](const NodeProto& node) {
    GraphProto graph = WithInput();
    graph.Input("c", kBool, {}).Input("k", kInt64, {2});
    graph.Add(node).Output("y");
    return Import(ModelOf(graph));
  };
  const GraphProto x = GraphProto().Output("x");
  const std::string where = "node \"y\" (If, opset 17): ";
  EXPECT_EQ(error(NodeProto("If", {"c"}, {"y"}).Graph("then_branch", x)),
            where + "needs the attribute else_branch");
  EXPECT_EQ(error(NodeProto("If", {"c"}, {"y"})
                      .Graph("then_branch", x)
                      .Graph("else_branch", GraphProto())),
            where + "else_branch gives 0 results, the node names 1");
  EXPECT_EQ(error(NodeProto("If", {"c"}, {"y"})
                      .Graph("then_branch", x)
                      .Graph("else_branch", GraphProto().Output("k"))),
            where + "branches give f32 and i64");
  EXPECT_EQ(error(NodeProto("If", {"c"}, {"y"})
                      .Graph("then_branch", x)
                      .Graph("else_branch", GraphProto().Output("lost"))),
            where + "no value \"lost\" for a result of a branch");
  EXPECT_EQ(error(NodeProto("If", {"c"}, {"y"})
                      .Graph("then_branch", x)
                      .Graph("else_branch",
                             GraphProto().Input("i", kFloat, {}).Output("i"))),
            where + "a branch has inputs");
  EXPECT_EQ(error(NodeProto("If", {}, {"y"})),
            where + "needs at least 1 inputs, has 0");
}

// Values of a branch are not seen outside of it.
TEST(ImportTest, NamesOfABranchEndWithIt) {
  GraphProto branch;
  branch.Add(NodeProto("Relu", {"x"}, {"b"})).Output("b");
  GraphProto graph = WithInput();
  graph.Input("c", kBool, {});
  graph.Add(NodeProto("If", {"c"}, {"y"})
                .Graph("then_branch", branch)
                .Graph("else_branch", branch));
  graph.Add(NodeProto("Neg", {"b"}, {"z"}).Name("n")).Output("z");
  EXPECT_EQ(Import(ModelOf(graph)),
            "node \"n\" (Neg, opset 17): no node, input or initializer gives "
            "\"b\"");
}

// No count of inputs and results, however wrong, does more than fail.
TEST(ImportTest, EveryOperatorBearsAnyNumberOfOperands) {
  const char* const operators[] = {"Abs",
                                   "Add",
                                   "And",
                                   "ArgMax",
                                   "AveragePool",
                                   "BatchNormalization",
                                   "Cast",
                                   "Clip",
                                   "Concat",
                                   "Constant",
                                   "ConstantOfShape",
                                   "Conv",
                                   "ConvTranspose",
                                   "Dropout",
                                   "Expand",
                                   "Flatten",
                                   "Gather",
                                   "Gemm",
                                   "GlobalAveragePool",
                                   "If",
                                   "InstanceNormalization",
                                   "LRN",
                                   "LayerNormalization",
                                   "LogSoftmax",
                                   "MatMul",
                                   "Max",
                                   "MaxPool",
                                   "Mean",
                                   "PRelu",
                                   "Pad",
                                   "Pow",
                                   "Range",
                                   "ReduceMean",
                                   "ReduceSum",
                                   "Reshape",
                                   "Resize",
                                   "Shape",
                                   "Size",
                                   "Slice",
                                   "Softmax",
                                   "Split",
                                   "Squeeze",
                                   "Sum",
                                   "Tile",
                                   "Transpose",
                                   "Unsqueeze",
                                   "Upsample",
                                   "Where"};
  for (const char* const name : operators) {
    for (const int64_t opset : {6, 9, 12, 18}) {
      for (std::size_t inputs = 0; inputs < 6; ++inputs) {
        for (std::size_t outputs = 0; outputs < 3; ++outputs) {
          for (const char* const kind : {"x", "i", "u", ""}) {
            GraphProto graph = WithInput();
            graph.Input("i", kInt64, {2});
            graph.UnrankedInput("u", kFloat);
            std::vector<std::string> results;
            for (std::size_t r = 0; r < outputs; ++r) {
              results.push_back("r" + std::to_string(r));
            }
            graph.Add(NodeProto(name, std::vector<std::string>(inputs, kind),
                                results));
            for (const std::string& result : results) graph.Output(result);
            (void)Import(ModelOf(graph, opset));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ebb::onnx
