#include "compiler/onnx/import.h"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "bytecode/shape_rules/geometry.h"
#include "bytecode/shape_rules/rule.h"
#include "compiler/onnx/graph_builder.h"
#include "compiler/onnx/node_context.h"
#include "compiler/onnx/node_order.h"
#include "compiler/onnx/operator_importers.h"
#include "compiler/onnx/weights.h"

namespace ebb::onnx {
namespace {

using ir::Dim;
using ir::Type;
using ir::ValueId;

// Operators that the graph importer itself turns into regions.
bool IsControlFlow(const Node& node) {
  return (node.domain.empty() || node.domain == "ai.onnx") &&
         node.op_type == "If";
}

bool IsKnown(const Node& node) {
  return IsControlFlow(node) ||
         FindImporter(node.domain, node.op_type) != nullptr;
}

// Calls `visit` for every node of the graph and its subgraphs; an explicit
// stack, though graphs nest only ir::kMaxNesting deep.
template <class Visit>
void ForEachNode(const Graph& graph, Visit visit) {
  std::vector<const Graph*> pending = {&graph};
  while (!pending.empty()) {
    const Graph& next = *pending.back();
    pending.pop_back();
    std::vector<const Graph*> inner;
    for (const Node& node : next.nodes) {
      visit(node);
      for (const Attribute& attribute : node.attributes) {
        if (attribute.g != nullptr) inner.push_back(attribute.g.get());
      }
    }
    pending.insert(pending.end(), inner.rbegin(), inner.rend());
  }
}

class Importer {
 public:
  Importer(const Model& model, const std::string& folder,
           const ImportOptions& options)
      : model_(model), options_(options), files_(folder) {}

  Expected<ir::Module> Run();

 private:
  using Scope = std::unordered_map<std::string_view, ValueId>;

  Status DeclareInputs();
  Status AddInitializers(const Graph& graph);
  Status Define(std::string_view name, ValueId value);
  ValueId Lookup(std::string_view name) const;
  Expected<Type> TypeOfInput(const ValueInfo& info);
  // A default must be one that the caller could feed.
  Status CheckDefault(std::string_view input, ValueId value,
                      const ir::Constant& constant);
  Status ApplyShape(const ValueInfo& info, const std::vector<DimBound>& bounds);
  // Recursion through subgraphs ends at the depth that the reader allows.
  Status ImportNodes(const Graph& graph);
  Status ImportNode(const Node& node);
  Status ImportIf(const Node& node, NodeContext& context);
  Expected<std::vector<ValueId>> ImportBranch(const Graph& graph,
                                              const NodeContext& context);
  Status Return();

  const Model& model_;
  const ImportOptions& options_;
  ExternalFiles files_;
  ir::Module module_;
  std::unique_ptr<GraphBuilder> builder_;
  std::vector<Scope> scopes_;
  std::unordered_map<std::string_view, Dim> named_dims_;
};

Status Importer::Define(std::string_view name, ValueId value) {
  if (name.empty()) return {};
  if (!scopes_.back().emplace(name, value).second) {
    return Fail(ErrorCode::kInvalidModel,
                "value \"" + std::string(name) + "\" has two producers");
  }
  return {};
}

ValueId Importer::Lookup(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto at = scope->find(name); at != scope->end()) {
      return at->second;
    }
  }
  return ValueId();
}

