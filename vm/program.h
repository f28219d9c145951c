// A loaded program: verified code, its constants, and the embedder's external
// functions. Immutable; any number of sessions in any number of threads share
// one. It lives until the last `ProgramRef` is gone.
//
// Constants are used in place: a file is mapped read-only and its pages shared
// with every other process that maps it. Two forms may need a plain copy: one
// stored repeated value where a kernel wants all elements, and a packed weight
// where the kernel at hand wants another blocking. Such a copy is made once,
// by the first session that asks, and counts as weights.
//
//   TRY(vm::ProgramRef program, vm::Program::LoadFile("model.ebb", {}));
//   TRY(auto session, vm::Session::Create(program, {}));
#ifndef EBB_VM_PROGRAM_H_
#define EBB_VM_PROGRAM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/error.h"
#include "bytecode/module.h"
#include "vm/external.h"

namespace ebb::vm {

class Program;

// Counts the references to a program, atomically.
class ProgramRef {
 public:
  ProgramRef() = default;
  // Takes over one reference.
  explicit ProgramRef(const Program* program) : program_(program) {}
  ProgramRef(const ProgramRef& other);
  ProgramRef(ProgramRef&& other) noexcept
      : program_(std::exchange(other.program_, nullptr)) {}
  ProgramRef& operator=(ProgramRef other) noexcept {
    std::swap(program_, other.program_);
    return *this;
  }
  ~ProgramRef();

  const Program* get() const { return program_; }
  const Program& operator*() const { return *program_; }
  const Program* operator->() const { return program_; }
  explicit operator bool() const { return program_ != nullptr; }
  // Gives the reference up without ending it.
  const Program* release() { return std::exchange(program_, nullptr); }

 private:
  const Program* program_ = nullptr;
};

struct WeightStats {
  uint64_t in_place_bytes = 0;  // Used where the file or the model has them.
  uint64_t owned_bytes = 0;     // Copies that this program made.
  uint64_t unpacked_count = 0;  // Constants whose packing did not fit.
  uint64_t expanded_count = 0;  // Repeated values written out.
};

class Program {
 public:
  struct LoadOptions {
    std::vector<External> externals;
    // Gets notes about the load; may be empty.
    std::function<void(const std::string& message)> log;
  };
  enum class Bytes : uint8_t {
    kCopy,    // The program keeps a copy.
    kBorrow,  // They outlive the program. Used in place when 64-byte aligned.
  };

  // All three verify the module and resolve its externals; every one that is
  // missing is named in one kNotFound error.
  static Expected<ProgramRef> LoadFile(const std::string& path,
                                       LoadOptions options);
  static Expected<ProgramRef> LoadBytes(std::span<const std::byte> bytes,
                                        Bytes ownership, LoadOptions options);
  static Expected<ProgramRef> Load(bytecode::Module module,
                                   LoadOptions options);

  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const bytecode::Module& module() const { return module_; }
  const bytecode::Function& entry() const {
    return module_.function(module_.entry);
  }
  // The function registered under the name; the name is one of the module's
  // externals.
  const ExternalFunction& external(bytecode::StringId name) const {
    return externals_[external_of_string_[name.index()]].function;
  }

  // Where the elements of a constant are in its stored form: aligned for its
  // dtype, and the bytes that may be read there.
  std::span<const std::byte> constant_bytes(bytecode::ConstantId id) const {
    return constants_[id.index()].stored;
  }
  // All elements, dense row-major. Makes the copy when there is none yet.
  Expected<const std::byte*> PlainConstant(bytecode::ConstantId id) const;

  WeightStats weight_stats() const;

 private:
  friend class ProgramRef;

  struct LoadedConstant {
    std::span<const std::byte> stored;
    std::byte* realigned = nullptr;  // Owns `stored`, when not null.
    // The plain copy, owned; set once.
    mutable std::atomic<std::byte*> plain = nullptr;
  };

  Program() = default;
  ~Program();
  Status ResolveExternals(std::vector<External> externals);
  Status PlaceConstants(const LoadOptions& options);
  void Ref() const { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() const;

  bytecode::Module module_;
  std::vector<External> externals_;
  std::vector<uint32_t> external_of_string_;
  std::vector<LoadedConstant> constants_;
  uint64_t in_place_bytes_ = 0;
  mutable std::atomic<uint64_t> owned_bytes_ = 0;
  mutable std::atomic<uint64_t> unpacked_count_ = 0;
  mutable std::atomic<uint64_t> expanded_count_ = 0;
  mutable std::atomic<uint64_t> references_ = 1;
};

// Bytes of the plain form of a constant; nullopt for strings and on overflow.
std::optional<int64_t> PlainBytes(const bytecode::Constant& constant);

}  // namespace ebb::vm

#endif  // EBB_VM_PROGRAM_H_
