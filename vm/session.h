// Runs a program: registers, memory, prepared kernels, inputs and outputs. One
// thread at a time uses a session (a second one that calls Run meanwhile gets
// an error); only `Cancel` may be called from anywhere. Takes no locks.
//
// Inputs are set before each run and forgotten when it ends, however it ends.
// They are used without copying: the caller's memory must stay valid and
// unchanged until Run returns. Copied all the same are strided and misaligned
// inputs, and those whose parameter is donated unless nobody else holds them.
//
// Outputs belong to the session until its next run or end; `Take` keeps one
// longer without copying, `BindOutput` has it copied into the caller's memory.
// The memory of an output may be set as an input of the next run.
//
// After a failed run nothing is held any more and the session runs again.
//
//   TRY(auto session, vm::Session::Create(program, {.threads = 2}));
//   RETURN_IF_ERROR(session->SetInput(0, {.dtype = DType::kF32, …}));
//   RETURN_IF_ERROR(session->Run());
//   TRY(vm::TensorView y, session->Output(0));
#ifndef EBB_VM_SESSION_H_
#define EBB_VM_SESSION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/allocator.h"
#include "allocator/backing.h"
#include "bytecode/error.h"
#include "vm/kernels/kernel.h"
#include "vm/memory.h"
#include "vm/observer.h"
#include "vm/program.h"
#include "vm/tensor_view.h"
#include "vm/value.h"

namespace ebb::vm {

class Interpreter;
class WorkerPool;

struct SessionOptions {
  int threads = 1;                  // Of one run; the calling one included.
  uint64_t memory_limit_bytes = 0;  // 0: none.
  allocator::Kind allocator = allocator::Kind::kPool;
  kernels::Backend backend = kernels::DefaultBackend();
  uint32_t call_depth_limit = 10'000;
  // Prepared kernels that are kept: per operator of the program (one per
  // combination of shapes), and of all operators together.
  uint32_t shapes_per_site = 8;
  uint32_t shapes_in_all = 16'384;
  // Hand out outputs that are an input or a constant without copying them.
  // They are valid only as long as the caller's input is.
  bool borrow_outputs = false;
  // Borrowed, and outlives taken values; nullptr: pages.
  allocator::Backing* backing = nullptr;
  // In place of a backing: the embedder's functions, copied by Create.
  const allocator::CallbackBacking::Callbacks* callbacks = nullptr;
  // Borrowed, in place of the kind above; for tests.
  allocator::Allocator* custom_allocator = nullptr;
  // Borrowed, used by one session at a time; nullptr: workers of its own.
  WorkerPool* workers = nullptr;
  Observer* observer = nullptr;  // Borrowed; nullptr: none.
};

struct RunStats {
  // Marks of the run alone, inputs of the caller and weights not counted.
  uint64_t live_high_water = 0;  // In the allocator's granules.
  uint64_t requested_high_water = 0;
  uint64_t reserved_high_water = 0;  // Holes and what is kept for later too.
  uint64_t instruction_count = 0;
  uint64_t handle_hits = 0;
  uint64_t handle_misses = 0;
};

struct SessionStats {
  // High-water marks are those since ResetHighWater.
  allocator::Stats memory;
  RunStats last_run;
  WeightStats weights;        // Of the program, shared by its sessions.
  uint64_t object_bytes = 0;  // Records of values.
  uint64_t register_bytes = 0;
  uint64_t live_value_count = 0;
  uint64_t run_count = 0;
  uint64_t handle_count = 0;  // Prepared kernels that are kept now.
  uint64_t handle_hits = 0;   // Since the session began.
  uint64_t handle_misses = 0;
  uint64_t handle_evictions = 0;
  uint64_t copied_input_count = 0;
  // Operators whose scratch the program did not give, or gave too small.
  uint64_t scratch_fallback_count = 0;
};

// A hold on a value that was taken out of its session. Valid after later runs
// and after the session's end, and may be dropped on any thread. Its memory
// counts in the session until then.
class TakenValue {
 public:
  TakenValue() = default;
  explicit TakenValue(Kept* kept) : kept_(kept) {}
  TakenValue(TakenValue&& other) noexcept
      : kept_(std::exchange(other.kept_, nullptr)) {}
  TakenValue& operator=(TakenValue&& other) noexcept {
    std::swap(kept_, other.kept_);
    return *this;
  }
  ~TakenValue() {
    if (kept_ != nullptr) Memory::Drop(kept_);
  }

  bool valid() const { return kept_ != nullptr; }
  const Value* value() const { return kept_->value; }
  Kept* get() const { return kept_; }
  Kept* release() { return std::exchange(kept_, nullptr); }
  // nullopt when it is not a tensor.
  std::optional<TensorView> tensor() const;