// What the caller says of an input's dims: fixed sizes replace the model's,
// and the name that the model gave a dim carries them to the other inputs.
Status Importer::ApplyShape(const ValueInfo& info,
                            const std::vector<DimBound>& bounds) {
  const std::string where = "input \"" + std::string(info.name) + "\"";
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const int64_t high = bounds[i].high.value_or(INT64_MAX);
    if (bounds[i].low < 0 || high < bounds[i].low) {
      return Fail(ErrorCode::kInvalidArgument,
                  "dim " + std::to_string(i) + " is given the range " +
                      std::to_string(bounds[i].low) + " to " +
                      std::to_string(high),
                  where);
    }
  }
  if (info.type.has_shape && info.type.dims.size() != bounds.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                "has " + std::to_string(info.type.dims.size()) +
                    " dims, the shape given has " +
                    std::to_string(bounds.size()),
                where);
  }
  for (std::size_t i = 0; i < bounds.size() && info.type.has_shape; ++i) {
    const DimProto& dim = info.type.dims[i];
    const int64_t high = bounds[i].high.value_or(INT64_MAX);
    if (dim.has_value && dim.value >= 0 &&
        (dim.value < bounds[i].low || dim.value > high)) {
      const std::string low = std::to_string(bounds[i].low);
      return Fail(
          ErrorCode::kInvalidArgument,
          "dim " + std::to_string(i) + " is " + std::to_string(dim.value) +
              " in the model, " +
              (bounds[i].IsFixed() ? low + " in the shape given"
                                   : "outside the range " + low + " to " +
                                         std::to_string(high) + " given"),
          where);
    }
    if (!bounds[i].IsFixed() || dim.has_value || dim.param.empty()) continue;
    const Dim size = module_.dims.Constant(bounds[i].low);
    const auto [at, fresh] = named_dims_.emplace(dim.param, size);
    if (!fresh && at->second != size) {
      return Fail(
          ErrorCode::kInvalidArgument,
          "dim " + std::string(dim.param) + " is given two different sizes",
          where);
    }
  }
  return {};
}

Expected<Type> Importer::TypeOfInput(const ValueInfo& info) {
  const std::string where = "input \"" + std::string(info.name) + "\"";
  if (info.type.kind != TypeProto::kTensor) {
    return Fail(ErrorCode::kUnsupported, "is not a tensor", where);
  }
  if (info.type.elem_type < 0 || info.type.elem_type > 255 ||
      !IsValidDType(static_cast<uint8_t>(info.type.elem_type))) {
    return Fail(
        ErrorCode::kUnsupported,
        "element type " + std::to_string(info.type.elem_type) + " is not known",
        where);
  }
  const auto dtype = static_cast<DType>(info.type.elem_type);
  const auto given = options_.shapes.find(std::string(info.name));
  const std::vector<DimBound>* bounds =
      given == options_.shapes.end() ? nullptr : &given->second;
  if (!info.type.has_shape && bounds == nullptr) return Type::Unranked(dtype);
  const std::size_t rank =
      bounds != nullptr ? bounds->size() : info.type.dims.size();
  if (rank > static_cast<std::size_t>(kMaxRank)) {
    return Fail(ErrorCode::kLimit,
                "has " + std::to_string(rank) + " dims, more than " +
                    std::to_string(kMaxRank),
                where);
  }
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < rank; ++i) {
    const DimProto dim = info.type.has_shape ? info.type.dims[i] : DimProto();
    if (bounds != nullptr && (*bounds)[i].IsFixed()) {
      dims.push_back(module_.dims.Constant((*bounds)[i].low));
    } else if (dim.has_value && dim.value >= 0) {
      dims.push_back(module_.dims.Constant(dim.value));
    } else if (!dim.has_value && !dim.param.empty()) {
      dims.push_back(named_dims_.at(dim.param));
    } else {
      dims.push_back(module_.dims.FreshSymbol(std::string(info.name) + "_d"));
    }
    const auto symbol = module_.dims.AsSymbol(dims.back());
    if (bounds != nullptr && symbol.has_value()) {
      module_.dims.SetRange(
          *symbol, {(*bounds)[i].low, (*bounds)[i].high.value_or(INT64_MAX)});
    }
  }
  return Type::Tensor(dtype, std::move(dims));
}

