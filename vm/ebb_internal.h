// What lies behind the opaque types of ebb.h. For the sources of the C
// interface and for the compiler's part of it (compiler/ebb_compiler.h), which
// makes programs out of modules; not installed.
//
//   ebb_error* ebb_compile_file(const char* path, ebb_program** program) {
//     return Guarded([&]() -> Status {
//       TRY(bytecode::Module module, Compile(path));
//       TRY(*program, MakeApiProgram(std::move(module), options));
//       return {};
//     });
//   }
#ifndef EBB_VM_EBB_INTERNAL_H_
#define EBB_VM_EBB_INTERNAL_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/error.h"
#include "bytecode/module.h"
#include "vm/ebb.h"
#include "vm/program.h"
#include "vm/session.h"

// Declared outside any namespace by ebb.h.
struct ebb_error {
  ebb_code code = EBB_OK;
  std::string message;
  std::string where;
};

struct ebb_program {
  // One input or output, in the form that ebb_info points to.
  struct Info {
    std::vector<int64_t> dims;
    std::vector<const char*> symbols;
    ebb_info info;
  };

  std::atomic<uint64_t> references = 1;
  ebb::vm::ProgramRef program;
  std::vector<Info> inputs;
  std::vector<Info> outputs;
};

struct ebb_session {
  std::unique_ptr<ebb::vm::Observer> observer;
  std::unique_ptr<ebb::vm::Session> session;
};

namespace ebb::vm {

// Never nullptr: without memory for the error itself, one that says so.
ebb_error* MakeApiError(Error error) noexcept;
ebb_error* MakeOutOfMemoryError() noexcept;

// The border that no exception crosses.
template <class Function>
ebb_error* Guarded(Function&& function) noexcept {
  try {
    Status status = std::forward<Function>(function)();
    if (status.has_value()) return nullptr;
    return MakeApiError(std::move(status).error());
  } catch (const std::bad_alloc&) {
    return MakeOutOfMemoryError();
  } catch (const std::length_error&) {
    return MakeOutOfMemoryError();
  }
}

// An options struct as this library knows it: what the caller's version does
// not have is 0. `options` may be nullptr.
template <class Options>
Expected<Options> ReadOptions(const Options* options) {
  Options result{};
  if (options == nullptr) return result;
  if (options->struct_size < sizeof(std::size_t)) {
    return Fail(ErrorCode::kInvalidArgument,
                "struct_size is " + std::to_string(options->struct_size) +
                    ", set it to the size of the struct");
  }
  std::memcpy(&result, options,
              std::min(options->struct_size, sizeof(Options)));
  return result;
}

// The inverse, into the caller's struct.
template <class Result>
Status WriteResult(Result result, Result* to) {
  if (to->struct_size < sizeof(std::size_t)) {
    return Fail(ErrorCode::kInvalidArgument,
                "struct_size is " + std::to_string(to->struct_size) +
                    ", set it to the size of the struct");
  }
  result.struct_size = to->struct_size;
  std::memcpy(to, &result, std::min(to->struct_size, sizeof(Result)));
  return {};
}

// Wraps what the C interface's load options say.
Expected<Program::LoadOptions> MakeLoadOptions(const ebb_load_options& options);
// Both give a program with one reference.
Expected<ebb_program*> MakeApiProgram(ProgramRef program);
Expected<ebb_program*> MakeApiProgram(bytecode::Module module,
                                      Program::LoadOptions options);

// Fails on a negative rank or missing dims.
Expected<TensorView> ViewOfApi(const ebb_tensor& tensor);
ebb_tensor ToApi(const TensorView& view);

// An ebb_value is a Kept under another name.
inline ebb_value* ToApi(TakenValue value) {
  return reinterpret_cast<ebb_value*>(value.release());
}
inline Kept* KeptOf(const ebb_value* value) {
  return reinterpret_cast<Kept*>(const_cast<ebb_value*>(value));
}

// Lends the caller's value to functions that take a TakenValue.
class Lent {
 public:
  explicit Lent(const ebb_value* value) : value_(KeptOf(value)) {}
  Lent(Lent&& other) noexcept : value_(std::move(other.value_)) {}
  ~Lent() { value_.release(); }
  const TakenValue& get() const { return value_; }

 private:
  TakenValue value_;
};

}  // namespace ebb::vm

#endif  // EBB_VM_EBB_INTERNAL_H_
