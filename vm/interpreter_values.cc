// Tuples, sequences and optionals. Elements are held by share. A sequence that
// is moved in and that nobody else holds is changed in place.
#include <string>
#include <utility>

#include "vm/interpreter.h"

namespace ebb::vm {
namespace {

// A list of one shared value would else grow without memory to stop it.
constexpr std::size_t kMaxFieldCount = std::size_t{1} << 24;

}  // namespace

Status Interpreter::MakeObject(ValueKind kind, bytecode::OperandReader& in,
                               Value** holds) {
  const int64_t dst = in.Word();
  TakePasses(in, holds);
  if (kind == ValueKind::kOptional && passed_.size() > 1) {
    return FailHere(
        ErrorCode::kInvalidFile,
        "an optional of " + std::to_string(passed_.size()) + " values");
  }
  Object* object = memory_.NewObject(kind);
  if (object == nullptr) return NoMemory(sizeof(Object));
  object->name = NameHere();
  Define(holds, dst, object);
  object->fields.assign(passed_.begin(), passed_.end());
  passed_.clear();
  return {};
}

Status Interpreter::GetField(bytecode::OperandReader& in, const int64_t* ints,
                             Value** holds) {
  const int64_t dst = in.Word();
  Value* value = holds[in.Word()];
  const Object* object = AsObject(value);
  if (object == nullptr || object->kind == ValueKind::kClosure ||
      object->kind == ValueKind::kOpaque) {
    return WrongKind(value, "a tuple, sequence or optional");
  }
  const int64_t index = in.Int(ints);
  const auto count = static_cast<int64_t>(object->fields.size());
  if (index < -count || index >= count) {
    return FailHere(ErrorCode::kOutOfRange, "index " + std::to_string(index) +
                                                " of a " +
                                                ValueKindName(object->kind) +
                                                " of " + std::to_string(count));
  }
  const int64_t at = index < 0 ? index + count : index;
  Define(holds, dst,
         Memory::Hold(object->fields[static_cast<std::size_t>(at)]));
  return {};
}

// The sequence of a Pass operand with one hold, nobody else's: the one that is
// there, or a copy. It waits in `passed_`, where an error finds it.
Expected<Object*> Interpreter::TakeSequence(bytecode::OperandReader& in,
                                            Value** holds) {
  passed_.push_back(nullptr);
  Value* value = TakePass(in, holds);
  passed_.back() = value;
  Object* sequence = AsObject(value);
  if (sequence == nullptr || sequence->kind != ValueKind::kSequence) {
    return WrongKind(value, "a sequence");
  }
  if (sequence->holds == 1) return sequence;
  Object* copy = memory_.NewObject(ValueKind::kSequence);
  if (copy == nullptr) return NoMemory(sizeof(Object));
  passed_.back() = copy;
  // The hold that was taken is one of several.
  --sequence->holds;
  copy->fields.reserve(sequence->fields.size() + 1);
  for (Value* field : sequence->fields) {
    copy->fields.push_back(Memory::Hold(field));
  }
  return copy;
}

Status Interpreter::SequenceInsert(bytecode::OperandReader& in,
                                   const int64_t* ints, Value** holds) {
  const int64_t dst = in.Word();
  TRY(Object * sequence, TakeSequence(in, holds));
  passed_.push_back(nullptr);
  passed_.back() = TakePass(in, holds);
  const int64_t index = in.Int(ints);
  const auto count = static_cast<int64_t>(sequence->fields.size());
  if (index < -count || index > count) {
    return FailHere(ErrorCode::kOutOfRange,
                    "index " + std::to_string(index) + " is outside [" +
                        std::to_string(-count) + ", " + std::to_string(count) +
                        "] of a sequence of " + std::to_string(count));
  }
  if (sequence->fields.size() >= kMaxFieldCount) {
    return FailHere(ErrorCode::kLimit, "a sequence holds at most " +
                                           std::to_string(kMaxFieldCount) +
                                           " values");
  }
  const int64_t at = index < 0 ? index + count : index;
  sequence->fields.insert(sequence->fields.begin() + at, passed_.back());
  sequence->name = NameHere();
  passed_.clear();
  Define(holds, dst, sequence);
  return {};
}

Status Interpreter::SequenceErase(bytecode::OperandReader& in,
                                  const int64_t* ints, Value** holds) {
  const int64_t dst = in.Word();
  TRY(Object * sequence, TakeSequence(in, holds));
  const int64_t index = in.Int(ints);
  const auto count = static_cast<int64_t>(sequence->fields.size());
  if (index < -count || index >= count) {
    return FailHere(ErrorCode::kOutOfRange, "index " + std::to_string(index) +
                                                " of a sequence of " +
                                                std::to_string(count));
  }
  const int64_t at = index < 0 ? index + count : index;
  Value* erased = sequence->fields[static_cast<std::size_t>(at)];
  sequence->fields.erase(sequence->fields.begin() + at);
  sequence->name = NameHere();
  passed_.clear();
  memory_.Release(erased);
  Define(holds, dst, sequence);
  return {};
}

Status Interpreter::LengthOf(bytecode::OperandReader& in, int64_t* ints,
                             Value** holds) {
  const int64_t dst = in.Word();
  Value* value = holds[in.Word()];
  const Object* object = AsObject(value);
  if (object == nullptr || object->kind == ValueKind::kClosure ||
      object->kind == ValueKind::kOpaque) {
    return WrongKind(value, "a tuple, sequence or optional");
  }
  ints[dst] = static_cast<int64_t>(object->fields.size());
  return {};
}

}  // namespace ebb::vm