Status Importer::CheckDefault(std::string_view input, ValueId value,
                              const ir::Constant& constant) {
  const Type& type = builder_->TypeOf(value);
  bool fits = type.dtype == constant.dtype;
  std::string dims;
  if (type.ranked) {
    fits = fits && type.dims.size() == constant.dims.size();
    for (std::size_t i = 0; i < type.dims.size(); ++i) {
      const auto known = module_.dims.Known(type.dims[i]);
      fits = fits && (!known.has_value() || *known == constant.dims[i]);
      dims += (i == 0 ? "" : ",") + module_.dims.ToString(type.dims[i]);
    }
  }
  if (fits) return {};
  return Fail(ErrorCode::kInvalidModel,
              "its initializer is " + std::string(DTypeName(constant.dtype)) +
                  DimsText(constant.dims) + ", the input is " +
                  std::string(DTypeName(type.dtype)) + "[" + dims + "]",
              "input \"" + std::string(input) + "\"");
}

// Inputs become parameters. One that has an initializer may be left out from
// IR version 4 on; before, it is only the initializer.
Status Importer::DeclareInputs() {
  std::unordered_map<std::string_view, const Tensor*> initializers;
  for (const Tensor& tensor : model_.graph.initializers) {
    initializers.emplace(tensor.name, &tensor);
  }
  std::unordered_set<std::string_view> names;
  for (const ValueInfo& info : model_.graph.inputs) {
    names.insert(info.name);
    const auto given = options_.shapes.find(std::string(info.name));
    if (given != options_.shapes.end()) {
      RETURN_IF_ERROR(ApplyShape(info, given->second));
    }
  }
  // Named dims come first, so that no made-up name is one of theirs.
  for (const ValueInfo& info : model_.graph.inputs) {
    for (const DimProto& dim : info.type.dims) {
      if (dim.param.empty() || dim.has_value) continue;
      const auto [at, fresh] = named_dims_.emplace(dim.param, Dim());
      if (fresh) at->second = module_.dims.Symbol(dim.param);
    }
  }
  for (const auto& [name, bounds] : options_.shapes) {
    if (!names.contains(name)) {
      return Fail(ErrorCode::kInvalidArgument,
                  "the model has no input \"" + name + "\"");
    }
  }
  for (const ValueInfo& info : model_.graph.inputs) {
    const auto initializer = initializers.find(info.name);
    const bool has_default = initializer != initializers.end();
    if (has_default && model_.ir_version < 4) continue;
    TRY(Type type, TypeOfInput(info));
    const ValueId value = builder_->AddValue(info.name, std::move(type));
    RETURN_IF_ERROR(Define(info.name, value));
    ir::Param param{value, false, {}};
    if (has_default) {
      TRY(ir::Constant constant,
          ToConstant(*initializer->second, files_, module_.owned));
      RETURN_IF_ERROR(CheckDefault(info.name, value, constant));
      module_.constants.push_back(std::move(constant));
      param.default_value = ir::ConstantId(module_.constants.size() - 1);
    }
    builder_->function().params.push_back(param);
  }
  return {};
}

Status Importer::AddInitializers(const Graph& graph) {
  if (graph.has_sparse_initializers) {
    return Fail(ErrorCode::kUnsupported, "the model has sparse initializers");
  }
  std::unordered_set<std::string_view> seen;
  for (const Tensor& tensor : graph.initializers) {
    if (!seen.insert(tensor.name).second) {
      return Fail(
          ErrorCode::kInvalidModel,
          "two initializers are named \"" + std::string(tensor.name) + "\"");
    }
    if (scopes_.back().contains(tensor.name)) continue;  // An input's default.
    TRY(ir::Constant constant, ToConstant(tensor, files_, module_.owned));
    TRY(const ValueId value, builder_->AddConstant(std::move(constant)));
    RETURN_IF_ERROR(Define(tensor.name, value));
  }
  return {};
}

Status Importer::ImportNodes(const Graph& graph) {
  TRY(const auto order, OrderNodes(graph));
  for (const std::size_t n : order) {
    RETURN_IF_ERROR(ImportNode(graph.nodes[n]));
  }
  return {};
}

