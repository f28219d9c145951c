#include "compiler/ir/parser.h"

#include <charconv>
#include <utility>

#include "compiler/ir/constant_text.h"
#include "compiler/ir/parser_impl.h"
#include "compiler/ir/text.h"

namespace ebb::ir {
namespace {

std::string Describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kString:
      return "a string";
    default:
      return "'" + std::string(token.text) + "'";
  }
}

}  // namespace

Parser::Parser(std::string_view text) : lexer_(text) {
  for (Token& token : tokens_) token = lexer_.Next();
}

Token Parser::Take() {
  Token taken = std::move(tokens_[0]);
  tokens_[0] = std::move(tokens_[1]);
  tokens_[1] = std::move(tokens_[2]);
  tokens_[2] = lexer_.Next();
  return taken;
}

bool Parser::Accept(std::string_view word) {
  if (!Peek().Is(word)) return false;
  Take();
  return true;
}

std::unexpected<Error> Parser::FailAt(Location location,
                                      std::string message) const {
  return Fail(
      ErrorCode::kInvalidFile, std::move(message),
      std::to_string(location.line) + ":" + std::to_string(location.column));
}

std::unexpected<Error> Parser::FailExpected(std::string_view what) const {
  const Token& token = Peek();
  if (token.kind == TokenKind::kError) {
    return FailAt(token.location, token.value);
  }
  return FailAt(token.location,
                "expected " + std::string(what) + ", found " + Describe(token));
}

Status Parser::Expect(std::string_view word) {
  if (Accept(word)) return {};
  return FailExpected("'" + std::string(word) + "'");
}

Status Parser::CheckDepth(int depth) const {
  if (depth <= kMaxNesting) return {};
  return Fail(ErrorCode::kLimit,
              "nesting is deeper than " + std::to_string(kMaxNesting),
              std::to_string(Peek().location.line) + ":" +
                  std::to_string(Peek().location.column));
}

Expected<std::string> Parser::TakeString(std::string_view what) {
  if (Peek().kind != TokenKind::kString) return FailExpected(what);
  return Take().value;
}

Expected<Parser::Name> Parser::TakeGlobal() {
  if (Peek().kind != TokenKind::kGlobal) return FailExpected("a @name");
  Token token = Take();
  return Name{std::move(token.value), token.location};
}

Expected<std::string> Parser::TakeWord(std::string_view what) {
  if (Peek().kind == TokenKind::kString) return Take().value;
  if (Peek().kind != TokenKind::kIdentifier) return FailExpected(what);
  return std::string(Take().text);
}

Expected<int64_t> Parser::TakeInt() {
  const Location location = Peek().location;
  std::string text = Accept("-") ? "-" : "";
  if (Peek().kind != TokenKind::kNumber) return FailExpected("a number");
  text += Take().text;
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) {
    return FailAt(location, "'" + text + "' is not a 64-bit integer");
  }
  return value;
}

Expected<int64_t> Parser::TakeSetting(std::string_view name) {
  RETURN_IF_ERROR(Expect(name));
  RETURN_IF_ERROR(Expect("="));
  return TakeInt();
}

Expected<Module> Parser::Run() {
  while (Peek().kind != TokenKind::kEnd) {
    RETURN_IF_ERROR(ParseItem());
  }
  RETURN_IF_ERROR(Finish());
  return std::move(module_);
}

Status Parser::ParseItem() {
  if (Accept("entry")) return ParseEntry();
  if (Accept("metadata")) return ParseMetadata();
  if (Accept("dim")) return ParseDimDeclaration();
  if (Accept("const")) return ParseConstant();
  if (Accept("func")) return ParseFunction();
  return FailExpected("'func', 'const', 'dim', 'metadata' or 'entry'");
}

Status Parser::ParseEntry() {
  no_entry_ = Accept("none");
  if (no_entry_) return {};
  TRY(entry_, TakeGlobal());
  return {};
}

Status Parser::ParseMetadata() {
  TRY(std::string key, TakeString("a key in quotes"));
  RETURN_IF_ERROR(Expect("="));
  TRY(std::string value, TakeString("a value in quotes"));
  module_.metadata.emplace_back(std::move(key), std::move(value));
  return {};
}

