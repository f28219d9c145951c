#include "tools/quantities.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <system_error>

namespace ebb::tools {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr std::array kUnits = {
    Unit{"", 1},         Unit{"B", 1},        Unit{"KiB", 0x1p10},
    Unit{"MiB", 0x1p20}, Unit{"GiB", 0x1p30}, Unit{"TiB", 0x1p40},
    Unit{"kB", 1e3},     Unit{"MB", 1e6},     Unit{"GB", 1e9},
    Unit{"TB", 1e12},
};

std::string Formatted(const char* format, double value) {
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), format, value);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

std::unexpected<Error> NotA(std::string_view what, std::string_view text) {
  return Fail(ErrorCode::kInvalidArgument,
              "\"" + std::string(text) + "\" is not a " + std::string(what));
}

}  // namespace

Expected<uint64_t> ParseBytes(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, number);
  std::string_view unit(at, static_cast<std::size_t>(end - at));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (code != std::errc() || !(number >= 0)) {
    return NotA("size such as 32MiB", text);
  }
  for (const Unit& known : kUnits) {
    if (known.name != unit) continue;
    const double bytes = number * known.bytes;
    if (bytes >= 0x1p63) break;
    return static_cast<uint64_t>(std::llround(bytes));
  }
  return NotA("size such as 32MiB", text);
}

std::string BytesText(uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  constexpr std::array<const char*, 5> kNames = {" B", " KiB", " MiB", " GiB",
                                                 " TiB"};
  while (value >= 1024 && unit + 1 < kNames.size()) {
    value /= 1024;
    ++unit;
  }
  return Formatted(value < 100 ? "%.2f" : "%.1f", value) + kNames[unit];
}

Expected<int64_t> ParseInt(std::string_view text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || at != end || text.empty()) {
    return NotA("whole number", text);
  }
  return number;
}

Expected<double> ParseDouble(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || at != end || text.empty()) {
    return NotA("number", text);
  }
  return number;
}

std::string MillisecondsText(double milliseconds) {
  if (milliseconds >= 100) return Formatted("%.0f", milliseconds);
  if (milliseconds >= 10) return Formatted("%.1f", milliseconds);
  if (milliseconds >= 1) return Formatted("%.2f", milliseconds);
  return Formatted("%.3g", milliseconds);
}

std::string NumberText(double value) { return Formatted("%.7g", value); }

std::string CountText(uint64_t count, std::string_view noun) {
  std::string text = std::to_string(count) + " " + std::string(noun);
  if (count != 1) text += "s";
  return text;
}

}  // namespace ebb::tools
