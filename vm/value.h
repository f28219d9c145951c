// What a hold register can hold: tensors, storages (blocks of memory), and
// objects (tuples, sequences, optionals, closures, the embedder's own things).
//
// Values carry a count of their holds. The count is not atomic: a value
// belongs to the `Memory` of one session and only that session's thread
// counts. At the last hold the value goes back to a free list of that Memory,
// and a storage's buffer to the allocator. Content never changes once other
// holds exist, so another thread may read a tensor that was taken out.
//
// Every tensor lies in a storage, those of constants and of the caller's
// inputs too: their storages borrow memory that is never written. So one rule
// serves all: `data` and everything that dims and strides reach stays inside
// [storage->data, storage->data + storage->bytes).
#ifndef EBB_VM_VALUE_H_
#define EBB_VM_VALUE_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bytecode/dtype.h"
#include "bytecode/module.h"
#include "bytecode/shape_rules/rule.h"

namespace ebb::vm {

class Memory;

enum class ValueKind : uint8_t {
  kTensor,
  kStorage,
  kTuple,
  kSequence,
  kOptional,
  kClosure,
  kOpaque,
};

// "tensor", "storage", "tuple", …
const char* ValueKindName(ValueKind kind);

struct Value {
  explicit Value(ValueKind value_kind) : kind(value_kind) {}

  ValueKind kind;
  uint32_t holds = 0;
  uint32_t mark = 0;        // Of the last walk that visited it.
  bytecode::StringId name;  // For reports: as the module calls it.
  Value* next = nullptr;    // In a free list, or waiting to be released.
};

// Whose memory a storage is.
enum class Origin : uint8_t {
  kSession,   // From the session's allocator; goes back to it.
  kInput,     // The caller's; valid until the run ends, never written.
  kConstant,  // The program's; valid as long as the program, never written.
};

struct Storage : Value {
  Storage() : Value(ValueKind::kStorage) {}

  Origin origin = Origin::kSession;
  std::byte* data = nullptr;
  int64_t bytes = 0;
  // What went to the allocator; differs from the above past its alignment.
  void* block = nullptr;
  int64_t block_bytes = 0;
  // Storages of the session, newest first, for the out-of-memory report.
  Storage* newer = nullptr;
  Storage* older = nullptr;
};

// How the bytes of a constant are kept; see bytecode::Constant.
enum class ConstantForm : uint8_t {
  kNone,    // Not a constant.
  kPlain,   // All elements, dense.
  kRepeat,  // One element; all strides are 0. Views of it are, too.
  kPacked,  // In a blocking; the strides say what the plain form would have.
};

struct Tensor : Value {
  Tensor() : Value(ValueKind::kTensor) {}

  DType dtype = DType::kInvalid;
  ConstantForm form = ConstantForm::kNone;
  bool writable = false;
  uint8_t rank = 0;
  std::byte* data = nullptr;
  Storage* storage = nullptr;     // One hold.
  bytecode::ConstantId constant;  // kRepeat and kPacked, and whole kPlain ones.
  // In elements. Only the first `rank` entries mean anything.
  int64_t dims[kMaxRank];
  int64_t strides[kMaxRank];

  std::span<const int64_t> Dims() const { return {dims, rank}; }
  std::span<const int64_t> Strides() const { return {strides, rank}; }
};

// Tuple, sequence, optional, closure, opaque.
struct Object : Value {
  Object() : Value(ValueKind::kTuple) {}

  std::vector<Value*> fields;     // A hold on each.
  bytecode::FunctionId function;  // kClosure.
  void* opaque = nullptr;         // kOpaque: the embedder's.
  void (*release)(void* opaque) = nullptr;
};

// nullptr when the value is of another kind, or there is none.
inline Tensor* AsTensor(Value* value) {
  return value != nullptr && value->kind == ValueKind::kTensor
             ? static_cast<Tensor*>(value)
             : nullptr;
}
inline const Tensor* AsTensor(const Value* value) {
  return AsTensor(const_cast<Value*>(value));
}
inline Storage* AsStorage(Value* value) {
  return value != nullptr && value->kind == ValueKind::kStorage
             ? static_cast<Storage*>(value)
             : nullptr;
}
inline Object* AsObject(Value* value) {
  return value != nullptr && value->kind != ValueKind::kTensor &&
                 value->kind != ValueKind::kStorage
             ? static_cast<Object*>(value)
             : nullptr;
}
inline const Object* AsObject(const Value* value) {
  return AsObject(const_cast<Value*>(value));
}

}  // namespace ebb::vm

#endif  // EBB_VM_VALUE_H_
