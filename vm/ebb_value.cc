// The C interface: values that were taken out of a session or made for one.
#include "vm/ebb_internal.h"

using ebb::Status;
using ebb::vm::Guarded;

int32_t ebb_value_kind(const ebb_value* value) {
  switch (ebb::vm::KeptOf(value)->value->kind) {
    case ebb::vm::ValueKind::kTensor:
      return EBB_KIND_TENSOR;
    case ebb::vm::ValueKind::kStorage:
      return EBB_KIND_STORAGE;
    case ebb::vm::ValueKind::kTuple:
      return EBB_KIND_TUPLE;
    case ebb::vm::ValueKind::kSequence:
      return EBB_KIND_SEQUENCE;
    case ebb::vm::ValueKind::kOptional:
      return EBB_KIND_OPTIONAL;
    case ebb::vm::ValueKind::kClosure:
      return EBB_KIND_CLOSURE;
    case ebb::vm::ValueKind::kOpaque:
      return EBB_KIND_OBJECT;
  }
  return EBB_KIND_OBJECT;
}

ebb_error* ebb_value_tensor(const ebb_value* value, ebb_tensor* tensor) {
  return Guarded([&]() -> Status {
    const ebb::vm::Lent lent(value);
    const auto view = lent.get().tensor();
    if (!view.has_value()) {
      return ebb::Fail(
          ebb::ErrorCode::kInvalidArgument,
          "the value is of kind " +
              std::string(ebb::vm::ValueKindName(lent.get().value()->kind)) +
              ", not a tensor");
    }
    *tensor = ebb::vm::ToApi(*view);
    return {};
  });
}

size_t ebb_value_count(const ebb_value* value) {
  const ebb::vm::Object* object =
      ebb::vm::AsObject(ebb::vm::KeptOf(value)->value);
  const bool has_items = object != nullptr &&
                         object->kind != ebb::vm::ValueKind::kClosure &&
                         object->kind != ebb::vm::ValueKind::kOpaque;
  return has_items ? object->fields.size() : 0;
}

ebb_error* ebb_value_item(ebb_session* session, const ebb_value* value,
                          size_t index, ebb_value** item) {
  return Guarded([&]() -> Status {
    TRY(ebb::vm::TakenValue made,
        session->session->Element(ebb::vm::Lent(value).get(), index));
    *item = ebb::vm::ToApi(std::move(made));
    return {};
  });
}

void ebb_value_release(ebb_value* value) {
  if (value != nullptr) ebb::vm::Memory::Drop(ebb::vm::KeptOf(value));
}

ebb_error* ebb_value_create_tensor(ebb_session* session,
                                   const ebb_tensor* tensor,
                                   ebb_value** value) {
  return Guarded([&]() -> Status {
    TRY(const ebb::vm::TensorView view, ebb::vm::ViewOfApi(*tensor));
    TRY(ebb::vm::TakenValue made, session->session->MakeTensor(view));
    *value = ebb::vm::ToApi(std::move(made));
    return {};
  });
}

ebb_error* ebb_value_create_sequence(ebb_session* session,
                                     const ebb_value* const* items,
                                     size_t count, ebb_value** value) {
  return Guarded([&]() -> Status {
    std::vector<ebb::vm::Lent> lent;
    std::vector<const ebb::vm::TakenValue*> pointers;
    lent.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      lent.emplace_back(items[i]);
      pointers.push_back(&lent.back().get());
    }
    TRY(ebb::vm::TakenValue made, session->session->MakeSequence(pointers));
    *value = ebb::vm::ToApi(std::move(made));
    return {};
  });
}

ebb_error* ebb_value_create_optional(ebb_session* session,
                                     const ebb_value* item, ebb_value** value) {
  return Guarded([&]() -> Status {
    const ebb::vm::Lent lent(item);
    TRY(ebb::vm::TakenValue made, session->session->MakeOptional(
                                      item != nullptr ? &lent.get() : nullptr));
    *value = ebb::vm::ToApi(std::move(made));
    return {};
  });
}
