#include "tools/command_compile.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <iostream>

#include "bytecode/atomic_file.h"
#include "bytecode/writer.h"
#include "tools/command_line.h"
#include "tools/exit_code.h"
#include "tools/json_output.h"
#include "tools/load_model.h"
#include "tools/model_options.h"
#include "tools/module_facts.h"
#include "tools/program_text.h"
#include "tools/quantities.h"
#include "tools/table.h"

namespace ebb::tools {
namespace {

CommandLine MakeCommandLine() {
  CommandLine line(
      {.name = "compile",
       .usage = "MODEL [-o FILE] [options]",
       .about = "Compiles a model (.onnx, or IR text in .ir) to bytecode and "
                "writes it to a .ebb file, whole or not at all.",
       .example = "  ebb compile detector.onnx --shape x=1x3x640x640 -o "
                  "detector.ebb"});
  po::options_description group("Options");
  group.add_options()("out,o", po::value<std::string>()->value_name("FILE"),
                      "the file to write (beside the model, with the ending "
                      ".ebb, where it is not given)")(
      "json", "print the facts as JSON (schema ebb.compile/1)");
  line.Add(group);
  line.Add(CompileOptionGroup());
  line.Positional("model");
  return line;
}

// "dir/model.onnx" becomes "dir/model.ebb".
std::string DefaultOutput(const std::string& model) {
  const std::size_t slash = model.find_last_of('/');
  const std::size_t dot = model.find_last_of('.');
  const bool has_ending = dot != std::string::npos && dot != 0 &&
                          (slash == std::string::npos || dot > slash + 1);
  return (has_ending ? model.substr(0, dot) : model) + ".ebb";
}

// Writing over the model would lose what was compiled.
bool SameFile(const std::string& a, const std::string& b) {
  struct stat first = {};
  struct stat second = {};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

void PrintFacts(const bytecode::Module& module, const std::string& out,
                uint64_t file_bytes, double milliseconds) {
  const ModuleFacts facts = FactsOf(module);
  const bytecode::Function& entry = module.function(module.entry);
  Table table({"", ""}, {Align::kLeft, Align::kLeft});
  for (const bytecode::Param& param : entry.params) {
    table.Add({"input", module.string(param.name) + "  " +
                            TypeText(module, param.type)});
  }
  for (const bytecode::Result& result : entry.results) {
    table.Add({"output", module.string(result.name) + "  " +
                             TypeText(module, result.type)});
  }
  table.Add({"operators", std::to_string(facts.operator_count) + "  (" +
                              CountsText(facts.operators, 5) + ")"});
  table.Add({"instructions", std::to_string(facts.instruction_count)});
  table.Add({"weights", BytesText(facts.weights.bytes) + "  (" +
                            std::to_string(facts.weights.count) + ", " +
                            std::to_string(facts.weights.packed_count) +
                            " packed)"});
  table.Add({"file", out + "  " + BytesText(file_bytes)});
  table.Add({"time", MillisecondsText(milliseconds) + " ms"});
  std::cout << table.Text();
}

void PrintFactsAsJson(const bytecode::Module& module, const std::string& model,
                      const std::string& out, uint64_t file_bytes,
                      double milliseconds) {
  const ModuleFacts facts = FactsOf(module);
  boost::json::object document = JsonDocument("compile");
  document["model"] = JsonText(model);
  document["file"] = JsonText(out);
  document["file_bytes"] = file_bytes;
  document["compile_ms"] = milliseconds;
  document["target"] = JsonText(module.target);
  AddInterface(module, document);
  document["operator_count"] = facts.operator_count;
  document["instruction_count"] = facts.instruction_count;
  document["weight_count"] = facts.weights.count;
  document["weight_bytes"] = facts.weights.bytes;
  document["packed_weight_count"] = facts.weights.packed_count;
  PrintJson(document);
}

}  // namespace

int RunCompile(const std::vector<std::string>& words) {
  CommandLine line = MakeCommandLine();
  if (const auto code = line.Parse(words)) return *code;
  const auto options = ReadModelOptions(line.values());
  if (!options.has_value()) return SayError("compile", options.error());
  const std::string model = line.Get<std::string>("model");
  const std::string out =
      line.Has("out") ? line.Get<std::string>("out") : DefaultOutput(model);
  if (SameFile(model, out)) {
    SayError(out, "is the model itself; give another file with -o");
    return kBadUsage;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto module = LoadModule(model, *options, /*for_running=*/false);
  if (!module.has_value()) return SayError(model, module.error());
  const double milliseconds = std::chrono::duration<double, std::milli>(
                                  std::chrono::steady_clock::now() - start)
                                  .count();
  uint64_t file_bytes = 0;
  const Status written =
      bytecode::WriteFileAtomically(out, [&](const bytecode::Sink& sink) {
        return bytecode::WriteModule(*module,
                                     [&](std::span<const std::byte> bytes) {
                                       file_bytes += bytes.size();
                                       return sink(bytes);
                                     });
      });
  if (!written.has_value()) {
    SayError(out, written.error());
    return kFailed;
  }
  if (line.Has("json")) {
    PrintFactsAsJson(*module, model, out, file_bytes, milliseconds);
  } else {
    PrintFacts(*module, out, file_bytes, milliseconds);
  }
  return kDone;
}

}  // namespace ebb::tools
