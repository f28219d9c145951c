// How strings, bytes and attribute values are written in `.ebbt` text; the
// lexer (text_lexer.h) reads them back as the same bits.
#ifndef EBB_BYTECODE_TEXT_FORMAT_H_
#define EBB_BYTECODE_TEXT_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "bytecode/attributes.h"

namespace ebb::bytecode {

// Two lower-case hexadecimal digits.
void AppendHex(std::string& out, uint8_t byte);
// In quotes; whatever is not printable ASCII as \xHH.
std::string Quoted(std::string_view text);
// A word that the lexer takes for one.
bool IsIdentifier(std::string_view text);
std::string AttributeText(const AttributeValue& value);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_TEXT_FORMAT_H_
