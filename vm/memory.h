// The memory of one session: its allocator, and the values that live in it.
//
// Values come from free lists that only grow, so a run that repeats makes no
// heap allocation. Every maker returns a value with one hold, or nullptr when
// the heap, the allocator or the limit refuses. All of it belongs to the
// session's thread, with one exception: `Keep` hands a value out of the
// session as a `Kept`, and `Drop` takes it back on any thread. The memory
// lives until the session and the last Kept are gone.
//
//   Storage* storage = memory.Allocate(4096, 64, name);  // nullptr: refused
//   Tensor* tensor = memory.NewTensor(storage);          // holds it too
//   memory.Release(storage);
//   memory.Release(tensor);                              // buffer goes back
#ifndef EBB_VM_MEMORY_H_
#define EBB_VM_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "allocator/allocator.h"
#include "allocator/backing.h"
#include "bytecode/error.h"
#include "bytecode/module.h"
#include "vm/observer.h"
#include "vm/value.h"

namespace ebb::vm {

// A hold that left the session.
struct Kept {
  Memory* memory = nullptr;
  Value* value = nullptr;
  Kept* next = nullptr;
};

class Memory {
 public:
  struct Options {
    allocator::Kind kind = allocator::Kind::kPool;
    uint64_t limit_bytes = 0;               // 0: none
    allocator::Backing* backing = nullptr;  // Borrowed; nullptr: pages.
    // In place of a backing: the embedder's functions, copied.
    const allocator::CallbackBacking::Callbacks* callbacks = nullptr;
    // Borrowed, in place of one of `kind`; for tests.
    allocator::Allocator* allocator = nullptr;
  };

  // One reference, the session's.
  static Expected<Memory*> Create(const Options& options);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Ends the session's part: no observer, no names any more.
  void Close();

  Tensor* NewTensor(Storage* storage);  // A hold on the storage.
  Storage* NewStorage(Origin origin, const void* data, int64_t bytes);
  Object* NewObject(ValueKind kind);
  // A buffer of the allocator. `align` is a power of two.
  Storage* Allocate(int64_t bytes, int64_t align, bytecode::StringId name);
  // A dense tensor in a storage of its own.
  Tensor* AllocateTensor(DType dtype, std::span<const int64_t> dims,
                         bytecode::StringId name);

  static Value* Hold(Value* value) {
    ++value->holds;
    return value;
  }
  // Ends one hold. A last hold frees the value and what it holds in turn,
  // without recursion.
  void Release(Value* value) {
    if (--value->holds == 0) Free(value);
  }

  // Takes over the caller's hold; nullptr when the heap refuses.
  Kept* Keep(Value* value);
  static void Drop(Kept* kept);  // Any thread.
  // Releases what was dropped since. Called between steps.
  void Drain() {
    if (dropped_.load(std::memory_order_relaxed) != nullptr) DrainDropped();
  }

  allocator::Allocator& allocator() { return *allocator_; }
  const allocator::Allocator& allocator() const { return *allocator_; }
  // Records of values, whether in use or not.
  uint64_t object_bytes() const { return object_bytes_; }
  // Values that are held by anything.
  uint64_t live_value_count() const { return live_value_count_; }
  uint32_t NextMark() { return ++last_mark_; }

  void set_names(const bytecode::Module* module) { names_ = module; }
  void set_observer(Observer* observer) { observer_ = observer; }
  void set_limit_bytes(uint64_t limit);
  // Tells the observer that an instruction ended a hold.
  void ReportKill(const Value& value);

  // "out of memory: … ; the largest live values: …".
  Error OutOfMemory(int64_t bytes, bytecode::StringId name) const;

 private:
  template <class T>
  struct Slab {
    static constexpr int kCount = 32;
    Slab* next = nullptr;
    T items[kCount];
  };
  template <class T>
  struct FreeList {
    Value* first = nullptr;
    Slab<T>* slabs = nullptr;
  };

  Memory() = default;
  ~Memory();
  template <class T>
  T* Take(FreeList<T>& list);
  template <class T>
  static void DeleteSlabs(FreeList<T>& list);
  void Free(Value* value);
  void FreeStorage(Storage* storage);
  void DrainDropped();
  void Unref();
  std::string_view NameOf(bytecode::StringId id) const;
  void Report(MemoryEventKind kind, const Storage& storage);

  std::unique_ptr<allocator::Backing> owned_backing_;
  std::unique_ptr<allocator::Allocator> owned_allocator_;
  allocator::Allocator* allocator_ = nullptr;
  FreeList<Tensor> tensors_;
  FreeList<Storage> storages_;
  FreeList<Object> objects_;
  Kept* free_kept_ = nullptr;
  Storage* newest_ = nullptr;  // Of those that hold a buffer.
  uint64_t limit_bytes_ = 0;
  uint64_t object_bytes_ = 0;
  uint64_t live_value_count_ = 0;
  uint32_t last_mark_ = 0;
  const bytecode::Module* names_ = nullptr;
  Observer* observer_ = nullptr;
  std::atomic<Kept*> dropped_ = nullptr;
  std::atomic<uint64_t> references_ = 1;
};

}  // namespace ebb::vm

#endif  // EBB_VM_MEMORY_H_
