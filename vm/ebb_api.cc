// The C interface: errors, dtypes, programs.
#include <cassert>
#include <iterator>
#include <string_view>

#include "vm/ebb_internal.h"

namespace ebb::vm {
namespace {

// Handed out when there is no memory for an error, and never freed.
ebb_error& SharedOutOfMemory() {
  static ebb_error error{
      EBB_OUT_OF_MEMORY, "out of memory: the heap has no more", {}};
  return error;
}

ebb_kind ToApi(bytecode::TypeKind kind) {
  switch (kind) {
    case bytecode::TypeKind::kTensor:
      return EBB_KIND_TENSOR;
    case bytecode::TypeKind::kStorage:
      return EBB_KIND_STORAGE;
    case bytecode::TypeKind::kTuple:
      return EBB_KIND_TUPLE;
    case bytecode::TypeKind::kSequence:
      return EBB_KIND_SEQUENCE;
    case bytecode::TypeKind::kOptional:
      return EBB_KIND_OPTIONAL;
    case bytecode::TypeKind::kClosure:
      return EBB_KIND_CLOSURE;
    case bytecode::TypeKind::kObject:
      return EBB_KIND_OBJECT;
  }
  return EBB_KIND_OBJECT;
}

ebb_program::Info MakeInfo(const bytecode::Module& module,
                           bytecode::StringId name, bytecode::TypeId type_id,
                           bool optional) {
  const bytecode::Type& type = module.types[type_id.index()];
  ebb_program::Info result{};
  const bool ranked = type.kind == bytecode::TypeKind::kTensor && type.ranked;
  if (ranked) {
    for (const bytecode::DimSpec& dim : type.dims) {
      result.dims.push_back(dim.size >= 0 ? dim.size : -1);
      result.symbols.push_back(
          dim.size >= 0 ? "" : module.string(dim.symbol).c_str());
    }
  }
  result.info.name = module.string(name).c_str();
  result.info.kind = ToApi(type.kind);
  result.info.dtype = static_cast<int32_t>(type.dtype);
  result.info.rank = ranked ? static_cast<int32_t>(type.dims.size()) : -1;
  result.info.is_optional = optional ? 1 : 0;
  return result;
}

Status CopyInfo(const std::vector<ebb_program::Info>& list, std::size_t index,
                const char* what, ebb_info* to) {
  if (index >= list.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                std::string(what) + " " + std::to_string(index) + " of " +
                    std::to_string(list.size()));
  }
  ebb_info info = list[index].info;
  info.dims = list[index].dims.data();
  info.symbols = list[index].symbols.data();
  return WriteResult(info, to);
}

Status FindIndex(const std::vector<ebb_program::Info>& list, const char* name,
                 const char* what, std::size_t* index) {
  std::string names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (std::string_view(list[i].info.name) == name) {
      *index = i;
      return {};
    }
    names += (i == 0 ? "\"" : ", \"") + std::string(list[i].info.name) + "\"";
  }
  return Fail(ErrorCode::kNotFound, "no " + std::string(what) + " \"" +
                                        std::string(name) +
                                        "\"; there are: " + names);
}

const bytecode::Module& ModuleOf(const ebb_program* program) {
  return program->program->module();
}

}  // namespace

ebb_error* MakeOutOfMemoryError() noexcept { return &SharedOutOfMemory(); }

ebb_error* MakeApiError(Error error) noexcept {
  try {
    std::string text = error.ToString();
    auto* made = new ebb_error{static_cast<ebb_code>(error.code),
                               std::move(text), std::move(error.where)};
    return made;
  } catch (const std::bad_alloc&) {
    return MakeOutOfMemoryError();
  }
}

Expected<ebb_program*> MakeApiProgram(ProgramRef program) {
  auto made = std::make_unique<ebb_program>();
  const bytecode::Module& module = program->module();
  for (const bytecode::Param& param : program->entry().params) {
    made->inputs.push_back(
        MakeInfo(module, param.name, param.type, param.optional_feed));
  }
  for (const bytecode::Result& result : program->entry().results) {
    made->outputs.push_back(MakeInfo(module, result.name, result.type, false));
  }
  made->program = std::move(program);
  return made.release();
}

Expected<ebb_program*> MakeApiProgram(bytecode::Module module,
                                      Program::LoadOptions options) {
  TRY(ProgramRef program, Program::Load(std::move(module), std::move(options)));
  return MakeApiProgram(std::move(program));
}

Expected<TensorView> ViewOfApi(const ebb_tensor& tensor) {
  if (tensor.rank < 0 || (tensor.rank > 0 && tensor.dims == nullptr)) {
    return Fail(ErrorCode::kInvalidArgument,
                "a tensor of rank " + std::to_string(tensor.rank) +
                    (tensor.rank < 0 ? "" : " without dims"));
  }
  if (tensor.dtype < 0 || tensor.dtype > 255 ||
      !IsValidDType(static_cast<uint8_t>(tensor.dtype))) {
    return Fail(ErrorCode::kInvalidArgument,
                "dtype " + std::to_string(tensor.dtype) + " is none");
  }
  const auto rank = static_cast<std::size_t>(tensor.rank);
  TensorView view;
  view.dtype = static_cast<DType>(tensor.dtype);
  view.dims = {tensor.dims, rank};
  if (tensor.strides != nullptr) view.strides = {tensor.strides, rank};
  view.data = tensor.data;
  view.byte_size = static_cast<int64_t>(tensor.byte_size);
  return view;
}

ebb_tensor ToApi(const TensorView& view) {
  return {.dtype = static_cast<int32_t>(view.dtype),
          .rank = static_cast<int32_t>(view.dims.size()),
          .dims = view.dims.data(),
          .strides = view.strides.empty() ? nullptr : view.strides.data(),
          .data = view.data,
          .byte_size = static_cast<std::size_t>(view.byte_size)};
}

}  // namespace ebb::vm

