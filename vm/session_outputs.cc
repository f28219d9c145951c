// Outputs of a session: delivered, bound, kept; and values that are made.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "bytecode/shape_rules/geometry.h"
#include "vm/interpreter.h"
#include "vm/session.h"

namespace ebb::vm {
namespace {

// A kept output may hold on to this much more than it needs.
constexpr int64_t kKeptSlackBytes = 4096;

bool Overlap(const std::byte* a, int64_t a_bytes, const std::byte* b,
             int64_t b_bytes) {
  return a_bytes > 0 && b_bytes > 0 && a < b + b_bytes && b < a + a_bytes;
}

}  // namespace

std::string Session::OutputText(std::size_t index) const {
  const bytecode::Result& result = program_->entry().results[index];
  return "output \"" + program_->module().string(result.name) + "\"";
}

// A dense copy in memory of its own.
Expected<Tensor*> Session::CopyTensor(Tensor& tensor) {
  const auto no_memory = [&](int64_t bytes) {
    return std::unexpected(memory_->OutOfMemory(bytes, tensor.name));
  };
  if (tensor.dtype == DType::kString) {
    const TensorView view = ViewOf(tensor);
    Storage* storage = memory_->Allocate(view.byte_size, 64, tensor.name);
    if (storage == nullptr) return no_memory(view.byte_size);
    Tensor* copy = memory_->NewTensor(storage);
    memory_->Release(storage);
    if (copy == nullptr) return no_memory(sizeof(Tensor));
    copy->name = tensor.name;
    copy->dtype = tensor.dtype;
    copy->rank = tensor.rank;
    std::ranges::copy(tensor.Dims(), copy->dims);
    DenseStrides(copy->Dims(), copy->strides);
    std::memcpy(copy->data, tensor.data,
                static_cast<std::size_t>(view.byte_size));
    return copy;
  }
  Tensor* source = &tensor;
  if (tensor.form == ConstantForm::kPacked) {
    TRY(source, interpreter_->Plain(tensor));
  }
  Tensor* copy =
      memory_->AllocateTensor(tensor.dtype, tensor.Dims(), tensor.name);
  if (copy != nullptr) {
    CopyToDense(source->dtype, source->Dims(), source->Strides(), source->data,
                copy->data);
  }
  if (source != &tensor) memory_->Release(source);
  if (copy == nullptr) {
    return no_memory(
        DTypeBytes(tensor.dtype, ElementCount(tensor.Dims()).value_or(0))
            .value_or(0));
  }
  return copy;
}

bool Session::MustCopy(const Tensor& tensor, bool borrow) {
  if (tensor.dtype != DType::kString &&
      !IsDense(tensor.Dims(), tensor.Strides())) {
    return true;
  }
  if (tensor.form == ConstantForm::kPacked) return true;
  return tensor.storage->origin != Origin::kSession && !borrow;
}

Expected<Value*> Session::Owned(Value* value) {
  if (Tensor* tensor = AsTensor(value); tensor != nullptr) {
    if (!MustCopy(*tensor, options_.borrow_outputs)) return value;
    Expected<Tensor*> copy = CopyTensor(*tensor);
    memory_->Release(value);
    return copy;
  }
  if (Object* object = AsObject(value); object != nullptr) {
    if (Status status = OwnFields(*object, options_.borrow_outputs);
        !status.has_value()) {
      memory_->Release(value);
      return std::unexpected(std::move(status).error());
    }
  }
  return value;
}

// Replaces every borrowed tensor below the object, each object looked at once
// however many ways lead to it.
Status Session::OwnFields(Object& object, bool borrow) {
  const uint32_t mark = memory_->NextMark();
  walked_.clear();
  walked_.push_back(&object);
  object.mark = mark;
  while (!walked_.empty()) {
    Object& now = *walked_.back();
    walked_.pop_back();
    for (Value*& field : now.fields) {
      if (Object* inner = AsObject(field); inner != nullptr) {
        if (inner->mark == mark) continue;
        inner->mark = mark;
        walked_.push_back(inner);
      } else if (Tensor* tensor = AsTensor(field);
                 tensor != nullptr && MustCopy(*tensor, borrow)) {
        TRY(Tensor * copy, CopyTensor(*tensor));
        memory_->Release(std::exchange(field, copy));
      }
    }
  }
  return {};
}

// A result that lies in the caller's memory is brought to safety when a bound
// buffer, written below, overlaps it.
Status Session::SaveFromBoundBuffers() {
  for (Value*& value : results_) {
    Tensor* tensor = AsTensor(value);
    if (tensor == nullptr || tensor->storage->origin != Origin::kInput) {
      continue;
    }
    const Storage& storage = *tensor->storage;
    const bool endangered =
        std::ranges::any_of(outputs_, [&](const OutputSlot& slot) {
          return Overlap(static_cast<const std::byte*>(slot.bound_data),
                         slot.bound_bytes, storage.data, storage.bytes);
        });
    if (!endangered) continue;
    TRY(Tensor * copy, CopyTensor(*tensor));
    memory_->Release(std::exchange(value, copy));
  }
  return {};
}

Status Session::CopyToBound(std::size_t index) {
  OutputSlot& slot = outputs_[index];
  Tensor& tensor = *AsTensor(results_[index]);
  auto* to = static_cast<std::byte*>(slot.bound_data);
  int64_t bytes = ViewOf(tensor).byte_size;
  if (tensor.dtype == DType::kString) {
    std::memcpy(to, tensor.data, static_cast<std::size_t>(bytes));
  } else if (tensor.form == ConstantForm::kPacked) {
    TRY(Tensor * plain, interpreter_->Plain(tensor));
    CopyToDense(plain->dtype, plain->Dims(), plain->Strides(), plain->data, to);
    memory_->Release(plain);
    bytes = slot.bound_bytes;
  } else {
    CopyToDense(tensor.dtype, tensor.Dims(), tensor.Strides(), tensor.data, to);
    bytes = slot.bound_bytes;
  }
  // From here on the output is the buffer, and its own memory goes back.
  Storage* storage = memory_->NewStorage(Origin::kInput, to, bytes);
  Tensor* bound = storage != nullptr ? memory_->NewTensor(storage) : nullptr;
  if (storage != nullptr) memory_->Release(storage);
  if (bound == nullptr) {
    return std::unexpected(memory_->OutOfMemory(sizeof(Tensor), tensor.name));
  }
  bound->name = tensor.name;
  bound->dtype = tensor.dtype;
  bound->rank = tensor.rank;
  std::ranges::copy(tensor.Dims(), bound->dims);
  DenseStrides(bound->Dims(), bound->strides);
  memory_->Release(std::exchange(results_[index], bound));
  return {};
}

Status Session::DeliverOutputs() {
  bool any_bound = false;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const OutputSlot& slot = outputs_[i];
    if (slot.bound_data == nullptr) continue;
    any_bound = true;
    const Tensor* tensor = AsTensor(results_[i]);
    if (tensor == nullptr) {
      return Fail(ErrorCode::kInvalidArgument,
                  OutputText(i) + " is not a tensor and cannot be bound");
    }
    const int64_t needed =
        tensor->dtype == DType::kString
            ? ViewOf(*tensor).byte_size
            : DTypeBytes(tensor->dtype,
                         ElementCount(tensor->Dims()).value_or(0))
                  .value_or(0);
    if (needed > slot.bound_bytes) {
      return Fail(ErrorCode::kInvalidArgument,
                  OutputText(i) + " is " +
                      ShapeText(tensor->dtype, tensor->Dims()) + " of " +
                      std::to_string(needed) + " bytes, the bound buffer has " +
                      std::to_string(slot.bound_bytes));
    }
  }
  if (any_bound) RETURN_IF_ERROR(SaveFromBoundBuffers());
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].bound_data != nullptr) continue;
    Value* value = std::exchange(results_[i], nullptr);
    TRY(results_[i], Owned(value));
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].bound_data != nullptr) RETURN_IF_ERROR(CopyToBound(i));
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i].value = std::exchange(results_[i], nullptr);
  }
  return {};
}

