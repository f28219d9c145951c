// Spelling of names, strings and numbers in the text form of the IR: what the
// printer writes and the lexer reads back to the same bytes.
//
//   QuoteUnlessIdentifier("batch")        batch
//   QuoteUnlessIdentifier("batch size")   "batch size"
//   FloatText(0.5)                        0.5
#ifndef EBB_COMPILER_IR_TEXT_H_
#define EBB_COMPILER_IR_TEXT_H_

#include <string>
#include <string_view>

namespace ebb::ir {

// [A-Za-z_][A-Za-z0-9_]*
bool IsIdentifier(std::string_view text);
// What may follow % or @ without quotes: letters, digits, _ . / $
bool IsPlainNameCharacter(char c);
bool IsPlainName(std::string_view text);

// In double quotes; \" \\ \n \t and \xHH for other control characters.
std::string Quote(std::string_view text);
std::string QuoteUnlessIdentifier(std::string_view text);
// "%x", "%\"a name\""; `sigil` is '%' or '@'.
std::string SigilName(char sigil, std::string_view name);

// Shortest text that reads back to the same value, always told from an
// integer: "1.0", "1e-05", "inf", "-inf", "nan"; the payload of another NaN
// than the plain one stands in parentheses, "nan(0x7fc00001)".
std::string FloatText(float value);
std::string FloatText(double value);

// The items, each spelled by `spell`, with ", " between them.
template <class Range, class Spell>
std::string Join(const Range& range, Spell spell) {
  std::string text;
  bool first = true;
  for (const auto& item : range) {
    if (!first) text += ", ";
    first = false;
    text += spell(item);
  }
  return text;
}

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_TEXT_H_
