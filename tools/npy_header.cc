#include "tools/npy_header.h"

#include <charconv>
#include <system_error>

namespace ebb::tools {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxRank = 64;  // NumPy's own limit.

std::unexpected<Error> Bad(std::string what) {
  return Fail(ErrorCode::kInvalidFile, std::move(what));
}

// Reads the dict literal from left to right.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : text_(text) {}

  bool Take(char c) {
    SkipSpace();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool TakeWord(std::string_view word) {
    SkipSpace();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  // A string in either kind of quotes, without escapes.
  Expected<std::string_view> String() {
    SkipSpace();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) {
      return Bad("npy header: a string is missing");
    }
    const std::size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) {
      return Bad("npy header: a string does not end");
    }
    const std::string_view inner = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return inner;
  }
  Expected<int64_t> Integer() {
    SkipSpace();
    int64_t value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [at, code] = std::from_chars(text_.data(), end, value);
    if (code != std::errc() || value < 0) {
      return Bad("npy header: shape holds something that is no size");
    }
    text_.remove_prefix(static_cast<std::size_t>(at - text_.data()));
    // Python 2 wrote long integers with an L.
    if (text_.starts_with('L')) text_.remove_prefix(1);
    return value;
  }

 private:
  void SkipSpace() {
    const std::size_t start = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(start == std::string_view::npos ? text_.size() : start);
  }

  std::string_view text_;
};

Status ParseDescr(std::string_view descr, NpyHeader& header) {
  std::string_view rest = descr;
  if (!rest.empty() &&
      std::string_view("<>|=").find(rest[0]) != std::string_view::npos) {
    header.big_endian = rest[0] == '>';
    rest.remove_prefix(1);
  }
  if (rest.size() >= 2) {
    header.kind = rest[0];
    const char* const end = rest.data() + rest.size();
    const auto [at, code] = std::from_chars(rest.data() + 1, end, header.size);
    // A billion characters in one string is nobody's data.
    if (code == std::errc() && at == end && header.size >= 0 &&
        header.size < (int64_t{1} << 30)) {
      return {};
    }
  }
  return Fail(ErrorCode::kUnsupported,
              "npy dtype \"" + std::string(descr) + "\" is not supported");
}

Status ParseShape(DictReader& in, NpyHeader& header) {
  if (!in.Take('(')) return Bad("npy header: shape is no tuple");
  while (!in.Take(')')) {
    if (header.shape.size() == kMaxRank) {
      return Bad("npy header: shape has more than 64 dims");
    }
    TRY(const int64_t size, in.Integer());
    header.shape.push_back(size);
    if (!in.Take(',')) {
      if (!in.Take(')')) return Bad("npy header: shape does not end");
      break;
    }
  }
  return {};
}

Status ParseDict(std::string_view text, NpyHeader& header) {
  DictReader in(text);
  bool has_descr = false;
  bool has_order = false;
  bool has_shape = false;
  if (!in.Take('{')) return Bad("npy header: no dict");
  while (!in.Take('}')) {
    TRY(const std::string_view key, in.String());
    if (!in.Take(':')) return Bad("npy header: a colon is missing");
    if (key == "descr") {
      TRY(const std::string_view descr, in.String());
      RETURN_IF_ERROR(ParseDescr(descr, header));
      has_descr = true;
    } else if (key == "fortran_order") {
      header.fortran_order = in.TakeWord("True");
      if (!header.fortran_order && !in.TakeWord("False")) {
        return Bad("npy header: fortran_order is neither True nor False");
      }
      has_order = true;
    } else if (key == "shape") {
      header.shape.clear();
      RETURN_IF_ERROR(ParseShape(in, header));
      has_shape = true;
    } else {
      return Bad("npy header: unknown key \"" + std::string(key) + "\"");
    }
    if (!in.Take(',') && !in.Take('}')) {
      return Bad("npy header: a comma is missing");
    }
    if (has_descr && has_order && has_shape) return {};
  }
  return Bad("npy header: descr, fortran_order or shape is missing");
}

}  // namespace

Expected<NpyHeader> ParseNpyHeader(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()),
                              file.size());
  if (!text.starts_with(kMagic) || text.size() < 10) {
    return Bad("not a npy file");
  }
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(text[i]));
  };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) {
    return Fail(ErrorCode::kUnsupported, "npy format version " +
                                             std::to_string(version) +
                                             " is not one of 1, 2, 3");
  }
  std::size_t start = 10;
  std::size_t length = byte(8) | byte(9) << 8U;
  if (version >= 2) {
    start = 12;
    if (text.size() < start) return Bad("npy header: cut off");
    length |= byte(10) << 16U | byte(11) << 24U;
  }
  if (length > text.size() - start) {
    return Bad("npy header: needs " + std::to_string(length) + " bytes, " +
               std::to_string(text.size() - start) + " are left");
  }
  NpyHeader header;
  header.data_offset = start + length;
  RETURN_IF_ERROR(ParseDict(text.substr(start, length), header));
  return header;
}

std::string NpyHeaderText(std::string_view descr,
                          std::span<const int64_t> shape) {
  std::string dict = "{'descr': '" + std::string(descr) +
                     "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    dict += std::to_string(shape[i]);
    if (i == 0 || i + 1 < shape.size()) dict += ",";
    if (i + 1 < shape.size()) dict += " ";
  }
  dict += "), }";
  // At most 8 dims of 20 digits: always far below 64 KiB, so version 1.
  constexpr std::size_t kPrefix = 10;
  while ((kPrefix + dict.size() + 1) % 64 != 0) dict += ' ';
  dict += '\n';
  std::string text(kMagic);
  text += '\x01';
  text += '\0';
  text += static_cast<char>(dict.size() & 0xff);
  text += static_cast<char>(dict.size() >> 8U);
  return text + dict;
}

}  // namespace ebb::tools
