#include "vm/interpreter.h"

#include <cassert>
#include <limits>
#include <utility>

namespace ebb::vm {
namespace {

using bytecode::Opcode;
using bytecode::OperandReader;

bool Add(int64_t a, int64_t b, int64_t* r) {
  return !__builtin_add_overflow(a, b, r);
}
bool Sub(int64_t a, int64_t b, int64_t* r) {
  return !__builtin_sub_overflow(a, b, r);
}
bool Mul(int64_t a, int64_t b, int64_t* r) {
  return !__builtin_mul_overflow(a, b, r);
}
bool Divides(int64_t a, int64_t b) {
  return b != 0 && !(a == std::numeric_limits<int64_t>::min() && b == -1);
}
bool FloorDiv(int64_t a, int64_t b, int64_t* r) {
  if (!Divides(a, b)) return false;
  *r = a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  return true;
}
bool CeilDiv(int64_t a, int64_t b, int64_t* r) {
  if (!Divides(a, b)) return false;
  *r = a / b + ((a % b != 0 && (a < 0) == (b < 0)) ? 1 : 0);
  return true;
}
bool Mod(int64_t a, int64_t b, int64_t* r) {
  if (!Divides(a, b)) return false;
  const int64_t rest = a % b;
  *r = rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  return true;
}
bool Min(int64_t a, int64_t b, int64_t* r) {
  *r = a < b ? a : b;
  return true;
}
bool Max(int64_t a, int64_t b, int64_t* r) {
  *r = a < b ? b : a;
  return true;
}
bool Less(int64_t a, int64_t b, int64_t* r) {
  *r = a < b ? 1 : 0;
  return true;
}

// dst = operation(a, b). A result that overflows is not written.
template <class Operation>
bool Binary(OperandReader& in, int64_t* ints, Operation operation) {
  const int64_t dst = in.Word();
  const int64_t a = in.Int(ints);
  const int64_t b = in.Int(ints);
  int64_t result = 0;
  if (!operation(a, b, &result)) return false;
  ints[dst] = result;
  return true;
}

}  // namespace

// The loop stays in one function so that the compiler can keep the frame's
// pointers in registers; whatever is more than a few lines is elsewhere.
Status Interpreter::Loop() {
  const bytecode::Instruction* code = nullptr;
  const int64_t* words = nullptr;
  int64_t* ints = nullptr;
  Value** holds = nullptr;
  bytecode::FunctionId function;
  uint32_t next = 0;
  const auto load_frame = [&] {
    const Frame& frame = frames_.back();
    code = frame.function->code.data();
    words = frame.function->words.data();
    ints = ints_.data() + frame.first_int;
    holds = holds_.data() + frame.first_hold;
    function = frame.id;
    next = frame.pc;
  };
  load_frame();
  for (;;) {
    const uint32_t pc = next++;
    const bytecode::Instruction instruction = code[pc];
    OperandReader in(words + instruction.first_word);
    pc_ = pc;
    ++instruction_count_;
    if (cancelled_.load(std::memory_order_relaxed)) [[unlikely]] {
      return FailHere(ErrorCode::kCancelled, "the run was cancelled");
    }
    if (observer_ != nullptr) [[unlikely]]
      TellBefore();
    switch (instruction.opcode) {
      case Opcode::kJump:
        next = static_cast<uint32_t>(in.Word());
        break;
      case Opcode::kBranchIfZero:
        if (in.Int(ints) == 0) next = static_cast<uint32_t>(in.Word());
        break;
      case Opcode::kCall:
        frames_.back().pc = next;
        RETURN_IF_ERROR(Call(in, holds));
        load_frame();
        break;
      case Opcode::kCallClosure:
        frames_.back().pc = next;
        RETURN_IF_ERROR(CallClosure(in, holds));
        load_frame();
        break;
      case Opcode::kReturn:
        RETURN_IF_ERROR(Return(in, holds));
        if (frames_.empty()) {
          if (observer_ != nullptr) TellAfter(function, pc);
          return {};
        }
        if (observer_ != nullptr) [[unlikely]]
          TellAfter(function, pc);
        load_frame();
        continue;

      case Opcode::kIntMove: {
        const int64_t dst = in.Word();
        ints[dst] = in.Int(ints);
        break;
      }
      case Opcode::kIntAdd:
        if (!Binary(in, ints, Add)) return Trap(ints);
        break;
      case Opcode::kIntSub:
        if (!Binary(in, ints, Sub)) return Trap(ints);
        break;
      case Opcode::kIntMul:
        if (!Binary(in, ints, Mul)) return Trap(ints);
        break;
      case Opcode::kIntFloorDiv:
        if (!Binary(in, ints, FloorDiv)) return Trap(ints);
        break;
      case Opcode::kIntCeilDiv:
        if (!Binary(in, ints, CeilDiv)) return Trap(ints);
        break;
      case Opcode::kIntMod:
        if (!Binary(in, ints, Mod)) return Trap(ints);
        break;
      case Opcode::kIntMin:
        Binary(in, ints, Min);
        break;
      case Opcode::kIntMax:
        Binary(in, ints, Max);
        break;
      case Opcode::kIntLess:
        Binary(in, ints, Less);
        break;
      case Opcode::kShare: {
        const int64_t dst = in.Word();
        Define(holds, dst, Memory::Hold(holds[in.Word()]));
        break;
      }
      case Opcode::kMove: {
        const int64_t dst = in.Word();
        Define(holds, dst, std::exchange(holds[in.Word()], nullptr));
        break;
      }
      case Opcode::kKillTensor:
      case Opcode::kKillStorage:
      case Opcode::kKillObject:
        Kill(in, holds);
        break;
      case Opcode::kStoreInts:
      case Opcode::kDimOf:
      case Opcode::kLoadInt:
      case Opcode::kScratchBytes:
      case Opcode::kAssertEqual:
      case Opcode::kAssertRange:
      case Opcode::kAssertTensor:
      case Opcode::kLengthOf:
      case Opcode::kAllocStorage:
      case Opcode::kAllocTensor:
      case Opcode::kView:
      case Opcode::kOp:
      case Opcode::kOpAlloc:
      case Opcode::kConstant:
      case Opcode::kMakeTuple:
      case Opcode::kMakeSequence:
      case Opcode::kMakeOptional:
      case Opcode::kGetField:
      case Opcode::kSequenceInsert:
      case Opcode::kSequenceErase:
      case Opcode::kMakeClosure:
      case Opcode::kCallExternal:
        RETURN_IF_ERROR(Step(instruction.opcode, in, ints, holds));
        break;
    }
    if (observer_ != nullptr) [[unlikely]]
      TellAfter(function, pc);
  }
}

// The instructions that do more than the jump to them costs.
Status Interpreter::Step(Opcode opcode, OperandReader& in, int64_t* ints,
                         Value** holds) {
  switch (opcode) {
    case Opcode::kStoreInts:
      return StoreIntegers(in, ints, holds);
    case Opcode::kDimOf:
      return DimOf(in, ints, holds);
    case Opcode::kLoadInt:
      return LoadInteger(in, ints, holds);
    case Opcode::kScratchBytes:
      return compute_.ScratchBytes(in, ints, holds);
    case Opcode::kAssertEqual:
      return AssertEqual(in, ints);
    case Opcode::kAssertRange:
      return AssertRange(in, ints);
    case Opcode::kAssertTensor:
      return AssertTensor(in, holds);
    case Opcode::kLengthOf:
      return LengthOf(in, ints, holds);
    case Opcode::kAllocStorage:
      return AllocStorage(in, ints, holds);
    case Opcode::kAllocTensor:
      return AllocTensor(in, ints, holds);
    case Opcode::kView:
      return View(in, ints, holds);
    case Opcode::kOp:
      return compute_.Op(in, ints, holds);
    case Opcode::kOpAlloc:
      return compute_.OpAlloc(in, ints, holds, NameHere());
    case Opcode::kConstant:
      return LoadConstant(in, holds);
    case Opcode::kMakeTuple:
      return MakeObject(ValueKind::kTuple, in, holds);
    case Opcode::kMakeSequence:
      return MakeObject(ValueKind::kSequence, in, holds);
    case Opcode::kMakeOptional:
      return MakeObject(ValueKind::kOptional, in, holds);
    case Opcode::kGetField:
      return GetField(in, ints, holds);
    case Opcode::kSequenceInsert:
      return SequenceInsert(in, ints, holds);
    case Opcode::kSequenceErase:
      return SequenceErase(in, ints, holds);
    case Opcode::kMakeClosure:
      return MakeClosure(in, holds);
    case Opcode::kCallExternal:
      return CallExternal(in, ints, holds);
    case Opcode::kJump:
    case Opcode::kBranchIfZero:
    case Opcode::kCall:
    case Opcode::kCallClosure:
    case Opcode::kReturn:
    case Opcode::kIntMove:
    case Opcode::kIntAdd:
    case Opcode::kIntSub:
    case Opcode::kIntMul:
    case Opcode::kIntFloorDiv:
    case Opcode::kIntCeilDiv:
    case Opcode::kIntMod:
    case Opcode::kIntMin:
    case Opcode::kIntMax:
    case Opcode::kIntLess:
    case Opcode::kShare:
    case Opcode::kMove:
    case Opcode::kKillTensor:
    case Opcode::kKillStorage:
    case Opcode::kKillObject:
      break;  // In the loop itself.
  }
  std::unreachable();
}

Interpreter::Interpreter(const Program& program, Memory& memory,
                         WorkerPool* workers, const SessionOptions& options,
                         const std::atomic<bool>& cancelled)
    : program_(program),
      module_(program.module()),
      memory_(memory),
      cancelled_(cancelled),
      observer_(options.observer),
      depth_limit_(options.call_depth_limit),
      compute_(program, memory, workers, options),
      constants_(module_.constants.size(), nullptr) {}

Interpreter::~Interpreter() { ReleaseConstants(); }

void Interpreter::ReleaseConstants() {
  for (Tensor*& constant : constants_) {
    if (constant != nullptr) memory_.Release(constant);
    constant = nullptr;
  }
}

Status Interpreter::Run(std::vector<Value*>& arguments,
                        std::vector<Value*>& results) {
  assert(frames_.empty() && passed_.empty());
  // Holds are released on every way out, by exception too.
  struct Unwinder {
    Interpreter& interpreter;
    ~Unwinder() { interpreter.Unwind(); }
  } unwinder{*this};
  instruction_count_ = 0;
  run_results_ = &results;
  results.clear();
  passed_.swap(arguments);
  RETURN_IF_ERROR(Enter(module_.entry, nullptr));
  return Loop();
}

void Interpreter::Unwind() {
  for (Value*& value : holds_) {
    if (value != nullptr) memory_.Release(std::exchange(value, nullptr));
  }
  for (std::vector<Value*>* list : {&passed_, &external_results_}) {
    for (Value* value : *list) {
      if (value != nullptr) memory_.Release(value);
    }
    list->clear();
  }
  for (Value* value : external_arguments_) memory_.Release(value);
  external_arguments_.clear();
  holds_.clear();
  ints_.clear();
  frames_.clear();
}

void Interpreter::Define(Value** holds, int64_t hold, Value* value) {
  // Rebinding empties the register first.
  if (holds[hold] != nullptr) memory_.Release(holds[hold]);
  holds[hold] = value;
}

bytecode::StringId Interpreter::NameHere() const {
  const bytecode::Function& function = *frames_.back().function;
  return function.value_names.empty() ? bytecode::StringId()
                                      : function.value_names[pc_];
}

std::unexpected<Error> Interpreter::FailHere(ErrorCode code,
                                             std::string message) const {
  const bytecode::Function& function = *frames_.back().function;
  std::string where = "function \"" + module_.string(function.name) +
                      "\", instruction " + std::to_string(pc_) + " (";
  where += bytecode::InfoOf(function.code[pc_].opcode).mnemonic;
  where += ')';
  if (const std::string& name = module_.string(NameHere()); !name.empty()) {
    where += ", value \"" + name + "\"";
  }
  return Fail(code, std::move(message), std::move(where));
}

std::unexpected<Error> Interpreter::FailHere(Error error) const {
  return FailHere(error.code, std::move(error.message));
}

std::unexpected<Error> Interpreter::WrongKind(const Value* value,
                                              const char* wanted) const {
  return FailHere(
      ErrorCode::kInvalidFile,
      std::string("the register holds ") +
          (value == nullptr ? "nothing" : ValueKindName(value->kind)) +
          ", needs " + wanted);
}

std::unexpected<Error> Interpreter::NoMemory(int64_t bytes) const {
  return FailHere(memory_.OutOfMemory(bytes, NameHere()));
}

void Interpreter::TellBefore() const {
  observer_->BeforeInstruction({module_, frames_.back().id, pc_});
}

void Interpreter::TellAfter(bytecode::FunctionId function, uint32_t pc) const {
  observer_->AfterInstruction({module_, function, pc});
}

}  // namespace ebb::vm
