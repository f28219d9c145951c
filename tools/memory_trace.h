// Which buffers a run takes, what for, and from when to when they are needed.
//
// The observer follows the instructions with registers of its own, which hold
// the buffers behind a value in place of the value, so it knows for each buffer
// the first and the last instruction that reads, writes or measures a tensor in
// it. Kills are not looked at: the trace of a program tells how long its
// buffers are needed, whether they are killed then, later or never. That makes
// `LowerBound` an independent check on the kills: the most bytes needed at one
// time, whatever frees them, in the order in which the program does its work.
// No run of it in this order can need less.
//
// An object (tuple, sequence, optional, closure) counts as using all that was
// put into it, and what is taken out of one as all of it.
//
//   MemoryTrace trace;
//   options.observer = &trace;  // of a new session
//   RETURN_IF_ERROR(session->Run());
//   trace.Finish();
//   trace.LowerBound()
//
// One run of one session. The module must outlive the trace.
#ifndef EBB_TOOLS_MEMORY_TRACE_H_
#define EBB_TOOLS_MEMORY_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bytecode/module.h"
#include "vm/observer.h"

namespace ebb::tools {

enum class BufferUse : uint8_t {
  kActivation,
  kScratch,      // Only ever an operator's scratch.
  kOutput,       // Returned to the caller.
  kCopiedInput,  // A copy that the session made of an input.
};
std::string_view BufferUseName(BufferUse use);

// Steps count the instructions of the run from 1; 0 is before the first.
struct TracedBuffer {
  std::string name;  // Of the value, "" without debug names.
  std::string node;  // That first wrote it, or whose scratch it is.
  std::string op;
  uint64_t bytes = 0;  // In whole granules of the allocator.
  BufferUse use = BufferUse::kActivation;
  uint64_t allocated = 0;
  uint64_t released = 0;    // kNever: not in this run.
  uint64_t first_used = 0;  // kNever: allocated and not used.
  uint64_t last_used = 0;
};

// The most bytes at one time, and the step where they are reached first.
struct Peak {
  uint64_t bytes = 0;
  uint64_t step = 0;
};

class MemoryTrace : public vm::Observer {
 public:
  static constexpr uint64_t kNever = UINT64_MAX;

  void BeforeInstruction(const vm::InstructionEvent& event) override;
  void OnMemory(const vm::MemoryEvent& event) override;
  // After the run; the results below are valid then.
  void Finish();

  std::span<const TracedBuffer> buffers() const { return buffers_; }
  // All buffers together: what is needed when nothing is ever freed.
  uint64_t TotalBytes() const;
  // From the first to the last use of each buffer.
  Peak LowerBound() const;
  // From allocation to release: what the run did.
  Peak Measured() const { return measured_; }
  // Places in buffers() of those with bytes, allocated and not yet released
  // while a step ran, the largest first.
  std::vector<std::size_t> LiveAt(uint64_t step) const;
  // The operator that ran at this step or next after it: "conv (node)".
  std::string OperatorAt(uint64_t step) const;

 private:
  // The buffers that may be behind a register.
  using Behind = std::vector<uint32_t>;
  struct Frame {
    bytecode::FunctionId function;
    std::vector<Behind> holds;
  };
  struct Place {
    uint64_t step;
    bytecode::SiteId site;
  };

  // The effect of an instruction on the registers is applied when its events
  // are in: when the next one begins, which for a call is in the callee.
  void Apply(bytecode::FunctionId next_function);
  void ApplyCall(bytecode::FunctionId callee);
  void ApplyReturn();
  void ApplyOperator();
  void ApplyOther();
  // Visits the operands of the instruction in hand.
  template <class Visitor>
  void Operands(Visitor&& visitor) const;
  void Use(const Behind& behind, bytecode::SiteId site = {},
           bool as_scratch = false);
  // To the buffers behind `to`, each once.
  static void Join(Behind& to, const Behind& from);
  const bytecode::Instruction& instruction() const;
  Behind& hold(int64_t index) {
    return frames_.back().holds[static_cast<std::size_t>(index)];
  }

  const bytecode::Module* module_ = nullptr;
  std::vector<TracedBuffer> buffers_;
  std::unordered_map<const void*, uint32_t> at_address_;
  std::vector<Frame> frames_;
  // Where the results of each call in progress go.
  std::vector<std::vector<int64_t>> results_;
  std::vector<uint32_t> new_buffers_;  // Of the instruction in hand.
  std::vector<uint8_t> has_tensor_;    // By buffer: its name is a tensor's.
  std::vector<Place> operators_;
  uint64_t live_bytes_ = 0;
  Peak measured_;
  uint64_t step_ = 0;
  uint32_t instruction_ = 0;
  bool is_over_ = false;
};

}  // namespace ebb::tools

#endif  // EBB_TOOLS_MEMORY_TRACE_H_