Status Session::BindOutput(std::size_t index, void* data, int64_t byte_size) {
  if (index >= outputs_.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                "output " + std::to_string(index) + " of " +
                    std::to_string(outputs_.size()));
  }
  if (data == nullptr || byte_size < 0) {
    return Fail(ErrorCode::kInvalidArgument,
                OutputText(index) + ": no buffer to bind");
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (i != index &&
        Overlap(static_cast<const std::byte*>(data), byte_size,
                static_cast<const std::byte*>(outputs_[i].bound_data),
                outputs_[i].bound_bytes)) {
      return Fail(
          ErrorCode::kInvalidArgument,
          OutputText(index) + ": the buffer overlaps that of " + OutputText(i));
    }
  }
  outputs_[index].bound_data = data;
  outputs_[index].bound_bytes = byte_size;
  return {};
}

void Session::UnbindOutput(std::size_t index) {
  if (index >= outputs_.size()) return;
  outputs_[index].bound_data = nullptr;
  outputs_[index].bound_bytes = 0;
}

void Session::ReleaseOutputs() {
  has_outputs_ = false;
  for (OutputSlot& slot : outputs_) {
    if (slot.value != nullptr) {
      memory_->Release(std::exchange(slot.value, nullptr));
    }
  }
}

Expected<const Value*> Session::OutputValue(std::size_t index) const {
  if (index >= outputs_.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                "output " + std::to_string(index) + " of " +
                    std::to_string(outputs_.size()));
  }
  if (!has_outputs_) {
    return Fail(ErrorCode::kInvalidArgument,
                "there are no outputs: no run has succeeded since the last");
  }
  return outputs_[index].value;
}

