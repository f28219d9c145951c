// The C interface: sessions. Values are in ebb_value.cc.
#include "vm/ebb_internal.h"

namespace {

// Passes the events of a session on to the embedder's functions.
class ApiObserver final : public ebb::vm::Observer {
 public:
  explicit ApiObserver(const ebb_observer& observer) : observer_(observer) {}

  void BeforeInstruction(const ebb::vm::InstructionEvent& event) override {
    Tell(event, observer_.before_instruction);
  }
  void AfterInstruction(const ebb::vm::InstructionEvent& event) override {
    Tell(event, observer_.after_instruction);
  }
  void OnMemory(const ebb::vm::MemoryEvent& event) override {
    if (observer_.memory == nullptr) return;
    name_ = event.name;
    const ebb_memory_event api{.kind = static_cast<int32_t>(event.kind),
                               .reserved = 0,
                               .name = name_.c_str(),
                               .address = event.address,
                               .bytes = static_cast<uint64_t>(event.bytes),
                               .live_bytes = event.live_bytes};
    observer_.memory(observer_.user, &api);
  }

 private:
  void Tell(const ebb::vm::InstructionEvent& event,
            void (*sink)(void* user, const ebb_instruction* instruction));

  const ebb_observer observer_;
  // Text of the event at hand, for its terminator.
  std::string name_;
  std::string mnemonic_;
  std::string operator_;
};

void ApiObserver::Tell(const ebb::vm::InstructionEvent& event,
                       void (*sink)(void*, const ebb_instruction*)) {
  using ebb::bytecode::Opcode;
  if (sink == nullptr) return;
  const ebb::bytecode::Module& module = event.module;
  const ebb::bytecode::Function& function = module.function(event.function);
  const ebb::bytecode::Instruction& instruction =
      function.code[event.instruction];
  mnemonic_ = ebb::bytecode::InfoOf(instruction.opcode).mnemonic;
  operator_.clear();
  ebb_instruction api{
      .function = module.string(function.name).c_str(),
      .index = event.instruction,
      .mnemonic = mnemonic_.c_str(),
      .op = "",
      .node = "",
      .value =
          function.value_names.empty()
              ? ""
              : module.string(function.value_names[event.instruction]).c_str()};
  if (instruction.opcode == Opcode::kOp ||
      instruction.opcode == Opcode::kOpAlloc) {
    const auto site =
        static_cast<std::size_t>(function.words[instruction.first_word]);
    operator_ = ebb::InfoOf(module.sites[site].code).mnemonic;
    api.op = operator_.c_str();
    api.node = module.string(module.sites[site].node).c_str();
  }
  sink(observer_.user, &api);
}

}  // namespace

using ebb::Status;
using ebb::vm::Guarded;

namespace {

ebb::Expected<ebb::vm::SessionOptions> MakeOptions(
    const ebb_session_options& api) {
  ebb::vm::SessionOptions options;
  if (api.threads != 0) options.threads = api.threads;
  options.memory_limit_bytes = api.memory_limit_bytes;
  if (api.allocator < EBB_ALLOCATOR_POOL ||
      api.allocator > EBB_ALLOCATOR_SIZE_BUCKET) {
    return ebb::Fail(ebb::ErrorCode::kInvalidArgument,
                     "allocator " + std::to_string(api.allocator) + " is none");
  }
  options.allocator = static_cast<ebb::allocator::Kind>(api.allocator);
  switch (api.backend) {
    case EBB_BACKEND_DEFAULT:
      break;
    case EBB_BACKEND_PORTABLE:
      options.backend = ebb::kernels::Backend::kPortable;
      break;
    case EBB_BACKEND_ONEDNN:
      options.backend = ebb::kernels::Backend::kOneDnn;
      break;
    default:
      return ebb::Fail(ebb::ErrorCode::kInvalidArgument,
                       "backend " + std::to_string(api.backend) + " is none");
  }
  if (api.call_depth_limit != 0) {
    options.call_depth_limit = api.call_depth_limit;
  }
  if (api.shapes_per_operator != 0) {
    options.shapes_per_site = api.shapes_per_operator;
  }
  options.borrow_outputs = api.borrow_outputs != 0;
  return options;
}

}  // namespace

ebb_error* ebb_session_create(ebb_program* program,
                              const ebb_session_options* options,
                              ebb_session** session) {
  return Guarded([&]() -> Status {
    TRY(const ebb_session_options api, ebb::vm::ReadOptions(options));
    TRY(ebb::vm::SessionOptions made, MakeOptions(api));
    auto result = std::make_unique<ebb_session>();
    if (api.observer != nullptr) {
      TRY(const ebb_observer observer, ebb::vm::ReadOptions(api.observer));
      result->observer = std::make_unique<ApiObserver>(observer);
      made.observer = result->observer.get();
    }
    ebb::allocator::CallbackBacking::Callbacks callbacks{};
    if (api.backing != nullptr) {
      if (api.backing->allocate == nullptr || api.backing->free == nullptr) {
        return ebb::Fail(ebb::ErrorCode::kInvalidArgument,
                         "the backing lacks a function");
      }
      callbacks = {.allocate = api.backing->allocate,
                   .free = api.backing->free,
                   .user = api.backing->user};
      made.callbacks = &callbacks;
    }
    TRY(result->session, ebb::vm::Session::Create(program->program, made));
    *session = result.release();
    return {};
  });
}