using ebb::Status;
using ebb::vm::Guarded;

const char* ebb_version(void) { return EBB_VERSION; }

ebb_code ebb_error_code(const ebb_error* error) {
  return error == nullptr ? EBB_OK : error->code;
}

const char* ebb_error_message(const ebb_error* error) {
  return error == nullptr ? "" : error->message.c_str();
}

const char* ebb_error_where(const ebb_error* error) {
  return error == nullptr ? "" : error->where.c_str();
}

const char* ebb_code_name(ebb_code code) {
  if (code == EBB_OK) return "ok";
  if (code < EBB_INVALID_ARGUMENT || code > EBB_LIMIT) return "unknown";
  return ebb::ErrorCodeName(static_cast<ebb::ErrorCode>(code));
}

ebb_error* ebb_error_create(ebb_code code, const char* message) {
  return Guarded([&]() -> Status {
    const bool known = code >= EBB_INVALID_ARGUMENT && code <= EBB_LIMIT;
    return ebb::Fail(known ? static_cast<ebb::ErrorCode>(code)
                           : ebb::ErrorCode::kInvalidArgument,
                     message == nullptr ? "no message" : message);
  });
}

void ebb_error_release(ebb_error* error) {
  if (error != ebb::vm::MakeOutOfMemoryError()) delete error;
}

const char* ebb_dtype_name(int32_t dtype) {
  if (dtype < 0 || dtype > 255 ||
      !ebb::IsValidDType(static_cast<uint8_t>(dtype))) {
    return "invalid";
  }
  // The names are literals, so a terminator follows them.
  return ebb::DTypeName(static_cast<ebb::DType>(dtype)).data();
}

int32_t ebb_dtype_bits(int32_t dtype) {
  if (dtype < 0 || dtype > 255 ||
      !ebb::IsValidDType(static_cast<uint8_t>(dtype))) {
    return 0;
  }
  return ebb::DTypeBits(static_cast<ebb::DType>(dtype));
}

ebb_error* ebb_program_load_file(const char* path,
                                 const ebb_load_options* options,
                                 ebb_program** program) {
  return Guarded([&]() -> Status {
    TRY(const ebb_load_options read, ebb::vm::ReadOptions(options));
    TRY(auto load, ebb::vm::MakeLoadOptions(read));
    TRY(ebb::vm::ProgramRef ref,
        ebb::vm::Program::LoadFile(path, std::move(load)));
    TRY(*program, ebb::vm::MakeApiProgram(std::move(ref)));
    return {};
  });
}

ebb_error* ebb_program_load_bytes(const void* bytes, size_t size,
                                  const ebb_load_options* options,
                                  ebb_program** program) {
  return Guarded([&]() -> Status {
    TRY(const ebb_load_options read, ebb::vm::ReadOptions(options));
    TRY(auto load, ebb::vm::MakeLoadOptions(read));
    TRY(ebb::vm::ProgramRef ref,
        ebb::vm::Program::LoadBytes(
            {static_cast<const std::byte*>(bytes), size},
            read.copy_bytes != 0 ? ebb::vm::Program::Bytes::kCopy
                                 : ebb::vm::Program::Bytes::kBorrow,
            std::move(load)));
    TRY(*program, ebb::vm::MakeApiProgram(std::move(ref)));
    return {};
  });
}

void ebb_program_retain(ebb_program* program) {
  program->references.fetch_add(1, std::memory_order_relaxed);
}

void ebb_program_release(ebb_program* program) {
  if (program != nullptr &&
      program->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete program;
  }
}

size_t ebb_program_input_count(const ebb_program* program) {
  return program->inputs.size();
}

size_t ebb_program_output_count(const ebb_program* program) {
  return program->outputs.size();
}

ebb_error* ebb_program_input_info(const ebb_program* program, size_t index,
                                  ebb_info* info) {
  return Guarded([&]() -> Status {
    return ebb::vm::CopyInfo(program->inputs, index, "input", info);
  });
}

ebb_error* ebb_program_output_info(const ebb_program* program, size_t index,
                                   ebb_info* info) {
  return Guarded([&]() -> Status {
    return ebb::vm::CopyInfo(program->outputs, index, "output", info);
  });
}

ebb_error* ebb_program_input_index(const ebb_program* program, const char* name,
                                   size_t* index) {
  return Guarded([&]() -> Status {
    return ebb::vm::FindIndex(program->inputs, name, "input", index);
  });
}

ebb_error* ebb_program_output_index(const ebb_program* program,
                                    const char* name, size_t* index) {
  return Guarded([&]() -> Status {
    return ebb::vm::FindIndex(program->outputs, name, "output", index);
  });
}

const char* ebb_program_producer(const ebb_program* program) {
  return ebb::vm::ModuleOf(program).producer.c_str();
}

const char* ebb_program_target(const ebb_program* program) {
  return ebb::vm::ModuleOf(program).target.c_str();
}

size_t ebb_program_metadata_count(const ebb_program* program) {
  return ebb::vm::ModuleOf(program).metadata.size();
}

const char* ebb_program_metadata_key(const ebb_program* program, size_t index) {
  const auto& metadata = ebb::vm::ModuleOf(program).metadata;
  return index < metadata.size() ? metadata[index].first.c_str() : nullptr;
}

const char* ebb_program_metadata_value(const ebb_program* program,
                                       size_t index) {
  const auto& metadata = ebb::vm::ModuleOf(program).metadata;
  return index < metadata.size() ? metadata[index].second.c_str() : nullptr;
}
