#include "compiler/ir/lexer.h"

#include <optional>

#include "compiler/ir/text.h"

namespace ebb::ir {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool IsWord(char c) { return IsWordStart(c) || IsDigit(c); }

std::optional<unsigned> HexDigit(char c) {
  if (IsDigit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

void SetError(Token& token, std::string message) {
  token.kind = TokenKind::kError;
  token.value = std::move(message);
}

}  // namespace

void Lexer::SkipSpace() {
  while (at_ < source_.size()) {
    const char c = source_[at_];
    if (c == '#') {
      while (at_ < source_.size() && source_[at_] != '\n') ++at_;
    } else if (c == '\n') {
      ++at_;
      ++line_;
      line_start_ = at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

// After the opening quote; a string ends on its line.
void Lexer::LexString(Token& token) {
  token.kind = TokenKind::kString;
  while (true) {
    if (at_ >= source_.size() || source_[at_] == '\n') {
      return SetError(token, "string does not end on its line");
    }
    const char c = source_[at_++];
    if (c == '"') return;
    if (c != '\\') {
      token.value += c;
      continue;
    }
    const char escape = At();
    ++at_;
    if (escape == 'n') {
      token.value += '\n';
    } else if (escape == 't') {
      token.value += '\t';
    } else if (escape == '"' || escape == '\\') {
      token.value += escape;
    } else if (escape == 'x' && HexDigit(At()) && HexDigit(At(1))) {
      token.value += static_cast<char>(*HexDigit(At()) * 16 + *HexDigit(At(1)));
      at_ += 2;
    } else {
      return SetError(token, "string has an unknown escape");
    }
  }
}

// After the sigil.
void Lexer::LexName(Token& token) {
  const TokenKind kind = token.kind;
  if (At() == '"') {
    ++at_;
    LexString(token);
    if (token.kind != TokenKind::kString) return;
    token.kind = kind;
    if (token.value.empty()) SetError(token, "a name is empty");
    return;
  }
  const std::size_t start = at_;
  while (at_ < source_.size() && IsPlainNameCharacter(source_[at_])) ++at_;
  token.value = source_.substr(start, at_ - start);
  if (token.value.empty()) SetError(token, "a name is missing after the sign");
}

void Lexer::LexNumber() {
  if (At() == '0' && At(1) == 'x') {
    at_ += 2;
    while (HexDigit(At())) ++at_;
    return;
  }
  while (IsDigit(At())) ++at_;
  // `1..8` is a range, not 1. and .8
  if (At() == '.' && IsDigit(At(1))) {
    ++at_;
    while (IsDigit(At())) ++at_;
  }
  if (At() == 'e' || At() == 'E') {
    const std::size_t sign = At(1) == '-' || At(1) == '+' ? 1 : 0;
    if (!IsDigit(At(1 + sign))) return;
    at_ += 1 + sign;
    while (IsDigit(At())) ++at_;
  }
}

Token Lexer::Next() {
  SkipSpace();
  Token token;
  token.location = Location{
      .line = line_, .column = static_cast<uint32_t>(at_ - line_start_ + 1)};
  if (at_ >= source_.size()) return token;
  const std::size_t start = at_;
  const char c = source_[at_];
  if (IsWordStart(c)) {
    token.kind = TokenKind::kIdentifier;
    while (IsWord(At())) ++at_;
  } else if (IsDigit(c)) {
    token.kind = TokenKind::kNumber;
    LexNumber();
  } else if (c == '%' || c == '@') {
    token.kind = c == '%' ? TokenKind::kValue : TokenKind::kGlobal;
    ++at_;
    LexName(token);
  } else if (c == '"') {
    ++at_;
    LexString(token);
  } else if ((c == '-' && At(1) == '>') || (c == '.' && At(1) == '.')) {
    token.kind = TokenKind::kPunct;
    at_ += 2;
  } else if (std::string_view("()[]{},:=<+-*?").find(c) !=
             std::string_view::npos) {
    token.kind = TokenKind::kPunct;
    ++at_;
  } else {
    ++at_;
    SetError(token, "unexpected character");
  }
  token.text = source_.substr(start, at_ - start);
  return token;
}

}  // namespace ebb::ir
