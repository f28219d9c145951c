#include "vm/memory.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <new>

#include "bytecode/shape_rules/geometry.h"
#include "vm/tensor_view.h"

namespace ebb::vm {
namespace {

// A list of fields that once was long keeps no more than this.
constexpr std::size_t kKeptFieldCount = 256;
constexpr std::size_t kReportedCount = 5;

}  // namespace

const char* ValueKindName(ValueKind kind) {
  switch (kind) {
    case ValueKind::kTensor:
      return "tensor";
    case ValueKind::kStorage:
      return "storage";
    case ValueKind::kTuple:
      return "tuple";
    case ValueKind::kSequence:
      return "sequence";
    case ValueKind::kOptional:
      return "optional";
    case ValueKind::kClosure:
      return "closure";
    case ValueKind::kOpaque:
      return "opaque object";
  }
  return "value";
}

Expected<Memory*> Memory::Create(const Options& options) {
  auto* memory = new (std::nothrow) Memory();
  if (memory == nullptr) {
    return Fail(ErrorCode::kOutOfMemory, "no memory for the session itself");
  }
  memory->limit_bytes_ = options.limit_bytes;
  if (options.allocator != nullptr) {
    memory->allocator_ = options.allocator;
    return memory;
  }
  allocator::Backing* backing = options.backing;
  if (backing == nullptr) {
    if (options.callbacks != nullptr) {
      memory->owned_backing_.reset(
          new (std::nothrow) allocator::CallbackBacking(*options.callbacks));
    } else {
      memory->owned_backing_.reset(new (std::nothrow) allocator::MmapBacking());
    }
    backing = memory->owned_backing_.get();
  }
  if (backing != nullptr) {
    memory->owned_allocator_ =
        allocator::MakeAllocator(options.kind, *backing, options.limit_bytes);
  }
  memory->allocator_ = memory->owned_allocator_.get();
  if (memory->allocator_ == nullptr) {
    memory->Unref();
    return Fail(ErrorCode::kOutOfMemory, "no memory for the allocator itself");
  }
  return memory;
}

Memory::~Memory() {
  if (allocator_ != nullptr) DrainDropped();
  assert(live_value_count_ == 0);
  DeleteSlabs(tensors_);
  DeleteSlabs(storages_);
  DeleteSlabs(objects_);
  while (free_kept_ != nullptr) {
    Kept* kept = free_kept_;
    free_kept_ = kept->next;
    delete kept;
  }
}

void Memory::Close() {
  observer_ = nullptr;
  names_ = nullptr;
  Drain();
  Unref();
}

void Memory::Unref() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

template <class T>
T* Memory::Take(FreeList<T>& list) {
  if (list.first == nullptr) {
    // The records are capped by the same number as the buffers, but counted
    // apart: a plan that fits to the byte must not fail for their sake.
    if (limit_bytes_ != 0 && object_bytes_ + sizeof(Slab<T>) > limit_bytes_ &&
        list.slabs != nullptr) {
      return nullptr;
    }
    auto* slab = new (std::nothrow) Slab<T>();
    if (slab == nullptr) return nullptr;
    slab->next = list.slabs;
    list.slabs = slab;
    object_bytes_ += sizeof(Slab<T>);
    for (T& item : slab->items) {
      item.next = list.first;
      list.first = &item;
    }
  }
  T* value = static_cast<T*>(list.first);
  list.first = value->next;
  value->next = nullptr;
  value->holds = 1;
  value->name = {};
  ++live_value_count_;
  return value;
}

template <class T>
void Memory::DeleteSlabs(FreeList<T>& list) {
  while (list.slabs != nullptr) {
    Slab<T>* slab = list.slabs;
    list.slabs = slab->next;
    delete slab;
  }
}

Tensor* Memory::NewTensor(Storage* storage) {
  Tensor* tensor = Take(tensors_);
  if (tensor == nullptr) return nullptr;
  Hold(storage);
  tensor->storage = storage;
  tensor->data = storage->data;
  tensor->form = ConstantForm::kNone;
  tensor->constant = {};
  tensor->writable = storage->origin == Origin::kSession;
  tensor->rank = 0;
  return tensor;
}

Storage* Memory::NewStorage(Origin origin, const void* data, int64_t bytes) {
  Storage* storage = Take(storages_);
  if (storage == nullptr) return nullptr;
  storage->origin = origin;
  storage->data = static_cast<std::byte*>(const_cast<void*>(data));
  storage->bytes = bytes;
  storage->block = nullptr;
  storage->block_bytes = 0;
  return storage;
}

Object* Memory::NewObject(ValueKind kind) {
  Object* object = Take(objects_);
  if (object == nullptr) return nullptr;
  object->kind = kind;
  object->opaque = nullptr;
  object->release = nullptr;
  return object;
}

Storage* Memory::Allocate(int64_t bytes, int64_t align,
                          bytecode::StringId name) {
  assert(bytes >= 0 && align > 0);
  constexpr auto kGranule = static_cast<int64_t>(allocator::kGranuleBytes);
  int64_t block_bytes = bytes;
  if (align > kGranule &&
      __builtin_add_overflow(bytes, align - kGranule, &block_bytes)) {
    return nullptr;
  }
  Drain();
  Storage* storage = NewStorage(Origin::kSession, nullptr, bytes);
  if (storage == nullptr) return nullptr;
  const uint64_t reuse_before =
      observer_ != nullptr ? allocator_->stats().reuse_count : 0;
  storage->name = name;
  storage->block = allocator_->Allocate(static_cast<std::size_t>(block_bytes));
  if (storage->block == nullptr) {
    storage->block_bytes = 0;
    Release(storage);
    return nullptr;
  }
  storage->block_bytes = block_bytes;
  const auto address = reinterpret_cast<uintptr_t>(storage->block);
  const auto mask = static_cast<uintptr_t>(align) - 1;
  storage->data = static_cast<std::byte*>(storage->block) +
                  (((address + mask) & ~mask) - address);
  storage->older = newest_;
  storage->newer = nullptr;
  if (newest_ != nullptr) newest_->newer = storage;
  newest_ = storage;
  if (observer_ != nullptr) {
    const bool reused = allocator_->stats().reuse_count != reuse_before;
    Report(reused ? MemoryEventKind::kReuse : MemoryEventKind::kAllocate,
           *storage);
  }
  return storage;
}

Tensor* Memory::AllocateTensor(DType dtype, std::span<const int64_t> dims,
                               bytecode::StringId name) {
  assert(dims.size() <= static_cast<std::size_t>(kMaxRank));
  const std::optional<int64_t> count = ElementCount(dims);
  const std::optional<int64_t> bytes =
      count.has_value() ? DTypeBytes(dtype, *count) : std::nullopt;
  if (!bytes.has_value()) return nullptr;
  Storage* storage =
      Allocate(*bytes, static_cast<int64_t>(allocator::kGranuleBytes), name);
  if (storage == nullptr) return nullptr;
  Tensor* tensor = NewTensor(storage);
  Release(storage);
  if (tensor == nullptr) return nullptr;
  tensor->name = name;
  tensor->dtype = dtype;
  tensor->rank = static_cast<uint8_t>(dims.size());
  std::ranges::copy(dims, tensor->dims);
  DenseStrides(dims, tensor->strides);
  return tensor;
}

void Memory::FreeStorage(Storage* storage) {
  if (storage->block != nullptr) {
    if (storage->newer != nullptr) storage->newer->older = storage->older;
    if (storage->older != nullptr) storage->older->newer = storage->newer;
    if (newest_ == storage) newest_ = storage->older;
    allocator_->Free(storage->block,
                     static_cast<std::size_t>(storage->block_bytes));
    if (observer_ != nullptr) Report(MemoryEventKind::kRelease, *storage);
  }
  storage->next = storages_.first;
  storages_.first = storage;
}

// What is to be freed waits in a list through `next`, so that a chain of
// tuples a million deep needs no stack.
void Memory::Free(Value* value) {
  value->next = nullptr;
  Value* waiting = value;
  const auto release = [&waiting](Value* held) {
    if (--held->holds != 0) return;
    held->next = waiting;
    waiting = held;
  };
  while (waiting != nullptr) {
    Value* now = waiting;
    waiting = now->next;
    --live_value_count_;
    if (Tensor* tensor = AsTensor(now); tensor != nullptr) {
      release(tensor->storage);
      tensor->next = tensors_.first;
      tensors_.first = tensor;
    } else if (Storage* storage = AsStorage(now); storage != nullptr) {
      FreeStorage(storage);
    } else {
      auto* object = static_cast<Object*>(now);
      for (Value* field : object->fields) release(field);
      object->fields.clear();
      if (object->fields.capacity() > kKeptFieldCount) {
        std::vector<Value*>().swap(object->fields);
      }
      if (object->release != nullptr) object->release(object->opaque);
      object->next = objects_.first;
      objects_.first = object;
    }
  }
}

Kept* Memory::Keep(Value* value) {
  Kept* kept = free_kept_;
  if (kept != nullptr) {
    free_kept_ = kept->next;
  } else {
    kept = new (std::nothrow) Kept();
    if (kept == nullptr) return nullptr;
  }
  kept->memory = this;
  kept->value = value;
  kept->next = nullptr;
  references_.fetch_add(1, std::memory_order_relaxed);
  return kept;
}

void Memory::Drop(Kept* kept) {
  Memory* memory = kept->memory;
  Kept* first = memory->dropped_.load(std::memory_order_relaxed);
  do {
    kept->next = first;
  } while (!memory->dropped_.compare_exchange_weak(
      first, kept, std::memory_order_release, std::memory_order_relaxed));
  memory->Unref();
}

void Memory::DrainDropped() {
  Kept* kept = dropped_.exchange(nullptr, std::memory_order_acquire);
  while (kept != nullptr) {
    Kept* next = kept->next;
    Release(kept->value);
    kept->next = free_kept_;
    free_kept_ = kept;
    kept = next;
  }
}

void Memory::set_limit_bytes(uint64_t limit) {
  limit_bytes_ = limit;
  allocator_->set_limit_bytes(limit);
}

std::string_view Memory::NameOf(bytecode::StringId id) const {
  if (names_ == nullptr || !id.valid()) return {};
  return names_->string(id);
}

void Memory::Report(MemoryEventKind kind, const Storage& storage) {
  observer_->OnMemory({.kind = kind,
                       .name = NameOf(storage.name),
                       .address = storage.data,
                       .bytes = storage.bytes,
                       .live_bytes = allocator_->stats().live_bytes});
}

void Memory::ReportKill(const Value& value) {
  if (observer_ == nullptr) return;
  MemoryEvent event{.kind = MemoryEventKind::kKill,
                    .name = NameOf(value.name),
                    .address = nullptr,
                    .bytes = 0,
                    .live_bytes = allocator_->stats().live_bytes};
  if (const Tensor* tensor = AsTensor(&value); tensor != nullptr) {
    event.address = tensor->data;
    if (const auto extent =
            ExtentOf(tensor->dtype, tensor->Dims(), tensor->Strides())) {
      event.bytes = extent->high - extent->low;
    }
  } else if (value.kind == ValueKind::kStorage) {
    event.address = static_cast<const Storage&>(value).data;
    event.bytes = static_cast<const Storage&>(value).bytes;
  }
  observer_->OnMemory(event);
}

Error Memory::OutOfMemory(int64_t bytes, bytecode::StringId name) const {
  const allocator::Stats stats = allocator_->stats();
  std::string message = "out of memory: ";
  if (const std::string_view text = NameOf(name); !text.empty()) {
    message.append("\"").append(text).append("\" ");
  }
  message += "needs " + std::to_string(bytes) + " bytes, " +
             std::to_string(stats.live_bytes) + " are live";
  message += limit_bytes_ != 0
                 ? ", the limit is " + std::to_string(limit_bytes_)
                 : std::string(", the system has no more");

  std::array<const Storage*, kReportedCount> largest{};
  for (const Storage* s = newest_; s != nullptr; s = s->older) {
    if (largest.back() != nullptr && largest.back()->bytes >= s->bytes) {
      continue;
    }
    largest.back() = s;
    for (std::size_t i = largest.size() - 1; i > 0; --i) {
      if (largest[i - 1] != nullptr &&
          largest[i - 1]->bytes >= largest[i]->bytes) {
        break;
      }
      std::swap(largest[i - 1], largest[i]);
    }
  }
  const char* separator = "; the largest live values: ";
  for (const Storage* s : largest) {
    if (s == nullptr || s->bytes == 0) break;
    const std::string_view text = NameOf(s->name);
    message += separator;
    if (text.empty()) {
      message += "(unnamed) ";
    } else {
      message.append("\"").append(text).append("\" ");
    }
    message += std::to_string(s->bytes);
    separator = ", ";
  }
  return Error{ErrorCode::kOutOfMemory, std::move(message), {}};
}

}  // namespace ebb::vm
