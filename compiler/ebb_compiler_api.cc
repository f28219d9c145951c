// The C interface of the compiler: options in, a program or a file out.
#include <cstring>
#include <string>
#include <utility>

#include "bytecode/atomic_file.h"
#include "bytecode/writer.h"
#include "compiler/compile.h"
#include "compiler/ebb_compiler.h"
#include "vm/ebb_internal.h"

namespace {

using ebb::Expected;
using ebb::Status;
using ebb::compiler::CompileOptions;

Expected<CompileOptions> ReadCompileOptions(const ebb_compile_options* given) {
  TRY(const ebb_compile_options in, ebb::vm::ReadOptions(given));
  CompileOptions options;
  for (size_t i = 0; i < in.shape_count; ++i) {
    const ebb_shape& shape = in.shapes[i];
    auto& bounds = options.import.shapes[shape.input];
    bounds.clear();
    for (size_t d = 0; d < shape.rank; ++d) {
      const ebb_dim_bound& dim = shape.dims[d];
      ebb::onnx::DimBound bound;
      bound.low = dim.low;
      if (dim.high >= 0) bound.high = dim.high;
      if (dim.low < 0 || (dim.high >= 0 && dim.high < dim.low)) {
        return ebb::Fail(ebb::ErrorCode::kInvalidArgument,
                         "dim " + std::to_string(d) + " goes from " +
                             std::to_string(dim.low) + " to " +
                             std::to_string(dim.high),
                         "shape of input \"" + std::string(shape.input) + "\"");
      }
      bounds.push_back(bound);
    }
  }
  for (size_t i = 0; i < in.output_count; ++i) {
    options.import.outputs.emplace_back(in.outputs[i]);
  }
  if (in.backend == EBB_BACKEND_PORTABLE) {
    options.backend = ebb::kernels::Backend::kPortable;
  } else if (in.backend == EBB_BACKEND_ONEDNN) {
    options.backend = ebb::kernels::Backend::kOneDnn;
  } else if (in.backend != EBB_BACKEND_DEFAULT) {
    return ebb::Fail(ebb::ErrorCode::kInvalidArgument,
                     "unknown backend " + std::to_string(in.backend));
  }
  if (in.threads < 0) {
    return ebb::Fail(ebb::ErrorCode::kInvalidArgument,
                     "threads is " + std::to_string(in.threads));
  }
  options.threads = in.threads == 0 ? 1 : in.threads;
  options.kill = in.no_kill == 0;
  options.fold = in.no_fold == 0;
  options.cse = in.no_cse == 0;
  options.pack = in.no_pack == 0;
  if (in.progress != nullptr) {
    options.progress = [call = in.progress, user = in.progress_user](
                           std::string_view step, size_t index, size_t count) {
      call(user, std::string(step).c_str(), index, count);
    };
  }
  return options;
}

// Loads what was compiled under the caller's load options.
Status Deliver(ebb::bytecode::Module module, const ebb_load_options* load,
               ebb_program** program) {
  TRY(const ebb_load_options read, ebb::vm::ReadOptions(load));
  TRY(auto options, ebb::vm::MakeLoadOptions(read));
  TRY(*program, ebb::vm::MakeApiProgram(std::move(module), std::move(options)));
  return {};
}

}  // namespace

ebb_error* ebb_compile_file(const char* path,
                            const ebb_compile_options* options,
                            const ebb_load_options* load,
                            ebb_program** program) {
  return ebb::vm::Guarded([&]() -> Status {
    TRY(CompileOptions read, ReadCompileOptions(options));
    read.for_running = true;
    TRY(auto module, ebb::compiler::CompileFile(path, read));
    return Deliver(std::move(module), load, program);
  });
}

ebb_error* ebb_compile_bytes(const void* bytes, size_t size, const char* folder,
                             const ebb_compile_options* options,
                             const ebb_load_options* load,
                             ebb_program** program) {
  return ebb::vm::Guarded([&]() -> Status {
    TRY(CompileOptions read, ReadCompileOptions(options));
    read.for_running = true;
    TRY(auto module,
        ebb::compiler::CompileOnnx({static_cast<const std::byte*>(bytes), size},
                                   folder == nullptr ? "" : folder, read));
    return Deliver(std::move(module), load, program);
  });
}

ebb_error* ebb_compile_to_file(const char* path,
                               const ebb_compile_options* options,
                               const char* output_path) {
  return ebb::vm::Guarded([&]() -> Status {
    TRY(const CompileOptions read, ReadCompileOptions(options));
    TRY(const auto module, ebb::compiler::CompileFile(path, read));
    return ebb::bytecode::WriteFileAtomically(
        output_path, [&](const ebb::bytecode::Sink& sink) {
          return ebb::bytecode::WriteModule(module, sink);
        });
  });
}