void ebb_session_release(ebb_session* session) {
  if (session == nullptr) return;
  // The session may tell its observer while it ends.
  session->session.reset();
  delete session;
}

ebb_error* ebb_session_set_input(ebb_session* session, size_t index,
                                 const ebb_tensor* tensor) {
  return Guarded([&]() -> Status {
    TRY(const ebb::vm::TensorView view, ebb::vm::ViewOfApi(*tensor));
    return session->session->SetInput(index, view);
  });
}

ebb_error* ebb_session_set_input_by_name(ebb_session* session, const char* name,
                                         const ebb_tensor* tensor) {
  return Guarded([&]() -> Status {
    TRY(const std::size_t index, session->session->InputIndex(name));
    TRY(const ebb::vm::TensorView view, ebb::vm::ViewOfApi(*tensor));
    return session->session->SetInput(index, view);
  });
}

ebb_error* ebb_session_set_input_value(ebb_session* session, size_t index,
                                       const ebb_value* value) {
  return Guarded([&]() -> Status {
    return session->session->SetInputValue(index, ebb::vm::Lent(value).get());
  });
}

ebb_error* ebb_session_donate_input(ebb_session* session, size_t index,
                                    ebb_value* value) {
  return Guarded([&]() -> Status {
    return session->session->DonateInput(
        index, ebb::vm::TakenValue(ebb::vm::KeptOf(value)));
  });
}

void ebb_session_clear_inputs(ebb_session* session) {
  session->session->ClearInputs();
}

ebb_error* ebb_session_bind_output(ebb_session* session, size_t index,
                                   void* data, size_t byte_size) {
  return Guarded([&]() -> Status {
    return session->session->BindOutput(index, data,
                                        static_cast<int64_t>(byte_size));
  });
}

ebb_error* ebb_session_bind_output_by_name(ebb_session* session,
                                           const char* name, void* data,
                                           size_t byte_size) {
  return Guarded([&]() -> Status {
    TRY(const std::size_t index, session->session->OutputIndex(name));
    return session->session->BindOutput(index, data,
                                        static_cast<int64_t>(byte_size));
  });
}

ebb_error* ebb_session_unbind_output(ebb_session* session, size_t index) {
  return Guarded([&]() -> Status {
    if (index >= session->session->output_count()) {
      return ebb::Fail(ebb::ErrorCode::kInvalidArgument,
                       "output " + std::to_string(index) + " of " +
                           std::to_string(session->session->output_count()));
    }
    session->session->UnbindOutput(index);
    return {};
  });
}

ebb_error* ebb_session_run(ebb_session* session) {
  return Guarded([&]() -> Status { return session->session->Run(); });
}

void ebb_session_cancel(ebb_session* session) { session->session->Cancel(); }

ebb_error* ebb_session_output(ebb_session* session, size_t index,
                              ebb_tensor* tensor) {
  return Guarded([&]() -> Status {
    TRY(const ebb::vm::TensorView view, session->session->Output(index));
    *tensor = ebb::vm::ToApi(view);
    return {};
  });
}

ebb_error* ebb_session_output_by_name(ebb_session* session, const char* name,
                                      ebb_tensor* tensor) {
  return Guarded([&]() -> Status {
    TRY(const std::size_t index, session->session->OutputIndex(name));
    TRY(const ebb::vm::TensorView view, session->session->Output(index));
    *tensor = ebb::vm::ToApi(view);
    return {};
  });
}

ebb_error* ebb_session_take_output(ebb_session* session, size_t index,
                                   ebb_value** value) {
  return Guarded([&]() -> Status {
    TRY(ebb::vm::TakenValue taken, session->session->Take(index));
    *value = ebb::vm::ToApi(std::move(taken));
    return {};
  });
}

void ebb_session_release_outputs(ebb_session* session) {
  session->session->ReleaseOutputs();
}

ebb_error* ebb_session_stats(const ebb_session* session, ebb_stats* stats) {
  return Guarded([&]() -> Status {
    const ebb::vm::SessionStats from = session->session->stats();
    const ebb_stats api{
        .struct_size = sizeof(ebb_stats),
        .live_bytes = from.memory.live_bytes,
        .cached_bytes = from.memory.cached_bytes,
        .reserved_bytes = from.memory.reserved_bytes,
        .live_high_water_bytes = from.memory.live_high_water,
        .reserved_high_water_bytes = from.memory.reserved_high_water,
        .run_live_high_water_bytes = from.last_run.live_high_water,
        .run_reserved_high_water_bytes = from.last_run.reserved_high_water,
        .weight_in_place_bytes = from.weights.in_place_bytes,
        .weight_owned_bytes = from.weights.owned_bytes,
        .overhead_bytes = from.object_bytes + from.register_bytes,
        .run_count = from.run_count,
        .instruction_count = from.last_run.instruction_count,
        .allocate_count = from.memory.allocate_count,
        .reuse_count = from.memory.reuse_count,
        .handle_count = from.handle_count,
        .handle_hit_count = from.handle_hits,
        .handle_miss_count = from.handle_misses};
    return ebb::vm::WriteResult(api, stats);
  });
}

void ebb_session_reset_high_water(ebb_session* session) {
  session->session->ResetHighWater();
}

void ebb_session_trim(ebb_session* session) { session->session->Trim(); }

void ebb_session_set_memory_limit(ebb_session* session, uint64_t bytes) {
  session->session->set_memory_limit_bytes(bytes);
}