 private:
  Kept* kept_ = nullptr;
};

// The view of a dense tensor value.
TensorView ViewOf(const Tensor& tensor);

class Session {
 public:
  static Expected<std::unique_ptr<Session>> Create(ProgramRef program,
                                                   SessionOptions options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Program& program() const { return *program_; }
  std::size_t input_count() const { return inputs_.size(); }
  std::size_t output_count() const { return outputs_.size(); }
  // kNotFound names what there is.
  Expected<std::size_t> InputIndex(std::string_view name) const;
  Expected<std::size_t> OutputIndex(std::string_view name) const;

  // Checks dtype, rank and fixed dims at once; equal symbols when it runs.
  Status SetInput(std::size_t index, const TensorView& tensor);
  // A value of this session without copying; one of another session as the
  // caller's memory.
  Status SetInputValue(std::size_t index, const TakenValue& value);
  // Gives the hold up, so that a donated parameter takes it over.
  Status DonateInput(std::size_t index, TakenValue value);
  void ClearInputs();

  // The output is copied here when a run returns it; holds for later runs too,
  // until unbound. The buffer may overlap inputs, not another bound buffer,
  // and its content is unspecified after an error.
  Status BindOutput(std::size_t index, void* data, int64_t byte_size);
  void UnbindOutput(std::size_t index);

  Status Run();
  // Ends the run in progress, soon and with kCancelled. Any thread.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

  // Of the last run, which must have succeeded. The view is dense and lies in
  // the session's memory, or in the bound buffer.
  Expected<TensorView> Output(std::size_t index) const;
  // Any kind; borrowed like a view.
  Expected<const Value*> OutputValue(std::size_t index) const;
  // Keeps an output. Copied only when it shares its buffer with other values.
  Expected<TakenValue> Take(std::size_t index);
  // Lets go of all outputs before the next run does.
  void ReleaseOutputs();

  // Values to set as inputs; they count in this session's memory.
  Expected<TakenValue> MakeTensor(const TensorView& tensor);
  Expected<TakenValue> MakeSequence(std::span<const TakenValue* const> items);
  Expected<TakenValue> MakeOptional(const TakenValue* item);
  // A hold on a part of a tuple, sequence or optional.
  Expected<TakenValue> Element(const TakenValue& value, std::size_t index);

  SessionStats stats() const;
  void ResetHighWater();
  // Gives what is cached back to the backing, and forgets prepared kernels.
  void Trim();
  void set_memory_limit_bytes(uint64_t limit);

 private:
  struct InputSlot {
    Value* value = nullptr;  // One hold, when set.
  };
  struct OutputSlot {
    Value* value = nullptr;  // One hold, after a run.
    void* bound_data = nullptr;
    int64_t bound_bytes = 0;
  };

  // The size of a symbol, and the input that gave it.
  struct SymbolSize {
    uint64_t run = 0;  // Of an older run: not known.
    int64_t size = 0;
    uint32_t input = 0;
  };

  Session(ProgramRef program, const SessionOptions& options);

  // Inputs (session_inputs.cc).
  const bytecode::Type& InputType(std::size_t index) const;
  Status CheckInputIndex(std::size_t index) const;
  Status CheckInput(std::size_t index, DType dtype,
                    std::span<const int64_t> dims) const;
  Status CheckInputKind(std::size_t index, const Value& value) const;
  Status CheckSymbols();
  Status CheckOneInputsSymbols(std::size_t index,
                               std::span<const int64_t> dims);
  Expected<Tensor*> Borrow(const TensorView& tensor);
  Storage* FindOutputStorage(const std::byte* low, const std::byte* high) const;
  Expected<Value*> Argument(std::size_t index);
  Status GatherArguments();
  std::string InputText(std::size_t index) const;
  std::string TypeText(const bytecode::Type& type) const;

  // Outputs (session_outputs.cc).
  Expected<Tensor*> CopyTensor(Tensor& tensor);
  // `borrow`: what lies in the caller's or the program's memory may stay.
  static bool MustCopy(const Tensor& tensor, bool borrow);
  // Takes over a hold of the value and gives one of a value that lies in the
  // session's memory throughout.
  Expected<Value*> Owned(Value* value);
  Status OwnFields(Object& object, bool borrow);
  Status SaveFromBoundBuffers();
  Status DeliverOutputs();
  Status CopyToBound(std::size_t index);
  Expected<TakenValue> Keep(Value* value);
  std::string OutputText(std::size_t index) const;

  void EndRun();
  void NoteHighWater();

  ProgramRef program_;
  SessionOptions options_;
  Memory* memory_ = nullptr;
  std::unique_ptr<WorkerPool> own_workers_;
  std::unique_ptr<Interpreter> interpreter_;
  std::vector<InputSlot> inputs_;
  std::vector<OutputSlot> outputs_;
  std::vector<Value*> arguments_;
  std::vector<Value*> results_;
  std::vector<SymbolSize> symbols_;  // By the symbol's StringId.
  std::vector<Object*> walked_;      // Objects whose fields are looked at.
  uint64_t run_count_ = 0;
  uint64_t copied_input_count_ = 0;
  RunStats last_run_;
  allocator::Stats marks_;  // High-water marks of runs before the last.
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> running_ = false;
  bool has_outputs_ = false;
};

}  // namespace ebb::vm

#endif  // EBB_VM_SESSION_H_
