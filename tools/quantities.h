// Numbers as people write them: sizes in bytes, durations, counts.
//
//   ParseBytes("32MiB")      33554432
//   BytesText(39321600)      "37.5 MiB"
#ifndef EBB_TOOLS_QUANTITIES_H_
#define EBB_TOOLS_QUANTITIES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "bytecode/error.h"

namespace ebb::tools {

// A number with B, KiB, MiB, GiB, kB, MB or GB, or none: bytes. Fractions are
// allowed with a unit.
Expected<uint64_t> ParseBytes(std::string_view text);
std::string BytesText(uint64_t bytes);

// The whole text as a decimal integer.
Expected<int64_t> ParseInt(std::string_view text);
Expected<double> ParseDouble(std::string_view text);

// Milliseconds with three significant digits: "0.0123", "4.56", "789".
std::string MillisecondsText(double milliseconds);

// Digits enough to tell one float from the next ones, not more.
std::string NumberText(double value);

// "1 input", "3 inputs".
std::string CountText(uint64_t count, std::string_view noun);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_QUANTITIES_H_
