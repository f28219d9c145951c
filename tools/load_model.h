// Any model file as a bytecode module or a loaded program: `.onnx` and IR text
// are compiled with the options given, `.ebb` and its text are taken as they
// are. What a file is, its first bytes tell; its name decides only where they
// could be either.
//
//   TRY(vm::ProgramRef program, LoadProgram("model.onnx", options));
//   TRY(auto session, vm::Session::Create(program, options.session));
//
// A progress bar is shown on a terminal while a model is compiled.
#ifndef EBB_TOOLS_LOAD_MODEL_H_
#define EBB_TOOLS_LOAD_MODEL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "bytecode/error.h"
#include "bytecode/module.h"
#include "tools/model_options.h"
#include "vm/program.h"

namespace ebb::tools {

enum class ModelKind : uint8_t {
  kOnnx,      // .onnx
  kBytecode,  // .ebb
  kIr,        // .ir
  kAssembly,  // .ebbt
};
std::string_view ModelKindName(ModelKind kind);  // "onnx", "ebb", "ir", "ebbt"

// Errors when the file cannot be read, or is none of them.
Expected<ModelKind> DetectModelKind(const std::string& path);

// The module, compiled where need be. With `for_running` weights are laid out
// to be used at once, else to be written to a file. Compile options that
// cannot apply any more are an error.
Expected<bytecode::Module> LoadModule(const std::string& path,
                                      const ModelOptions& options,
                                      bool for_running);

// A `.ebb` file is mapped; anything else is compiled for running at once.
Expected<vm::ProgramRef> LoadProgram(const std::string& path,
                                     const ModelOptions& options);

// For commands that make inputs up: only an ONNX model can be given shapes, so
// for others --shape is no compile option but the size of such inputs.
Status LeaveShapesToInputs(const std::string& path, ModelOptions& options);

// The whole of a text file; "-" is standard input.
Expected<std::string> ReadText(const std::string& path);
// The path as messages name it: "-" is "standard input".
std::string ShownPath(const std::string& path);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_LOAD_MODEL_H_