Expected<std::vector<ValueId>> Importer::ImportBranch(
    const Graph& graph, const NodeContext& context) {
  scopes_.emplace_back();
  if (!graph.inputs.empty()) {
    return context.Invalid("a branch has inputs");
  }
  RETURN_IF_ERROR(AddInitializers(graph));
  RETURN_IF_ERROR(ImportNodes(graph));
  std::vector<ValueId> yields;
  for (const ValueInfo& output : graph.outputs) {
    const ValueId value = Lookup(output.name);
    if (!value.valid()) {
      return context.Invalid("no value \"" + std::string(output.name) +
                             "\" for a result of a branch");
    }
    yields.push_back(value);
  }
  scopes_.pop_back();
  return yields;
}

Status Importer::ImportIf(const Node& node, NodeContext& context) {
  RETURN_IF_ERROR(context.CheckInputs(1, 1));
  const ir::RegionId outer = builder_->region();
  ir::Instr instr;
  instr.kind = ir::InstrKind::kIf;
  instr.operands = {{context.Input(0)}};
  for (const std::string_view name : {"then_branch", "else_branch"}) {
    const Attribute* branch = context.Raw(name);
    if (branch == nullptr || branch->g == nullptr) {
      return context.Invalid("needs the attribute " + std::string(name));
    }
    const ir::RegionId region = builder_->NewRegion();
    builder_->SetRegion(region);
    TRY(const auto yields, ImportBranch(*branch->g, context));
    if (yields.size() != node.outputs.size()) {
      return context.Invalid(
          std::string(name) + " gives " + std::to_string(yields.size()) +
          " results, the node names " + std::to_string(node.outputs.size()));
    }
    ir::Instr yield;
    yield.kind = ir::InstrKind::kYield;
    for (const ValueId value : yields) yield.operands.push_back({value});
    builder_->SetNode(NameOf(node));
    builder_->AddPlain(std::move(yield));
    instr.regions.push_back(region);
  }
  builder_->SetRegion(outer);
  auto results = builder_->Add(std::move(instr), node.outputs.size(),
                               node.outputs.empty() ? "if" : node.outputs[0]);
  if (!results.has_value()) {
    return context.Invalid(results.error().message);
  }
  for (std::size_t i = 0; i < results->size(); ++i) {
    context.SetOutput(i, (*results)[i]);
  }
  return {};
}

Status Importer::ImportNode(const Node& node) {
  std::vector<ValueId> inputs;
  const int64_t opset = OpsetOf(model_, node.domain);
  for (const std::string_view name : node.inputs) {
    inputs.push_back(name.empty() ? ValueId() : Lookup(name));
    if (!name.empty() && !inputs.back().valid()) {
      return NodeContext(node, opset, {}, *builder_)
          .Invalid("no node, input or initializer gives \"" +
                   std::string(name) + "\"");
    }
  }
  builder_->SetNode(NameOf(node));
  const std::size_t values_before = builder_->function().values.size();
  NodeContext context(node, opset, std::move(inputs), *builder_);
  if (node.outputs.empty()) return context.Invalid("names no results");
  if (opset == 0) {
    return context.Invalid("the model imports no opset for its domain");
  }
  if (IsControlFlow(node)) {
    RETURN_IF_ERROR(ImportIf(node, context));
  } else {
    const OperatorImporter* importer = FindImporter(node.domain, node.op_type);
    if (importer == nullptr) {
      return context.Unsupported("the operator is not built in");
    }
    RETURN_IF_ERROR(importer->import(context, importer->code));
  }
  RETURN_IF_ERROR(context.Finish());
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const ValueId value = context.outputs()[i];
    // What the node made gets the model's name for it.
    if (value.index() >= values_before) {
      builder_->Rename(value, node.outputs[i]);
    }
    if (Status status = Define(node.outputs[i], value); !status.has_value()) {
      return context.Invalid(status.error().message);
    }
  }
  // Outputs that nobody asked for are not results.
  return {};
}

