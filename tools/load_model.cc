#include "tools/load_model.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "bytecode/assembler.h"
#include "bytecode/file_format.h"
#include "bytecode/mapped_file.h"
#include "bytecode/reader.h"
#include "compiler/compile.h"
#include "compiler/ir/parser.h"
#include "tools/progress.h"

namespace ebb::tools {
namespace {

// What IR text may begin with, after space and comments.
constexpr std::array kIrWords = {
    std::string_view("func "), std::string_view("entry "),
    std::string_view("const "), std::string_view("dim "),
    std::string_view("metadata ")};

// Past white space and comments, which both text forms have.
std::string_view FirstLine(std::string_view text) {
  while (true) {
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos) return {};
    text.remove_prefix(start);
    if (text[0] != '#' && !text.starts_with("//")) return text;
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end);
  }
}

ModelKind KindOf(const std::string& path, std::span<const std::byte> bytes) {
  if (bytecode::HasFileMagic(bytes)) return ModelKind::kBytecode;
  if (path.ends_with(".onnx")) return ModelKind::kOnnx;
  if (path.ends_with(".ebb")) return ModelKind::kBytecode;
  if (path.ends_with(".ir")) return ModelKind::kIr;
  if (path.ends_with(".ebbt")) return ModelKind::kAssembly;
  const std::string_view first =
      FirstLine({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  for (const std::string_view word : kIrWords) {
    if (first.starts_with(word)) return ModelKind::kIr;
  }
  if (first.starts_with("ebbt")) return ModelKind::kAssembly;
  return ModelKind::kOnnx;
}

// Errors say which file; those of a position in a text keep the position.
Error In(const std::string& path, Error error) {
  if (error.where.empty()) {
    error.where = path;
  } else if (!error.where.starts_with(path)) {
    error.where = path + ": " + error.where;
  }
  return error;
}

std::string ListText(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

// IR text says itself what its inputs and outputs are.
Status RefuseImportOptions(const ModelOptions& options) {
  for (const std::string& option : options.compile_only) {
    if (option != "--shape" && option != "--output") continue;
    return Fail(ErrorCode::kInvalidArgument,
                "is IR text: " + option + " cannot apply");
  }
  return {};
}

Status RefuseCompileOptions(ModelKind kind, const ModelOptions& options) {
  if (options.compile_only.empty()) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "is compiled already (" + std::string(ModelKindName(kind)) +
                  "): " + ListText(options.compile_only) + " cannot apply");
}

Expected<bytecode::Module> Compile(const std::string& path, ModelKind kind,
                                   std::shared_ptr<const MappedFile> file,
                                   const ModelOptions& options,
                                   bool for_running) {
  Progress progress("compile");
  compiler::CompileOptions compile = options.compile;
  compile.for_running = for_running;
  if (!options.quiet) compile.progress = progress.Steps();
  Expected<bytecode::Module> module;
  if (kind == ModelKind::kIr) {
    const auto bytes = file->bytes();
    TRY(ir::Module text,
        ir::ParseModule(
            {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    module = compiler::CompileIr(std::move(text), compile);
  } else {
    // The compiler maps it itself, to drop pages that it is done with.
    file.reset();
    module = compiler::CompileFile(path, compile);
  }
  if (module.has_value() && options.any_target) module->target.clear();
  return module;
}

Expected<bytecode::Module> LoadInner(const std::string& path,
                                     const ModelOptions& options,
                                     bool for_running) {
  TRY(MappedFile mapped, MappedFile::Open(path));
  auto file = std::make_shared<const MappedFile>(std::move(mapped));
  const auto bytes = file->bytes();
  const ModelKind kind = KindOf(path, bytes);
  switch (kind) {
    case ModelKind::kIr:
      RETURN_IF_ERROR(RefuseImportOptions(options));
      return Compile(path, kind, std::move(file), options, for_running);
    case ModelKind::kOnnx:
      return Compile(path, kind, std::move(file), options, for_running);
    case ModelKind::kBytecode: {
      RETURN_IF_ERROR(RefuseCompileOptions(kind, options));
      TRY(bytecode::Module module, bytecode::ReadModule(bytes));
      module.owned.push_back(std::move(file));
      return module;
    }
    case ModelKind::kAssembly: {
      RETURN_IF_ERROR(RefuseCompileOptions(kind, options));
      TRY(bytecode::Module module,
          bytecode::Assemble(
              {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
      return module;
    }
  }
  return Fail(ErrorCode::kInvalidFile, "is not a model");
}

}  // namespace

std::string_view ModelKindName(ModelKind kind) {
  switch (kind) {
    case ModelKind::kOnnx:
      return "onnx";
    case ModelKind::kBytecode:
      return "ebb";
    case ModelKind::kIr:
      return "ir";
    case ModelKind::kAssembly:
      return "ebbt";
  }
  return "onnx";
}

Expected<ModelKind> DetectModelKind(const std::string& path) {
  auto mapped = MappedFile::Open(path);
  if (!mapped.has_value()) {
    return std::unexpected(In(path, std::move(mapped).error()));
  }
  return KindOf(path, mapped->bytes());
}

Expected<bytecode::Module> LoadModule(const std::string& path,
                                      const ModelOptions& options,
                                      bool for_running) {
  auto module = LoadInner(path, options, for_running);
  if (!module.has_value()) {
    return std::unexpected(In(path, std::move(module).error()));
  }
  return module;
}

Expected<vm::ProgramRef> LoadProgram(const std::string& path,
                                     const ModelOptions& options) {
  TRY(bytecode::Module module, LoadModule(path, options, /*for_running=*/true));
  auto program = vm::Program::Load(std::move(module), {});
  if (!program.has_value()) {
    return std::unexpected(In(path, std::move(program).error()));
  }
  return program;
}

Status LeaveShapesToInputs(const std::string& path, ModelOptions& options) {
  TRY(const ModelKind kind, DetectModelKind(path));
  if (kind != ModelKind::kOnnx) std::erase(options.compile_only, "--shape");
  return {};
}

std::string ShownPath(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

Expected<std::string> ReadText(const std::string& path) {
  if (path == "-") {
    return std::string(std::istreambuf_iterator<char>(std::cin), {});
  }
  // A folder opens but cannot be read; the map tells both cases apart.
  auto mapped = MappedFile::Open(path);
  if (!mapped.has_value()) {
    return std::unexpected(In(path, std::move(mapped).error()));
  }
  const auto bytes = mapped->bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace ebb::tools
