#include "vm/session.h"

#include <algorithm>
#include <new>
#include <utility>

#include "vm/interpreter.h"
#include "vm/worker_pool.h"

namespace ebb::vm {

std::optional<TensorView> TakenValue::tensor() const {
  const Tensor* tensor = AsTensor(kept_->value);
  if (tensor == nullptr) return std::nullopt;
  return ViewOf(*tensor);
}

TensorView ViewOf(const Tensor& tensor) {
  TensorView view{.dtype = tensor.dtype,
                  .dims = tensor.Dims(),
                  .strides = {},
                  .data = tensor.data,
                  .byte_size = 0};
  const auto extent = ExtentOf(tensor.dtype, tensor.Dims(), tensor.Strides());
  if (extent.has_value()) {
    view.byte_size = extent->high;
  } else {
    // Strings: the block begins with the tensor.
    view.byte_size = tensor.storage->bytes -
                     static_cast<int64_t>(tensor.data - tensor.storage->data);
  }
  return view;
}

Session::Session(ProgramRef program, const SessionOptions& options)
    : program_(std::move(program)), options_(options) {}

Expected<std::unique_ptr<Session>> Session::Create(ProgramRef program,
                                                   SessionOptions options) {
  if (options.call_depth_limit == 0) {
    return Fail(ErrorCode::kInvalidArgument, "the limit of call depth is 0");
  }
  std::unique_ptr<Session> session(new Session(std::move(program), options));
  session->options_.callbacks = nullptr;
  TRY(session->memory_,
      Memory::Create({.kind = options.allocator,
                      .limit_bytes = options.memory_limit_bytes,
                      .backing = options.backing,
                      .callbacks = options.callbacks,
                      .allocator = options.custom_allocator}));
  const bytecode::Module& module = session->program_->module();
  session->memory_->set_names(&module);
  session->memory_->set_observer(options.observer);
  WorkerPool* workers = options.workers;
  if (workers == nullptr && options.threads != 1) {
    TRY(session->own_workers_, WorkerPool::Create(options.threads));
    workers = session->own_workers_.get();
  }
  session->interpreter_ = std::make_unique<Interpreter>(
      *session->program_, *session->memory_, workers, session->options_,
      session->cancelled_);
  const bytecode::Function& entry = session->program_->entry();
  session->inputs_.resize(entry.params.size());
  session->outputs_.resize(entry.results.size());
  session->symbols_.resize(module.strings.size());
  return session;
}

Session::~Session() {
  if (memory_ == nullptr) return;
  ClearInputs();
  ReleaseOutputs();
  interpreter_.reset();
  memory_->Close();
}

Status Session::Run() {
  if (running_.exchange(true, std::memory_order_acquire)) {
    return Fail(ErrorCode::kInvalidArgument,
                "the session is running already; use one session per thread");
  }
  // Whatever the way out, nothing of the run is held but its outputs.
  struct Ending {
    Session& session;
    ~Ending() { session.EndRun(); }
  } ending{*this};
  cancelled_.store(false, std::memory_order_relaxed);
  memory_->Drain();
  ReleaseOutputs();
  NoteHighWater();
  ++run_count_;
  const uint64_t hits = interpreter_->compute().handles().hits();
  const uint64_t misses = interpreter_->compute().handles().misses();
  const auto run = [&]() -> Status {
    RETURN_IF_ERROR(GatherArguments());
    RETURN_IF_ERROR(interpreter_->Run(arguments_, results_));
    return DeliverOutputs();
  };
  Status status = run();
  const allocator::Stats memory = memory_->allocator().stats();
  last_run_ = {
      .live_high_water = memory.live_high_water,
      .requested_high_water = memory.requested_high_water,
      .reserved_high_water = memory.reserved_high_water,
      .instruction_count = interpreter_->instruction_count(),
      .handle_hits = interpreter_->compute().handles().hits() - hits,
      .handle_misses = interpreter_->compute().handles().misses() - misses};
  has_outputs_ = status.has_value();
  return status;
}

void Session::EndRun() {
  for (std::vector<Value*>* list : {&arguments_, &results_}) {
    for (Value* value : *list) {
      if (value != nullptr) memory_->Release(value);
    }
    list->clear();
  }
  ClearInputs();
  if (!has_outputs_) ReleaseOutputs();
  running_.store(false, std::memory_order_release);
}

// The allocator's marks are reset before each run, to know those of the run.
void Session::NoteHighWater() {
  const allocator::Stats memory = memory_->allocator().stats();
  marks_.live_high_water =
      std::max(marks_.live_high_water, memory.live_high_water);
  marks_.requested_high_water =
      std::max(marks_.requested_high_water, memory.requested_high_water);
  marks_.reserved_high_water =
      std::max(marks_.reserved_high_water, memory.reserved_high_water);
  memory_->allocator().ResetHighWater();
}

SessionStats Session::stats() const {
  SessionStats stats;
  const Compute& compute = interpreter_->compute();
  stats.memory = memory_->allocator().stats();
  stats.memory.live_high_water =
      std::max(stats.memory.live_high_water, marks_.live_high_water);
  stats.memory.requested_high_water =
      std::max(stats.memory.requested_high_water, marks_.requested_high_water);
  stats.memory.reserved_high_water =
      std::max(stats.memory.reserved_high_water, marks_.reserved_high_water);
  stats.last_run = last_run_;
  stats.weights = program_->weight_stats();
  stats.object_bytes = memory_->object_bytes();
  stats.register_bytes = interpreter_->register_bytes();
  stats.live_value_count = memory_->live_value_count();
  stats.run_count = run_count_;
  stats.handle_count = compute.handles().size();
  stats.handle_hits = compute.handles().hits();
  stats.handle_misses = compute.handles().misses();
  stats.handle_evictions = compute.handles().evictions();
  stats.copied_input_count = copied_input_count_;
  stats.scratch_fallback_count = compute.scratch_fallback_count();
  return stats;
}

void Session::ResetHighWater() {
  marks_ = {};
  memory_->allocator().ResetHighWater();
}

void Session::Trim() {
  memory_->Drain();
  interpreter_->compute().handles().Clear();
  memory_->allocator().Trim();
}

void Session::set_memory_limit_bytes(uint64_t limit) {
  memory_->Drain();
  memory_->set_limit_bytes(limit);
}

}  // namespace ebb::vm
