// Watches a session: each instruction before and after, and each event of the
// memory. All calls come on the thread that runs the session, in between two
// steps; an observer must not call the session. Costs nothing when unset.
//
//   class Tracer : public vm::Observer {
//     void OnMemory(const vm::MemoryEvent& event) override { … }
//   };
//   options.observer = &tracer;
#ifndef EBB_VM_OBSERVER_H_
#define EBB_VM_OBSERVER_H_

#include <cstdint>
#include <string_view>

#include "bytecode/module.h"

namespace ebb::vm {

// Which instruction; the module tells the rest.
struct InstructionEvent {
  const bytecode::Module& module;
  bytecode::FunctionId function;
  uint32_t instruction;
};

enum class MemoryEventKind : uint8_t {
  kAllocate,  // A buffer for which the allocator had to ask its backing.
  kReuse,     // A buffer out of what the allocator held already.
  kKill,      // A register's hold on a value ended by an instruction.
  kRelease,   // The last hold ended: the buffer goes back to the allocator.
};

struct MemoryEvent {
  MemoryEventKind kind;
  std::string_view name;  // Of the value, as the module calls it; may be "".
  const void* address;    // Of the buffer; nullptr for what has none.
  int64_t bytes;          // Of the buffer, or of what a killed tensor reaches.
  uint64_t live_bytes;    // Handed out by the allocator, after the event.
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void BeforeInstruction(const InstructionEvent&) {}
  // Not called for an instruction that failed.
  virtual void AfterInstruction(const InstructionEvent&) {}
  virtual void OnMemory(const MemoryEvent&) {}
};

}  // namespace ebb::vm

#endif  // EBB_VM_OBSERVER_H_
