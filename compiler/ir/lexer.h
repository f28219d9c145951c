// Tokens of the text form. `#` begins a comment that lasts to the end of the
// line. Tokens view the source text, which must outlive them.
#ifndef EBB_COMPILER_IR_LEXER_H_
#define EBB_COMPILER_IR_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/ir/ir.h"

namespace ebb::ir {

enum class TokenKind : uint8_t {
  kEnd,
  kIdentifier,  // text
  kValue,       // %name: the name in `value`
  kGlobal,      // @name
  kNumber,      // text: 12, 0x1f, 1.5, 1e-05; never signed
  kString,      // decoded in `value`
  kPunct,       // text: one character, or "->" or ".."
  kError,       // what is wrong in `value`
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  std::string value;
  Location location;

  // A punctuation mark or a bare word.
  bool Is(std::string_view word) const {
    return (kind == TokenKind::kPunct || kind == TokenKind::kIdentifier) &&
           text == word;
  }
};

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  // kEnd for ever once the text is over.
  Token Next();

 private:
  char At(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  void SkipSpace();
  void LexName(Token& token);
  void LexString(Token& token);
  void LexNumber();

  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  uint32_t line_ = 1;
};

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_LEXER_H_
