// The C interface: external functions.
#include "vm/ebb_internal.h"
#include "vm/external.h"

struct ebb_call {
  ebb::vm::ExternalCall& call;
};

namespace ebb::vm {

Expected<Program::LoadOptions> MakeLoadOptions(
    const ebb_load_options& options) {
  Program::LoadOptions result;
  for (std::size_t i = 0; i < options.external_count; ++i) {
    const ebb_external& external = options.externals[i];
    if (external.name == nullptr || external.function == nullptr) {
      return Fail(ErrorCode::kInvalidArgument,
                  "external function " + std::to_string(i) +
                      " has no name or no function");
    }
    const auto run = [function = external.function,
                      user = external.user](ExternalCall& call) -> Status {
      ebb_call api_call{call};
      ebb_error* error = function(user, &api_call);
      if (error == nullptr) return {};
      Error copy{static_cast<ErrorCode>(error->code), error->message, {}};
      ebb_error_release(error);
      return std::unexpected(std::move(copy));
    };
    result.externals.push_back({external.name, run});
  }
  if (options.log != nullptr) {
    result.log = [log = options.log,
                  user = options.log_user](const std::string& message) {
      log(user, message.c_str());
    };
  }
  return result;
}

}  // namespace ebb::vm

using ebb::Status;
using ebb::vm::Guarded;

size_t ebb_call_argument_count(const ebb_call* call) {
  return call->call.arguments().size();
}

size_t ebb_call_int_count(const ebb_call* call) {
  return call->call.ints().size();
}

size_t ebb_call_result_count(const ebb_call* call) {
  return call->call.result_count();
}

ebb_error* ebb_call_tensor(const ebb_call* call, size_t index,
                           ebb_tensor* tensor, int32_t* is_writable) {
  return Guarded([&]() -> Status {
    TRY(const ebb::vm::Tensor* argument, call->call.TensorArgument(index));
    ebb::vm::TensorView view = ebb::vm::ViewOf(*argument);
    view.strides = argument->Strides();
    *tensor = ebb::vm::ToApi(view);
    if (is_writable != nullptr) *is_writable = argument->writable ? 1 : 0;
    return {};
  });
}

ebb_error* ebb_call_object(const ebb_call* call, size_t index, void** object) {
  return Guarded([&]() -> Status {
    const auto arguments = call->call.arguments();
    const ebb::vm::Object* found = index < arguments.size()
                                       ? ebb::vm::AsObject(arguments[index])
                                       : nullptr;
    if (found == nullptr || found->kind != ebb::vm::ValueKind::kOpaque) {
      return ebb::Fail(ebb::ErrorCode::kInvalidArgument,
                       "argument " + std::to_string(index) + " of " +
                           std::to_string(arguments.size()) +
                           " is not an object of the embedder");
    }
    *object = found->opaque;
    return {};
  });
}

int64_t ebb_call_int(const ebb_call* call, size_t index) {
  const auto ints = call->call.ints();
  return index < ints.size() ? ints[index] : 0;
}

ebb_error* ebb_call_make_tensor(ebb_call* call, size_t index, int32_t dtype,
                                int32_t rank, const int64_t* dims,
                                void** data) {
  return Guarded([&]() -> Status {
    TRY(const ebb::vm::TensorView view, ebb::vm::ViewOfApi({.dtype = dtype,
                                                            .rank = rank,
                                                            .dims = dims,
                                                            .strides = nullptr,
                                                            .data = nullptr,
                                                            .byte_size = 0}));
    TRY(ebb::vm::Tensor * tensor,
        call->call.MakeTensorResult(index, view.dtype, view.dims));
    *data = tensor->data;
    return {};
  });
}

ebb_error* ebb_call_share_argument(ebb_call* call, size_t index,
                                   size_t argument) {
  return Guarded(
      [&]() -> Status { return call->call.ShareArgument(index, argument); });
}

ebb_error* ebb_call_make_object(ebb_call* call, size_t index, void* object,
                                void (*release)(void* object)) {
  return Guarded([&]() -> Status {
    return call->call.MakeOpaqueResult(index, object, release);
  });
}
