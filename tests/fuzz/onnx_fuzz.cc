// Bytes as an ONNX model: read, imported, compiled and loaded.
#include <cstddef>
#include <cstdint>
#include <span>

#include "compiler/compile.h"
#include "vm/program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 65536) return 0;  // Large models find nothing that small do not.
  ebb::compiler::CompileOptions options;
  options.for_running = true;
  auto module = ebb::compiler::CompileOnnx(std::as_bytes(std::span(data, size)),
                                           "", options);
  if (module.has_value()) {
    (void)ebb::vm::Program::Load(std::move(*module), {});
  }
  return 0;
}
