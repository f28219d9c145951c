// Cuts `.ebbt` text into words, numbers, strings and single characters, with
// the place of each. Comments run from `//` to the end of the line. The first
// error sticks, and from then on the text is at its end, so that a parser's
// loops stop by themselves.
//
//   TextLexer in(text);
//   in.Expect("entry");
//   if (in.Take('%')) …
#ifndef EBB_BYTECODE_TEXT_LEXER_H_
#define EBB_BYTECODE_TEXT_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/error.h"

namespace ebb::bytecode {

struct Token {
  enum class Kind : uint8_t { kEnd, kWord, kNumber, kString, kCharacter };
  Kind kind = Kind::kEnd;
  std::string_view text;  // As it stands, quotes and escapes included.
  std::size_t begin = 0;
};

class TextLexer {
 public:
  explicit TextLexer(std::string_view text) : text_(text) { Advance(); }

  const Token& next() const { return next_; }
  bool ok() const { return message_.empty(); }
  bool AtEnd() const { return next_.kind == Token::Kind::kEnd; }
  Token TakeAny();

  bool Is(char character) const {
    return next_.kind == Token::Kind::kCharacter && next_.text[0] == character;
  }
  bool Is(std::string_view word) const {
    return next_.kind == Token::Kind::kWord && next_.text == word;
  }
  bool IsString() const { return next_.kind == Token::Kind::kString; }

  // Takes it when it is there.
  bool Take(char character);
  bool Take(std::string_view word);
  // Fails when it is not.
  void Expect(char character);
  void Expect(std::string_view word);

  std::string_view Word(std::string_view what);  // `what` is for the message.
  std::string String(std::string_view what);     // Escapes resolved.
  int64_t Number(std::string_view what);
  // A number from 0 to `most`.
  int64_t NumberUpTo(int64_t most, std::string_view what);
  // `{`, pairs of hexadecimal digits, `}`.
  std::vector<std::byte> HexBlock();

  // Records the first error, at the next token or at `place` in the text.
  void Fail(std::string message) { FailAt(next_.begin, std::move(message)); }
  void FailAt(std::size_t place, std::string message);
  // The error with "line:column" as where, or none.
  Status status() const;

 private:
  void Advance();
  void SkipBlanks();
  void FailExpecting(std::string_view what);

  std::string_view text_;
  std::size_t at_ = 0;  // After `next_`.
  Token next_;
  std::string message_;
  std::size_t failed_at_ = 0;
};

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_TEXT_LEXER_H_
