#include "bytecode/text_lexer.h"

#include <algorithm>
#include <charconv>

namespace ebb::bytecode {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void TextLexer::SkipBlanks() {
  while (at_ < text_.size()) {
    if (IsBlank(text_[at_])) {
      ++at_;
    } else if (text_.substr(at_).starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

void TextLexer::Advance() {
  SkipBlanks();
  const std::size_t begin = at_;
  next_ = {.kind = Token::Kind::kEnd, .begin = begin};
  if (!ok() || at_ == text_.size()) return;
  const char first = text_[at_++];
  const auto extend = [&](auto belongs) {
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
  };
  if (IsLetter(first)) {
    next_.kind = Token::Kind::kWord;
    extend([](char c) { return IsLetter(c) || IsDigit(c) || c == '.'; });
  } else if (IsDigit(first) ||
             (first == '-' && at_ < text_.size() && IsDigit(text_[at_]))) {
    next_.kind = Token::Kind::kNumber;
    extend([&](char c) {
      const bool after_e = text_[at_ - 1] == 'e';
      return IsLetter(c) || IsDigit(c) || c == '.' ||
             (after_e && (c == '-' || c == '+'));
    });
  } else if (first == '"') {
    next_.kind = Token::Kind::kString;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    if (at_ >= text_.size() || text_[at_] != '"') {
      FailAt(begin, "the string has no end");
      return;
    }
    ++at_;
  } else {
    next_.kind = Token::Kind::kCharacter;
  }
  next_.text = text_.substr(begin, at_ - begin);
}

Token TextLexer::TakeAny() {
  const Token taken = next_;
  Advance();
  return taken;
}

bool TextLexer::Take(char character) {
  if (!Is(character)) return false;
  Advance();
  return true;
}

bool TextLexer::Take(std::string_view word) {
  if (!Is(word)) return false;
  Advance();
  return true;
}

void TextLexer::FailExpecting(std::string_view what) {
  Fail(
      "expected " + std::string(what) + ", found " +
      (AtEnd() ? std::string("the end") : "'" + std::string(next_.text) + "'"));
}

void TextLexer::Expect(char character) {
  if (!Take(character)) FailExpecting("'" + std::string(1, character) + "'");
}

void TextLexer::Expect(std::string_view word) {
  if (!Take(word)) FailExpecting("'" + std::string(word) + "'");
}

std::string_view TextLexer::Word(std::string_view what) {
  if (next_.kind != Token::Kind::kWord) {
    FailExpecting(what);
    return {};
  }
  return TakeAny().text;
}

std::string TextLexer::String(std::string_view what) {
  if (!IsString()) {
    FailExpecting(what);
    return {};
  }
  const std::string_view quoted = next_.text.substr(1, next_.text.size() - 2);
  std::string out;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] != '\\') {
      out += quoted[i];
      continue;
    }
    const char escape = quoted[++i];
    const int high = i + 2 < quoted.size() ? HexValue(quoted[i + 1]) : -1;
    const int low = i + 2 < quoted.size() ? HexValue(quoted[i + 2]) : -1;
    if (escape == '"' || escape == '\\') {
      out += escape;
    } else if (escape == 'n') {
      out += '\n';
    } else if (escape == 'x' && high >= 0 && low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      FailAt(next_.begin + i, "the escape is not one of \\\" \\\\ \\n \\xHH");
      return {};
    }
  }
  Advance();
  return out;
}

int64_t TextLexer::Number(std::string_view what) {
  int64_t value = 0;
  const char* const end = next_.text.data() + next_.text.size();
  if (next_.kind == Token::Kind::kNumber) {
    const auto result = std::from_chars(next_.text.data(), end, value);
    if (result.ec == std::errc() && result.ptr == end) {
      Advance();
      return value;
    }
  }
  FailExpecting(what);
  return 0;
}

int64_t TextLexer::NumberUpTo(int64_t most, std::string_view what) {
  const std::size_t place = next_.begin;
  const int64_t value = Number(what);
  if (ok() && (value < 0 || value > most)) {
    FailAt(place, std::string(what) + " " + std::to_string(value) +
                      " is not from 0 to " + std::to_string(most));
    return 0;
  }
  return value;
}

std::vector<std::byte> TextLexer::HexBlock() {
  if (!Is('{')) FailExpecting("'{'");
  std::vector<std::byte> bytes;
  int high = -1;
  for (; ok(); ++at_) {
    SkipBlanks();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '}' && high < 0) {
      ++at_;
      Advance();
      return bytes;
    }
    const int digit = HexValue(c);
    if (digit < 0) {
      FailAt(at_, "expected two hexadecimal digits or '}'");
    } else if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<std::byte>(high * 16 + digit));
      high = -1;
    }
  }
  return {};
}

void TextLexer::FailAt(std::size_t place, std::string message) {
  if (ok()) {
    message_ = std::move(message);
    failed_at_ = std::min(place, text_.size());
  }
  at_ = text_.size();
  next_ = {.kind = Token::Kind::kEnd, .begin = at_};
}

Status TextLexer::status() const {
  if (ok()) return {};
  const std::string_view before = text_.substr(0, failed_at_);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0.
  return ebb::Fail(
      ErrorCode::kInvalidFile, message_,
      std::to_string(line) + ":" + std::to_string(failed_at_ - line_begin + 1));
}

}  // namespace ebb::bytecode
