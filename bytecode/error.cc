#include "bytecode/error.h"

namespace ebb {

const char* ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kInvalidModel:
      return "invalid_model";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kInvalidFile:
      return "invalid_file";
    case ErrorCode::kShapeMismatch:
      return "shape_mismatch";
    case ErrorCode::kOutOfRange:
      return "out_of_range";
    case ErrorCode::kOutOfMemory:
      return "out_of_memory";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kLimit:
      return "limit";
  }
  return "unknown";
}

std::string Error::ToString() const {
  return where.empty() ? message : where + ": " + message;
}

}  // namespace ebb
