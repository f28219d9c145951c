// One error type for every layer: a code for programs, a message for people,
// and where it happened. Bad input (a model, a file, arguments, shapes) comes
// back as `std::expected<T, Error>`; our own bugs are asserts.
//
//   std::expected<Module, Error> Load(std::span<const std::byte> bytes);
//   TRY(Module module, Load(bytes));      // returns the error to the caller
//   RETURN_IF_ERROR(Verify(module));
//
// Messages are lower-case, have no final period, and name the thing and both
// numbers: `constant 12: section holds 96 bytes, f32[8,4] needs 128`.
#ifndef EBB_BYTECODE_ERROR_H_
#define EBB_BYTECODE_ERROR_H_

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace ebb {

enum class ErrorCode : uint8_t {
  kInvalidArgument = 1,  // A call's arguments do not fit.
  kInvalidModel = 2,     // The ONNX model is malformed.
  kUnsupported = 3,      // Well-formed, but beyond what is built in.
  kInvalidFile = 4,      // Damaged or hostile bytecode, text or tensor file.
  kShapeMismatch = 5,    // Shapes or dtypes do not fit at compile or run time.
  kOutOfRange = 6,       // An index read from data lies outside its axis.
  kOutOfMemory = 7,      // The limit was reached or the backing refused.
  kNotFound = 8,         // A file, name or external function is missing.
  kCancelled = 9,        // Another thread asked the run to stop.
  kIo = 10,              // The operating system refused a read or a write.
  kLimit = 11,           // A stated limit (nesting, rank, depth) was passed.
};

// Stable lower-case name of `code`, such as "out_of_memory".
const char* ErrorCodeName(ErrorCode code);

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;
  std::string where;  // A node, a file, "line:column"; may be empty.

  // "where: message", or the message alone.
  std::string ToString() const;
};

template <class T>
using Expected = std::expected<T, Error>;
using Status = std::expected<void, Error>;

inline std::unexpected<Error> Fail(ErrorCode code, std::string message,
                                   std::string where = {}) {
  return std::unexpected(Error{code, std::move(message), std::move(where)});
}

}  // namespace ebb

#define EBB_CONCAT_INNER(a, b) a##b
#define EBB_CONCAT(a, b) EBB_CONCAT_INNER(a, b)

// TRY(auto x, F()): declares x from F's value or returns F's error.
#define TRY(declaration, expression) \
  EBB_TRY_INNER(EBB_CONCAT(try_, __LINE__), declaration, expression)
#define EBB_TRY_INNER(result, declaration, expression)                        \
  auto result = (expression);                                                 \
  if (!result.has_value()) return std::unexpected(std::move(result).error()); \
  declaration = std::move(*result)

#define RETURN_IF_ERROR(expression)                        \
  do {                                                     \
    if (auto status_ = (expression); !status_.has_value()) \
      return std::unexpected(std::move(status_).error());  \
  } while (false)

#endif  // EBB_BYTECODE_ERROR_H_
