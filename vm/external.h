// Functions of the embedder that `call_external` reaches by name.
//
// A function sees its arguments (tensors or objects, and integers) and makes
// its results out of the session's memory, so that they count against its
// limit and die by kill like everything else. Arguments are borrowed for the
// call. Writing through an argument is allowed where `writable` says so: that
// is how a function in destination-passing style gives its results. A program
// may be run by many sessions at once, so the function must allow that too.
//
//   externals.push_back({"add_tensors", [](vm::ExternalCall& call) -> Status {
//     TRY(vm::Tensor* x, call.TensorArgument(0));
//     TRY(vm::Tensor* y, call.MakeTensorResult(0, x->dtype, x->Dims()));
//     …
//     return {};
//   }});
#ifndef EBB_VM_EXTERNAL_H_
#define EBB_VM_EXTERNAL_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "bytecode/error.h"
#include "vm/memory.h"
#include "vm/value.h"

namespace ebb::vm {

class ExternalCall {
 public:
  // `results` are filled in; entries start as nullptr.
  ExternalCall(Memory& memory, std::span<Value* const> arguments,
               std::span<const int64_t> ints, std::span<Value*> results)
      : memory_(memory),
        arguments_(arguments),
        ints_(ints),
        results_(results) {}

  std::span<Value* const> arguments() const { return arguments_; }
  std::span<const int64_t> ints() const { return ints_; }
  std::size_t result_count() const { return results_.size(); }

  Expected<Tensor*> TensorArgument(std::size_t index) const;

  // A dense tensor to write the result into.
  Expected<Tensor*> MakeTensorResult(std::size_t index, DType dtype,
                                     std::span<const int64_t> dims);
  // The result is a second hold on an argument.
  Status ShareArgument(std::size_t index, std::size_t argument);
  // Something of the embedder's; `release` is called at its last hold.
  Status MakeOpaqueResult(std::size_t index, void* opaque,
                          void (*release)(void* opaque));

 private:
  Status SetResult(std::size_t index, Value* value);

  Memory& memory_;
  std::span<Value* const> arguments_;
  std::span<const int64_t> ints_;
  std::span<Value*> results_;
};

using ExternalFunction = std::function<Status(ExternalCall&)>;

struct External {
  std::string name;
  ExternalFunction function;
};

}  // namespace ebb::vm

#endif  // EBB_VM_EXTERNAL_H_
