#include "compiler/ir/text.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ebb::ir {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

template <class Bits, class Float>
std::string FloatTextOf(Float value) {
  std::array<char, 64> buffer{};
  if (std::isnan(value)) {
    const auto bits = std::bit_cast<Bits>(value);
    constexpr auto kPlain =
        std::bit_cast<Bits>(std::numeric_limits<Float>::quiet_NaN());
    if (bits == kPlain) return "nan";
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), bits, 16);
    return "nan(0x" + std::string(buffer.data(), end.ptr) + ")";
  }
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string text(buffer.data(), end.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

bool IsIdentifier(std::string_view text) {
  if (text.empty() || !IsLetter(text.front())) return false;
  for (const char c : text) {
    if (!IsLetter(c) && !IsDigit(c)) return false;
  }
  return true;
}

bool IsPlainNameCharacter(char c) {
  return IsLetter(c) || IsDigit(c) || c == '.' || c == '/' || c == '$';
}

bool IsPlainName(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (!IsPlainNameCharacter(c)) return false;
  }
  return true;
}

std::string Quote(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (code < 0x20 || code == 0x7f) {
      result += "\\x";
      result += kHexDigits[code >> 4U];
      result += kHexDigits[code & 15U];
    } else {
      result += c;
    }
  }
  result += '"';
  return result;
}

std::string QuoteUnlessIdentifier(std::string_view text) {
  return IsIdentifier(text) ? std::string(text) : Quote(text);
}

std::string SigilName(char sigil, std::string_view name) {
  std::string result(1, sigil);
  result += IsPlainName(name) ? std::string(name) : Quote(name);
  return result;
}

std::string FloatText(float value) { return FloatTextOf<uint32_t>(value); }

std::string FloatText(double value) { return FloatTextOf<uint64_t>(value); }

}  // namespace ebb::ir