Status Parser::ParseDimDeclaration() {
  TRY(const std::string name, TakeWord("the name of a symbol"));
  const SymbolId symbol = *module_.dims.AsSymbol(module_.dims.Symbol(name));
  const Location location = Peek().location;
  if (Accept("in")) {
    DimRange range;
    TRY(range.low, TakeInt());
    RETURN_IF_ERROR(Expect(".."));
    if (Peek().kind == TokenKind::kNumber || Peek().Is("-")) {
      TRY(range.high, TakeInt());
    }
    if (range.low > range.high) {
      return FailAt(location, "range " + std::to_string(range.low) + ".." +
                                  std::to_string(range.high) + " is empty");
    }
    module_.dims.SetRange(symbol, range);
  }
  if (Accept(",")) {
    TRY(const int64_t divisor, TakeSetting("divisor"));
    if (divisor < 1) {
      return FailAt(location, "divisor is " + std::to_string(divisor) +
                                  ", expected 1 or more");
    }
    module_.dims.SetDivisor(symbol, divisor);
  }
  return {};
}

Status Parser::ParseFunction() {
  TRY(Name name, TakeGlobal());
  const auto [at, is_new] = functions_.emplace(name.name, name.location);
  if (!is_new) {
    return FailAt(name.location, "function " + SigilName('@', name.name) +
                                     " is defined twice, first in line " +
                                     std::to_string(at->second.line));
  }
  Function function;
  function.name = std::move(name.name);
  function.location = name.location;
  function_ = &function;
  values_.clear();
  value_locations_.clear();
  predefined_ = {};
  RETURN_IF_ERROR(Expect("("));
  if (!Peek().Is(")")) {
    do {
      RETURN_IF_ERROR(ParseParam(function));
    } while (Accept(","));
  }
  RETURN_IF_ERROR(Expect(")"));
  if (Accept("->")) {
    RETURN_IF_ERROR(ParseResults(function));
  }
  if (Peek().Is("{")) {
    function.body = AddRegion();
    RETURN_IF_ERROR(ParseRegion(function.body));
    AddPredefinedConstants();
  }
  function_ = nullptr;
  module_.functions.push_back(std::move(function));
  return {};
}

Status Parser::ParseParam(Function& function) {
  if (Peek().kind != TokenKind::kValue) return FailExpected("a %parameter");
  Token token = Take();
  const Name name{std::move(token.value), token.location};
  Param param;
  Type type;
  if (Accept(":")) {
    param.donated = Accept("donated");
    TRY(type, ParseType());
  }
  if (Accept("=")) {
    TRY(const Name constant, TakeGlobal());
    param.default_value = FindOrAddConstant(constant);
  }
  TRY(param.value, DefineValue(name, std::move(type), InstrId()));
  function.params.push_back(param);
  return {};
}

Status Parser::ParseResults(Function& function) {
  if (!Accept("(")) return ParseResult(function);
  if (Accept(")")) return {};
  do {
    RETURN_IF_ERROR(ParseResult(function));
  } while (Accept(","));
  RETURN_IF_ERROR(Expect(")"));
  if (!function.result_names.empty() &&
      function.result_names.size() != function.result_types.size()) {
    return FailAt(Peek().location,
                  std::to_string(function.result_names.size()) + " of " +
                      std::to_string(function.result_types.size()) +
                      " results are named, expected all or none");
  }
  return {};
}

// `type` or `name: type`.
Status Parser::ParseResult(Function& function) {
  if (Peek(1).Is(":")) {
    TRY(std::string name, TakeWord("the name of a result"));
    function.result_names.push_back(std::move(name));
    RETURN_IF_ERROR(Expect(":"));
  }
  TRY(Type type, ParseType());
  function.result_types.push_back(std::move(type));
  return {};
}

// What the text takes for granted is defined at the start of the body.
void Parser::AddPredefinedConstants() {
  std::vector<InstrId>& code = function_->region(function_->body).instrs;
  std::vector<InstrId> before;
  for (const ValueId value : predefined_) {
    if (value.valid()) before.push_back(function_->value(value).def);
  }
  code.insert(code.begin(), before.begin(), before.end());
}

Status Parser::Finish() {
  for (const auto& [id, location] : undeclared_) {
    const Constant& constant = module_.constants[id.index()];
    if (constant.dtype == DType::kInvalid) {
      return FailAt(location,
                    "constant " + SigilName('@', constant.name) +
                        " is neither declared nor given a type of known dims");
    }
  }
  if (no_entry_) return {};
  if (entry_.has_value()) {
    module_.entry = module_.FindFunction(entry_->name);
    if (!module_.entry.valid()) {
      return FailAt(entry_->location, "entry " + SigilName('@', entry_->name) +
                                          " is no function");
    }
    return {};
  }
  module_.entry = module_.FindFunction("main");
  if (!module_.entry.valid() && !module_.functions.empty()) {
    module_.entry = FunctionId(0);
  }
  return {};
}

Expected<Module> ParseModule(std::string_view text) {
  return Parser(text).Run();
}

}  // namespace ebb::ir