Status Importer::Return() {
  std::vector<std::string_view> names;
  if (options_.outputs.empty()) {
    for (const ValueInfo& output : model_.graph.outputs) {
      names.push_back(output.name);
    }
  } else {
    names.assign(options_.outputs.begin(), options_.outputs.end());
  }
  ir::Instr end;
  end.kind = ir::InstrKind::kReturn;
  ir::Function& function = builder_->function();
  for (const std::string_view name : names) {
    const ValueId value = Lookup(name);
    if (!value.valid()) {
      return Fail(ErrorCode::kInvalidModel,
                  "no node, input or initializer gives the output \"" +
                      std::string(name) + "\"");
    }
    end.operands.push_back({value});
    function.result_types.push_back(function.value(value).type);
    function.result_names.emplace_back(name);
  }
  builder_->SetNode("");
  builder_->AddPlain(std::move(end));
  return {};
}

Expected<ir::Module> Importer::Run() {
  module_.functions.emplace_back();
  module_.entry = ir::FunctionId(0);
  module_.functions[0].name = "main";
  builder_ = std::make_unique<GraphBuilder>(module_, module_.entry);
  const ir::RegionId body = builder_->NewRegion();
  builder_->function().body = body;
  builder_->SetRegion(body);
  scopes_.emplace_back();
  RETURN_IF_ERROR(DeclareInputs());
  RETURN_IF_ERROR(AddInitializers(model_.graph));
  RETURN_IF_ERROR(ImportNodes(model_.graph));
  RETURN_IF_ERROR(Return());
  for (const OpsetId& opset : model_.opsets) {
    module_.metadata.emplace_back(
        "onnx.opset." + (opset.domain.empty() ? std::string("ai.onnx")
                                              : std::string(opset.domain)),
        std::to_string(opset.version));
  }
  module_.metadata.emplace_back("onnx.ir_version",
                                std::to_string(model_.ir_version));
  if (!model_.producer_name.empty()) {
    module_.metadata.emplace_back("onnx.producer",
                                  std::string(model_.producer_name) + " " +
                                      std::string(model_.producer_version));
  }
  std::sort(module_.metadata.begin(), module_.metadata.end());
  const auto last = std::unique(
      module_.metadata.begin(), module_.metadata.end(),
      [](const auto& a, const auto& b) { return a.first == b.first; });
  module_.metadata.erase(last, module_.metadata.end());
  return std::move(module_);
}

}  // namespace

int64_t OpsetOf(const Model& model, std::string_view domain) {
  const bool standard = domain.empty() || domain == "ai.onnx";
  for (const OpsetId& opset : model.opsets) {
    if (opset.domain == domain ||
        (standard && (opset.domain.empty() || opset.domain == "ai.onnx"))) {
      return opset.version;
    }
  }
  // Models of IR versions 1 and 2 import nothing and mean opset 1.
  return standard && model.opsets.empty() ? 1 : 0;
}

std::vector<UnsupportedOperator> FindUnsupported(const Model& model) {
  std::vector<UnsupportedOperator> found;
  std::unordered_map<std::string, std::size_t> place;
  ForEachNode(model.graph, [&](const Node& node) {
    if (IsKnown(node)) return;
    std::string name = FullName(node);
    const auto [at, fresh] = place.emplace(name, found.size());
    if (fresh) found.push_back({std::move(name), {}});
    found[at->second].nodes.emplace_back(NameOf(node));
  });
  return found;
}

Expected<ir::Module> ImportModel(const Model& model, const std::string& folder,
                                 const ImportOptions& options) {
  const auto unsupported = FindUnsupported(model);
  if (!unsupported.empty()) {
    std::string message = "operators that are not built in: ";
    for (std::size_t i = 0; i < unsupported.size(); ++i) {
      const std::size_t count = unsupported[i].nodes.size();
      message += (i == 0 ? "" : ", ") + unsupported[i].name + " (" +
                 std::to_string(count) + (count == 1 ? " node)" : " nodes)");
    }
    return Fail(ErrorCode::kUnsupported, std::move(message));
  }
  return Importer(model, folder, options).Run();
}

}  // namespace ebb::onnx
