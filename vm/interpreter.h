// Executes bytecode: a switch loop over pre-decoded instructions.
//
// Registers lie in two banks that grow, one of integers and one of holds; a
// frame is a window of each. Calls push a frame and do not recurse. A verified
// module names no register out of its frame and uses none that was killed;
// what kind of value a register holds is checked here. Whatever the end of a
// run, all frames are unwound and every hold is released.
//
// Part of one session.
#ifndef EBB_VM_INTERPRETER_H_
#define EBB_VM_INTERPRETER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/module.h"
#include "bytecode/opcodes.h"
#include "bytecode/operand_reader.h"
#include "vm/compute.h"
#include "vm/memory.h"
#include "vm/program.h"
#include "vm/session.h"
#include "vm/worker_pool.h"

namespace ebb::vm {

class Interpreter {
 public:
  // `cancelled` is looked at before every instruction.
  Interpreter(const Program& program, Memory& memory, WorkerPool* workers,
              const SessionOptions& options,
              const std::atomic<bool>& cancelled);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // Takes over one hold of each argument, also on an error; each result comes
  // with one.
  Status Run(std::vector<Value*>& arguments, std::vector<Value*>& results);

  Compute& compute() { return compute_; }
  const Compute& compute() const { return compute_; }
  uint64_t instruction_count() const { return instruction_count_; }
  uint64_t register_bytes() const {
    return ints_.capacity() * sizeof(int64_t) +
           holds_.capacity() * sizeof(Value*) +
           frames_.capacity() * sizeof(Frame);
  }
  // Of a constant, in the form the program keeps it in. Not a new hold.
  Expected<Tensor*> Constant(bytecode::ConstantId id);
  // A tensor like it with all elements dense; a new hold.
  Expected<Tensor*> Plain(Tensor& tensor);
  // Lets the constants' records go.
  void ReleaseConstants();

 private:
  struct Frame {
    const bytecode::Function* function = nullptr;
    bytecode::FunctionId id;
    uint32_t pc = 0;  // Where it goes on when its callee returns.
    std::size_t first_int = 0;
    std::size_t first_hold = 0;
    // Operands of the caller's instruction: the registers for the results.
    // nullptr for the entry.
    const int64_t* results = nullptr;
  };

  Status Loop();
  Status Step(bytecode::Opcode opcode, bytecode::OperandReader& in,
              int64_t* ints, Value** holds);
  void Unwind();

  // Calls (interpreter_calls.cc). A frame is entered with its arguments in
  // `passed_`.
  Status Enter(bytecode::FunctionId id, const int64_t* results);
  Status Call(bytecode::OperandReader& in, Value** holds);
  Status CallExternal(bytecode::OperandReader& in, const int64_t* ints,
                      Value** holds);
  Status MakeClosure(bytecode::OperandReader& in, Value** holds);
  Status CallClosure(bytecode::OperandReader& in, Value** holds);
  Status Return(bytecode::OperandReader& in, Value** holds);
  void TakePasses(bytecode::OperandReader& in, Value** holds);
  Value* TakePass(bytecode::OperandReader& in, Value** holds);

  // Memory (interpreter_memory.cc).
  Status AllocStorage(bytecode::OperandReader& in, const int64_t* ints,
                      Value** holds);
  Status AllocTensor(bytecode::OperandReader& in, const int64_t* ints,
                     Value** holds);
  Status View(bytecode::OperandReader& in, const int64_t* ints, Value** holds);
  Status ReadShape(bytecode::OperandReader& in, const int64_t* ints,
                   Tensor& shape);
  Status CheckPlaced(const Tensor& tensor, int64_t offset) const;
  void Kill(bytecode::OperandReader& in, Value** holds);
  Status LoadConstant(bytecode::OperandReader& in, Value** holds);

  // Objects (interpreter_values.cc).
  Status MakeObject(ValueKind kind, bytecode::OperandReader& in, Value** holds);
  Status GetField(bytecode::OperandReader& in, const int64_t* ints,
                  Value** holds);
  Status SequenceInsert(bytecode::OperandReader& in, const int64_t* ints,
                        Value** holds);
  Status SequenceErase(bytecode::OperandReader& in, const int64_t* ints,
                       Value** holds);
  Expected<Object*> TakeSequence(bytecode::OperandReader& in, Value** holds);
  Status LengthOf(bytecode::OperandReader& in, int64_t* ints, Value** holds);

  // Integers and checks (interpreter_integers.cc).
  Status DimOf(bytecode::OperandReader& in, int64_t* ints, Value** holds);
  Status LoadInteger(bytecode::OperandReader& in, int64_t* ints, Value** holds);
  Status StoreIntegers(bytecode::OperandReader& in, const int64_t* ints,
                       Value** holds);
  Status AssertEqual(bytecode::OperandReader& in, const int64_t* ints);
  Status AssertRange(bytecode::OperandReader& in, const int64_t* ints);
  Status AssertTensor(bytecode::OperandReader& in, Value** holds);
  // Why the binary instruction at hand has no result.
  std::unexpected<Error> Trap(const int64_t* ints) const;

  // Puts a value, with its hold, into a register.
  void Define(Value** holds, int64_t hold, Value* value);
  // Errors at the instruction at hand.
  std::unexpected<Error> FailHere(ErrorCode code, std::string message) const;
  std::unexpected<Error> FailHere(Error error) const;
  std::unexpected<Error> WrongKind(const Value* value,
                                   const char* wanted) const;
  std::unexpected<Error> NoMemory(int64_t bytes) const;
  // What the instruction at hand defines is called; none without debug names.
  bytecode::StringId NameHere() const;
  void TellBefore() const;
  void TellAfter(bytecode::FunctionId function, uint32_t pc) const;

  const Program& program_;
  const bytecode::Module& module_;
  Memory& memory_;
  const std::atomic<bool>& cancelled_;
  Observer* const observer_;
  const uint32_t depth_limit_;
  Compute compute_;

  std::vector<int64_t> ints_;
  std::vector<Value*> holds_;
  std::vector<Frame> frames_;
  uint32_t pc_ = 0;  // Of the instruction at hand, in the last frame.
  uint64_t instruction_count_ = 0;
  std::vector<Tensor*> constants_;  // By id; made when first used.

  std::vector<Value*> passed_;     // On their way into or out of a frame.
  std::vector<int64_t> int_list_;  // Of the instruction at hand.
  std::vector<Value*> external_arguments_;
  std::vector<Value*> external_results_;
  std::vector<Value*>* run_results_ = nullptr;
};

}  // namespace ebb::vm

#endif  // EBB_VM_INTERPRETER_H_
