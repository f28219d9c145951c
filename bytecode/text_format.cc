#include "bytecode/text_format.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <variant>
#include <vector>

namespace ebb::bytecode {

void AppendHex(std::string& out, uint8_t byte) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  out += kHexDigits[byte >> 4];
  out += kHexDigits[byte & 15];
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += "\\x";
      AppendHex(out, byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool IsIdentifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (text.empty() || !is_letter(text[0])) return false;
  for (const char c : text) {
    if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '.') return false;
  }
  return true;
}

namespace {

// The shortest text that reads back as the same number and as a float.
std::string FloatText(float value) {
  if (!std::isfinite(value)) {
    std::string out = "float(0x";
    const auto bits = std::bit_cast<uint32_t>(value);
    for (int shift = 24; shift >= 0; shift -= 8) {
      AppendHex(out, static_cast<uint8_t>(bits >> shift));
    }
    return out + ")";
  }
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string out(buffer, end);
  if (out.find_first_of(".e") == out.npos) out += ".0";
  return out;
}

std::string ItemText(int64_t value) { return std::to_string(value); }
std::string ItemText(float value) { return FloatText(value); }
std::string ItemText(const std::string& value) { return Quoted(value); }
template <class T>
std::string ItemText(const std::vector<T>& values) {
  std::string out = std::is_same_v<T, int64_t> ? "ints["
                    : std::is_same_v<T, float> ? "floats["
                                               : "strings[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    out += (i > 0 ? ", " : "") + ItemText(values[i]);
  }
  return out + "]";
}

}  // namespace

std::string AttributeText(const AttributeValue& value) {
  return std::visit([](const auto& item) { return ItemText(item); }, value);
}

}  // namespace ebb::bytecode
