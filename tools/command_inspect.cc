#include "tools/command_inspect.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

#include "tools/command_line.h"
#include "tools/exit_code.h"
#include "tools/json_output.h"
#include "tools/load_model.h"
#include "tools/model_options.h"
#include "tools/module_facts.h"
#include "tools/onnx_facts.h"
#include "tools/program_text.h"
#include "tools/quantities.h"
#include "tools/table.h"

namespace ebb::tools {
namespace {

CommandLine MakeCommandLine() {
  CommandLine line(
      {.name = "inspect",
       .usage = "MODEL [options]",
       .about = "Shows what is in a model: inputs and outputs, operators, "
                "opsets, dynamic dims, weights, instructions and registers "
                "once compiled, and all that is not supported.",
       .example = "  ebb inspect model.onnx"});
  po::options_description group("Options");
  group.add_options()("json", "print it as JSON (schema ebb.inspect/1)");
  line.Add(group);
  line.Add(CompileOptionGroup());
  line.Positional("model");
  return line;
}

constexpr std::size_t kNodesShown = 4;

std::string NodesText(const std::vector<std::string>& nodes) {
  std::string text;
  for (std::size_t i = 0; i < std::min(nodes.size(), kNodesShown); ++i) {
    text += (i == 0 ? "" : ", ") + nodes[i];
  }
  return nodes.size() > kNodesShown ? text + ", …" : text;
}

void PrintOnnx(const OnnxFacts& facts) {
  Table table({"", ""}, {Align::kLeft, Align::kLeft});
  if (!facts.producer.empty()) table.Add({"producer", facts.producer});
  table.Add({"IR version", std::to_string(facts.ir_version)});
  for (const auto& [domain, version] : facts.opsets) {
    table.Add({"opset", domain + " " + std::to_string(version)});
  }
  for (const OnnxFacts::Value& input : facts.inputs) {
    table.Add({"input", input.name + "  " + input.type});
  }
  for (const OnnxFacts::Value& output : facts.outputs) {
    table.Add({"output", output.name + "  " + output.type});
  }
  table.Add({"nodes", std::to_string(facts.node_count)});
  table.Add({"initializers", std::to_string(facts.initializer_count)});
  std::cout << table.Text();
  Table operators({"operator", "nodes"}, {Align::kLeft, Align::kRight});
  for (const auto& [name, count] : facts.operators) {
    operators.Add({name, std::to_string(count)});
  }
  std::cout << "\nOperators of the model\n" << operators.Text(2);
}

void PrintUnsupported(const OnnxFacts& facts) {
  std::cout << "\nNot supported\n";
  Table table({"what", "count", "nodes"},
              {Align::kLeft, Align::kRight, Align::kLeft});
  for (const OnnxFacts::Unsupported& item : facts.unsupported) {
    table.Add(
        {item.what, std::to_string(item.nodes.size()), NodesText(item.nodes)});
  }
  std::cout << table.Text(2);
}

void PrintInterface(const bytecode::Module& module, const ModuleFacts& facts) {
  Table table({"", ""}, {Align::kLeft, Align::kLeft});
  const bytecode::Function& entry = module.function(module.entry);
  table.Add({"producer", module.producer});
  table.Add({"target", module.target.empty() ? "any" : module.target});
  for (const auto& [domain, version] : facts.opsets) {
    table.Add({"opset", domain + " " + std::to_string(version)});
  }
  for (const bytecode::Param& param : entry.params) {
    table.Add({"input", module.string(param.name) + "  " +
                            TypeText(module, param.type) +
                            (param.optional_feed ? "  may be left out" : "")});
  }
  for (const bytecode::Result& result : entry.results) {
    table.Add({"output", module.string(result.name) + "  " +
                             TypeText(module, result.type)});
  }
  std::cout << table.Text();
}

void PrintCompiled(const bytecode::Module& module, const ModuleFacts& facts) {
  Table table({"", ""}, {Align::kLeft, Align::kLeft});
  std::string dims;
  for (const std::string& dim : facts.dynamic_dims) {
    dims += (dims.empty() ? "" : ", ") + dim;
  }
  table.Add({"dynamic dims", dims.empty() ? "none" : dims});
  const WeightFacts& weights = facts.weights;
  table.Add({"weights",
             std::to_string(weights.count) + ", " + BytesText(weights.bytes)});
  table.Add({"  packed", std::to_string(weights.packed_count) + ", " +
                             BytesText(weights.packed_bytes)});
  table.Add({"  repeated", std::to_string(weights.repeated_count) + ", " +
                               BytesText(weights.repeated_plain_bytes) +
                               " written out"});
  table.Add({"operators", CountsText(facts.operators, facts.operators.size())});
  table.Add({"instructions", std::to_string(facts.instruction_count) + "  (" +
                                 CountsText(facts.opcodes, 8) + ")"});
  for (const bytecode::Function& function : module.functions) {
    table.Add({"registers",
               module.string(function.name) + ": " +
                   std::to_string(function.hold_register_count) + " hold, " +
                   std::to_string(function.int_register_count) + " int"});
  }
  std::cout << "\nCompiled\n" << table.Text(2);
}

boost::json::array JsonCounts(const std::vector<NameCount>& counts) {
  boost::json::array array;
  for (const auto& [name, count] : counts) {
    array.emplace_back(
        boost::json::object{{"name", JsonText(name)}, {"count", count}});
  }
  return array;
}

boost::json::object OnnxJson(const OnnxFacts& facts) {
  boost::json::object onnx;
  onnx["producer"] = JsonText(facts.producer);
  onnx["ir_version"] = facts.ir_version;
  boost::json::array opsets;
  for (const auto& [domain, version] : facts.opsets) {
    opsets.emplace_back(boost::json::object{{"domain", JsonText(domain)},
                                            {"version", version}});
  }
  onnx["opsets"] = std::move(opsets);
  onnx["node_count"] = facts.node_count;
  onnx["initializer_count"] = facts.initializer_count;
  onnx["operators"] = JsonCounts(facts.operators);
  for (const auto& [key, values] : {std::pair("inputs", &facts.inputs),
                                    std::pair("outputs", &facts.outputs)}) {
    boost::json::array array;
    for (const OnnxFacts::Value& value : *values) {
      array.emplace_back(boost::json::object{{"name", JsonText(value.name)},
                                             {"type", JsonText(value.type)}});
    }
    onnx[key] = std::move(array);
  }
  return onnx;
}

boost::json::array UnsupportedJson(const OnnxFacts& facts) {
  boost::json::array array;
  for (const OnnxFacts::Unsupported& item : facts.unsupported) {
    boost::json::array nodes;
    for (const std::string& node : item.nodes) {
      nodes.emplace_back(JsonText(node));
    }
    array.emplace_back(boost::json::object{{"what", JsonText(item.what)},
                                           {"nodes", std::move(nodes)}});
  }
  return array;
}

boost::json::object CompiledJson(const bytecode::Module& module,
                                 const ModuleFacts& facts) {
  boost::json::object compiled;
  compiled["producer"] = JsonText(module.producer);
  compiled["target"] = JsonText(module.target);
  AddInterface(module, compiled);
  boost::json::array dims;
  for (const std::string& dim : facts.dynamic_dims) {
    dims.emplace_back(JsonText(dim));
  }
  compiled["dynamic_dims"] = std::move(dims);
  const WeightFacts& weights = facts.weights;
  compiled["weights"] = boost::json::object{
      {"count", weights.count},
      {"bytes", weights.bytes},
      {"packed_count", weights.packed_count},
      {"packed_bytes", weights.packed_bytes},
      {"repeated_count", weights.repeated_count},
      {"repeated_plain_bytes", weights.repeated_plain_bytes}};
  compiled["operators"] = JsonCounts(facts.operators);
  compiled["instruction_count"] = facts.instruction_count;
  compiled["opcodes"] = JsonCounts(facts.opcodes);
  boost::json::array functions;
  for (const bytecode::Function& function : module.functions) {
    functions.emplace_back(
        boost::json::object{{"name", JsonText(module.string(function.name))},
                            {"instruction_count", function.code.size()},
                            {"hold_registers", function.hold_register_count},
                            {"int_registers", function.int_register_count}});
  }
  compiled["functions"] = std::move(functions);
  return compiled;
}

void Print(const std::optional<OnnxFacts>& onnx,
           const bytecode::Module* module) {
  if (onnx.has_value()) PrintOnnx(*onnx);
  if (module != nullptr) {
    const ModuleFacts facts = FactsOf(*module);
    if (!onnx.has_value()) PrintInterface(*module, facts);
    PrintCompiled(*module, facts);
  }
  if (onnx.has_value() && !onnx->unsupported.empty()) PrintUnsupported(*onnx);
}

void PrintAsJson(const std::string& model, const std::optional<OnnxFacts>& onnx,
                 const bytecode::Module* module) {
  boost::json::object document = JsonDocument("inspect");
  document["model"] = JsonText(model);
  document["onnx"] = nullptr;
  document["compiled"] = nullptr;
  document["unsupported"] = boost::json::array();
  if (onnx.has_value()) {
    document["onnx"] = OnnxJson(*onnx);
    document["unsupported"] = UnsupportedJson(*onnx);
  }
  if (module != nullptr) {
    document["compiled"] = CompiledJson(*module, FactsOf(*module));
  }
  PrintJson(document);
}

}  // namespace

int RunInspect(const std::vector<std::string>& words) {
  CommandLine line = MakeCommandLine();
  if (const auto code = line.Parse(words)) return *code;
  const auto options = ReadModelOptions(line.values());
  if (!options.has_value()) return SayError("inspect", options.error());
  const std::string model = line.Get<std::string>("model");
  const auto kind = DetectModelKind(model);
  if (!kind.has_value()) return SayError(model, kind.error());
  std::optional<OnnxFacts> onnx;
  if (*kind == ModelKind::kOnnx) {
    auto facts = ReadOnnxFacts(model);
    if (!facts.has_value()) return SayError(model, facts.error());
    onnx = std::move(*facts);
  }
  // What is not supported is a finding, not a failure; anything else that
  // keeps the model from compiling is one, after what was found.
  const bool supported = !onnx.has_value() || onnx->unsupported.empty();
  Expected<bytecode::Module> module =
      Fail(ErrorCode::kUnsupported, "not supported");
  if (supported) module = LoadModule(model, *options, /*for_running=*/false);
  const bytecode::Module* compiled = module.has_value() ? &*module : nullptr;
  if (compiled != nullptr || onnx.has_value()) {
    if (line.Has("json")) {
      PrintAsJson(model, onnx, compiled);
    } else {
      Print(onnx, compiled);
    }
  }
  if (!supported || compiled != nullptr) return kDone;
  return SayError(model, module.error());
}

}  // namespace ebb::tools
