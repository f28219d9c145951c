#include "tools/exit_code.h"

#include <iostream>
#include <string>

namespace ebb::tools {

std::string Printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      shown += c;
    } else {
      shown += "\\x";
      shown += kDigits[byte >> 4];
      shown += kDigits[byte & 15];
    }
  }
  return shown;
}

void SayError(std::string_view where, std::string_view what) {
  // What was printed before belongs before it where both go to one place.
  std::cout.flush();
  std::string line = "ebb: ";
  if (!where.empty()) line += Printable(where) + ": ";
  line += Printable(what) + "\n";
  std::cerr << line << std::flush;
}

int SayError(std::string_view where, const Error& error) {
  std::string place(where);
  // A library that was given the path may have put it in front already.
  if (!error.where.empty() && error.where != where) {
    if (error.where.starts_with(where)) {
      place = error.where;
    } else {
      place += (place.empty() ? "" : ": ") + error.where;
    }
  }
  SayError(place, error.message);
  return ExitCodeOf(error);
}

int ExitCodeOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kInvalidModel:
    case ErrorCode::kInvalidFile:
    case ErrorCode::kNotFound:
    case ErrorCode::kIo:
      return kBadUsage;
    case ErrorCode::kUnsupported:
    case ErrorCode::kShapeMismatch:
    case ErrorCode::kOutOfRange:
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kCancelled:
    case ErrorCode::kLimit:
      return kFailed;
  }
  return kFailed;
}

}  // namespace ebb::tools