Expected<TensorView> Session::Output(std::size_t index) const {
  TRY(const Value* value, OutputValue(index));
  const Tensor* tensor = AsTensor(value);
  if (tensor == nullptr) {
    return Fail(ErrorCode::kInvalidArgument,
                OutputText(index) + " is of kind " +
                    ValueKindName(value->kind) + ", not a tensor");
  }
  return ViewOf(*tensor);
}

// Takes over the hold, also on an error.
Expected<TakenValue> Session::Keep(Value* value) {
  Kept* kept = memory_->Keep(value);
  if (kept == nullptr) {
    memory_->Release(value);
    return std::unexpected(memory_->OutOfMemory(sizeof(Kept), {}));
  }
  return TakenValue(kept);
}

Expected<TakenValue> Session::Take(std::size_t index) {
  RETURN_IF_ERROR(OutputValue(index));
  Value* value = outputs_[index].value;
  if (Tensor* tensor = AsTensor(value); tensor != nullptr) {
    const Storage& storage = *tensor->storage;
    // Kept, a small part of a large buffer would pin all of it.
    if (storage.origin != Origin::kSession ||
        storage.bytes > 2 * ViewOf(*tensor).byte_size + kKeptSlackBytes) {
      TRY(Tensor * copy, CopyTensor(*tensor));
      return Keep(copy);
    }
  } else if (Object* object = AsObject(value); object != nullptr) {
    RETURN_IF_ERROR(OwnFields(*object, /*borrow=*/false));
  }
  return Keep(Memory::Hold(value));
}

Expected<TakenValue> Session::MakeTensor(const TensorView& view) {
  TRY(Tensor * borrowed, Borrow(view));
  if (borrowed->storage->origin == Origin::kSession &&
      borrowed->storage->holds == 1) {
    return Keep(borrowed);  // A strided one has been copied already.
  }
  Expected<Tensor*> copy = CopyTensor(*borrowed);
  memory_->Release(borrowed);
  if (!copy.has_value()) return std::unexpected(std::move(copy).error());
  return Keep(*copy);
}

Expected<TakenValue> Session::MakeSequence(
    std::span<const TakenValue* const> items) {
  for (const TakenValue* item : items) {
    if (item->get()->memory != memory_) {
      return Fail(ErrorCode::kInvalidArgument,
                  "an item belongs to another session");
    }
  }
  Object* object = memory_->NewObject(ValueKind::kSequence);
  if (object == nullptr) {
    return std::unexpected(memory_->OutOfMemory(sizeof(Object), {}));
  }
  TRY(TakenValue sequence, Keep(object));
  object->fields.reserve(items.size());
  for (const TakenValue* item : items) {
    object->fields.push_back(Memory::Hold(item->get()->value));
  }
  return sequence;
}

Expected<TakenValue> Session::MakeOptional(const TakenValue* item) {
  if (item != nullptr && item->get()->memory != memory_) {
    return Fail(ErrorCode::kInvalidArgument,
                "the item belongs to another session");
  }
  Object* object = memory_->NewObject(ValueKind::kOptional);
  if (object == nullptr) {
    return std::unexpected(memory_->OutOfMemory(sizeof(Object), {}));
  }
  TRY(TakenValue optional, Keep(object));
  if (item != nullptr) {
    object->fields.push_back(Memory::Hold(item->get()->value));
  }
  return optional;
}

Expected<TakenValue> Session::Element(const TakenValue& value,
                                      std::size_t index) {
  const Object* object = AsObject(value.value());
  if (value.get()->memory != memory_ || object == nullptr ||
      index >= object->fields.size()) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "item " + std::to_string(index) + " of " +
            std::to_string(object == nullptr ? 0 : object->fields.size()));
  }
  return Keep(Memory::Hold(object->fields[index]));
}

}  // namespace ebb::vm
