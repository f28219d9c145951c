#include "tools/command_assemble.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <span>
#include <utility>

#include "bytecode/assembler.h"
#include "bytecode/atomic_file.h"
#include "bytecode/disassembler.h"
#include "bytecode/lifetime_checker.h"
#include "bytecode/mapped_file.h"
#include "bytecode/reader.h"
#include "bytecode/writer.h"
#include "tools/command_line.h"
#include "tools/exit_code.h"
#include "tools/json_output.h"
#include "tools/load_model.h"
#include "tools/model_options.h"
#include "tools/quantities.h"

namespace ebb::tools {
namespace {

po::options_description OutGroup(const char* what) {
  po::options_description group("Options");
  group.add_options()("out,o", po::value<std::string>()->value_name("FILE"),
                      what);
  return group;
}

CommandLine DisassembleLine() {
  CommandLine line(
      {.name = "disassemble",
       .usage = "MODEL [-o FILE] [options]",
       .about = "Prints the bytecode of a .ebb file as text, which `ebb "
                "assemble` turns back into the same file. Other models are "
                "compiled first.",
       .example = "  ebb disassemble model.ebb --elide 64 | less"});
  po::options_description group =
      OutGroup("write to this file instead of standard output");
  group.add_options()("elide", po::value<std::string>()->value_name("SIZE"),
                      "leave out the data of constants above this size; such "
                      "a text is for reading only");
  line.Add(group);
  line.Add(CompileOptionGroup());
  line.Positional("model");
  return line;
}

CommandLine AssembleLine() {
  CommandLine line(
      {.name = "assemble",
       .usage = "FILE.ebbt -o FILE.ebb",
       .about = "Makes a .ebb file from its text form. `-` reads standard "
                "input. What comes out has verified.",
       .example = "  ebb disassemble model.ebb | ebb assemble - -o same.ebb"});
  line.Add(OutGroup("the file to write"));
  line.Positional("file");
  return line;
}

CommandLine VerifyLine() {
  CommandLine line(
      {.name = "verify",
       .usage = "FILE... [options]",
       .about = "Holds files to all checks: the frame and the checksums of "
                "all sections and of the constants, the verifier, and that "
                "every buffer is freed once and in time on every path. Other "
                "models are compiled first.",
       .example = "  ebb verify model.ebb"});
  po::options_description group("Options");
  group.add_options()("allow-missing-kills",
                      "accept a file that frees nothing, or not all, before "
                      "the run ends")("json",
                                      "print the results as JSON (schema "
                                      "ebb.verify/1)");
  line.Add(group);
  line.Add(CompileOptionGroup());
  line.Positional("file", /*many=*/true);
  return line;
}

// The module of any file, with every check that its kind has.
Expected<bytecode::Module> CheckedModule(const std::string& path,
                                         const ModelOptions& options) {
  TRY(const ModelKind kind, DetectModelKind(path));
  if (kind != ModelKind::kBytecode) {
    return LoadModule(path, options, /*for_running=*/false);
  }
  TRY(MappedFile mapped, MappedFile::Open(path));
  auto file = std::make_shared<const MappedFile>(std::move(mapped));
  TRY(bytecode::Module module,
      bytecode::ReadModule(file->bytes(), {.check_constants = true}));
  module.owned.push_back(std::move(file));
  return module;
}

Expected<bytecode::Module> VerifyOne(const std::string& path,
                                     const ModelOptions& options,
                                     bool lifetimes) {
  TRY(bytecode::Module module, CheckedModule(path, options));
  if (lifetimes) RETURN_IF_ERROR(bytecode::CheckLifetimes(module));
  return module;
}

std::string SoundText(const bytecode::Module& module) {
  std::size_t instructions = 0;
  for (const bytecode::Function& function : module.functions) {
    instructions += function.code.size();
  }
  return CountText(module.functions.size(), "function") + ", " +
         CountText(instructions, "instruction") + ", " +
         CountText(module.constants.size(), "constant");
}

// What cannot be read at all was not verified.
int VerifyExitCode(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kIo
             ? kBadUsage
             : kFailed;
}

}  // namespace

int RunDisassemble(const std::vector<std::string>& words) {
  CommandLine line = DisassembleLine();
  if (const auto code = line.Parse(words)) return *code;
  const auto options = ReadModelOptions(line.values());
  if (!options.has_value()) return SayError("disassemble", options.error());
  bytecode::DisassembleOptions form;
  if (line.Has("elide")) {
    const auto bytes = ParseBytes(line.Get<std::string>("elide"));
    if (!bytes.has_value()) return SayError("--elide", bytes.error());
    form.elide_above_bytes = *bytes;
  }
  const std::string model = line.Get<std::string>("model");
  const auto module = LoadModule(model, *options, /*for_running=*/false);
  if (!module.has_value()) return SayError(model, module.error());
  const std::string text = bytecode::Disassemble(*module, form);
  if (!line.Has("out")) {
    std::cout << text;
    return kDone;
  }
  const std::string out = line.Get<std::string>("out");
  const Status written =
      bytecode::WriteFileAtomically(out, [&](const bytecode::Sink& sink) {
        return sink(std::as_bytes(std::span(text)));
      });
  if (written.has_value()) return kDone;
  SayError(out, written.error());
  return kFailed;
}

int RunAssemble(const std::vector<std::string>& words) {
  CommandLine line = AssembleLine();
  if (const auto code = line.Parse(words)) return *code;
  if (!line.Has("out")) {
    SayError("assemble", "no file to write given; use -o FILE");
    return kBadUsage;
  }
  const std::string path = line.Get<std::string>("file");
  const std::string out = line.Get<std::string>("out");
  const auto text = ReadText(path);
  if (!text.has_value()) return SayError(ShownPath(path), text.error());
  const auto module = bytecode::Assemble(*text);
  if (!module.has_value()) return SayError(ShownPath(path), module.error());
  const Status written =
      bytecode::WriteFileAtomically(out, [&](const bytecode::Sink& sink) {
        return bytecode::WriteModule(*module, sink);
      });
  if (written.has_value()) return kDone;
  SayError(out, written.error());
  return kFailed;
}

int RunVerify(const std::vector<std::string>& words) {
  CommandLine line = VerifyLine();
  if (const auto code = line.Parse(words)) return *code;
  const auto options = ReadModelOptions(line.values());
  if (!options.has_value()) return SayError("verify", options.error());
  const bool lifetimes = !line.Has("allow-missing-kills");
  int worst = kDone;
  boost::json::array results;
  for (const auto& path : line.Get<std::vector<std::string>>("file")) {
    const auto module = VerifyOne(path, *options, lifetimes);
    boost::json::object result;
    result["file"] = JsonText(path);
    result["sound"] = module.has_value();
    if (!module.has_value()) {
      SayError(path, module.error());
      worst = std::max(worst, VerifyExitCode(module.error()));
      result["error"] = JsonText(module.error().ToString());
    } else if (!line.Has("json")) {
      std::cout << Printable(path) << ": sound (" << SoundText(*module)
                << ")\n";
    }
    results.emplace_back(std::move(result));
  }
  if (line.Has("json")) {
    boost::json::object document = JsonDocument("verify");
    document["files"] = std::move(results);
    PrintJson(document);
  }
  return worst;
}

}  // namespace ebb::tools
