// Functions of assembler text. Operands are read by the roles of the opcode's
// format, so that every opcode of the table has a text form.
#include <limits>
#include <utility>

#include "bytecode/operand_visitor.h"
#include "bytecode/text_parser.h"

namespace ebb::bytecode {

int64_t TextParser::Register(char bank) {
  const Token token = in_.next();
  const std::string_view word = in_.Word("a register");
  int64_t index = 0;
  bool is_right = word.size() > 1 && word[0] == bank && word.size() <= 11;
  for (std::size_t i = 1; i < word.size() && is_right; ++i) {
    is_right = word[i] >= '0' && word[i] <= '9';
    index = index * 10 + (word[i] - '0');
  }
  if (in_.ok() && !is_right) {
    in_.FailAt(token.begin, "expected a register %" + std::string(1, bank) +
                                "N, found '%" + std::string(word) + "'");
    return 0;
  }
  return index;
}

void TextParser::FunctionName(std::size_t function,
                              std::vector<int64_t>& words) {
  if (in_.next().kind == Token::Kind::kNumber) {
    words.push_back(in_.NumberUpTo(kMaxIndex, "the index of a function"));
    return;
  }
  const std::size_t place = in_.next().begin;
  std::string name = in_.IsString()
                         ? in_.String("a function")
                         : std::string(in_.Word("the name of a function"));
  pending_.push_back({.function = function,
                      .word = words.size(),
                      .name = std::move(name),
                      .place = place});
  words.push_back(-1);
}

void TextParser::FunctionText() {
  Function function;
  if (in_.Take('@')) {
    function.name = in_.IsString()
                        ? StringRef()
                        : Intern(std::string(in_.Word("a function's name")));
  } else {
    function.name = StringRef();
  }
  Params(function);
  Results(function);
  const int64_t most = std::numeric_limits<uint32_t>::max();
  in_.Expect("ints");
  function.int_register_count =
      static_cast<uint32_t>(in_.NumberUpTo(most, "the count of registers"));
  in_.Expect("holds");
  function.hold_register_count =
      static_cast<uint32_t>(in_.NumberUpTo(most, "the count of registers"));
  const bool named = in_.Take("named");
  Code(function);
  if (named) function.value_names.resize(function.code.size());
  module_.functions.push_back(std::move(function));
}

void TextParser::Params(Function& function) {
  in_.Expect('(');
  while (in_.ok() && !in_.Take(')')) {
    if (!function.params.empty()) in_.Expect(',');
    Param param;
    in_.Expect('%');
    const std::size_t place = in_.next().begin;
    const auto right = static_cast<int64_t>(function.params.size());
    if (Register('h') != right && in_.ok()) {
      in_.FailAt(place, "parameter " + std::to_string(right) +
                            " arrives in %h" + std::to_string(right));
    }
    param.name = StringRef();
    in_.Expect(':');
    param.donated = in_.Take("donated");
    param.type = TypeRef();
    if (in_.Take("default")) {
      in_.Expect('$');
      param.optional_feed = true;
      param.default_value = Index<ConstantId>("the index of a constant");
    }
    function.params.push_back(param);
  }
}

void TextParser::Results(Function& function) {
  in_.Expect('-');
  in_.Expect('>');
  in_.Expect('(');
  while (in_.ok() && !in_.Take(')')) {
    if (!function.results.empty()) in_.Expect(',');
    Result result;
    result.name = StringRef();
    in_.Expect(':');
    result.type = TypeRef();
    function.results.push_back(result);
  }
}

void TextParser::Code(Function& function) {
  labels_.clear();
  label_uses_.clear();
  in_.Expect('{');
  while (in_.ok() && !in_.Take('}')) InstructionText(function);
  for (const LabelUse& use : label_uses_) {
    const auto at = labels_.find(use.label.text);
    if (at == labels_.end()) {
      return in_.FailAt(
          use.label.begin,
          "label " + std::string(use.label.text) + " is not in the function");
    }
    function.words[use.word] = static_cast<int64_t>(at->second);
  }
}

// `label:`, or `mnemonic operands`, or `%r = mnemonic operands` where the
// first operand is a result.
void TextParser::InstructionText(Function& function) {
  if (function.words.size() > std::numeric_limits<uint32_t>::max()) {
    return in_.Fail("a function has more than 2^32 words of operands");
  }
  const auto first_word = static_cast<uint32_t>(function.words.size());
  std::optional<Role> defined;
  if (in_.Take('%')) {
    const bool is_int = in_.next().text.starts_with('i');
    defined = is_int ? Role::kDefInt : Role::kDefHold;
    function.words.push_back(Register(is_int ? 'i' : 'h'));
    in_.Expect('=');
  }
  const Token token = in_.next();
  const std::string_view mnemonic = in_.Word("an instruction");
  if (!in_.ok()) return;
  if (!defined.has_value() && in_.Take(':')) {
    if (!labels_.try_emplace(mnemonic, function.code.size()).second) {
      in_.FailAt(token.begin,
                 "label " + std::string(mnemonic) + " stands twice");
    }
    return;
  }
  const std::optional<Opcode> opcode = OpcodeFromMnemonic(mnemonic);
  if (!opcode.has_value()) {
    return in_.FailAt(token.begin,
                      "'" + std::string(mnemonic) + "' is not an instruction");
  }
  const std::span<const Role> roles = InfoOf(*opcode).roles;
  const bool defines = roles[0] == Role::kDefInt || roles[0] == Role::kDefHold;
  if (defines ? defined != roles[0] : defined.has_value()) {
    return in_.FailAt(token.begin, std::string(mnemonic) +
                                       (!defines ? " has no result in front"
                                        : roles[0] == Role::kDefInt
                                            ? " needs a result %iN in front"
                                            : " needs a result %hN in front"));
  }
  function.code.push_back({.opcode = *opcode, .first_word = first_word});
  if (!function.value_names.empty()) function.value_names.emplace_back();
  for (std::size_t i = defines ? 1 : 0; i < roles.size() && in_.ok(); ++i) {
    if (i > (defines ? 1U : 0U)) in_.Expect(',');
    OperandText(roles[i], function);
  }
  if (in_.Take("as")) {
    function.value_names.resize(function.code.size());
    function.value_names.back() = StringRef();
  }
}

void TextParser::OperandText(Role role, Function& function) {
  std::vector<int64_t>& words = function.words;
  if (role == Role::kLabel) {
    label_uses_.push_back({.word = words.size(), .label = in_.next()});
    in_.Word("a label");
    words.push_back(0);
  } else if (role == Role::kFunctionRef) {
    in_.Expect('@');
    FunctionName(module_.functions.size(), words);
  } else if (IsListRole(role)) {
    const std::size_t count_word = words.size();
    words.push_back(0);
    in_.Expect('[');
    while (in_.ok() && !in_.Take(']')) {
      if (words[count_word] > 0) in_.Expect(',');
      ++words[count_word];
      Entry(role, words);
    }
  } else {
    Entry(role, words);
  }
}

void TextParser::Entry(Role role, std::vector<int64_t>& words) {
  if (role == Role::kIns) return In(words);
  if (role == Role::kInt || role == Role::kIntList) return Int(words);
  if (MayBeNone(role) && in_.Take("none")) {
    words.push_back(kNoRegister);
  } else if (role == Role::kPass || role == Role::kPasses) {
    const bool moved = in_.Take("move");
    if (!moved) in_.Expect("share");
    in_.Expect('%');
    words.push_back(Register('h') * 2 + (moved ? 1 : 0));
  } else if (IsHoldRole(role)) {
    in_.Expect('%');
    words.push_back(Register('h'));
  } else {
    Name(words, role);
  }
}

void TextParser::Int(std::vector<int64_t>& words) {
  const bool is_register = in_.Take('%');
  words.push_back(is_register ? 1 : 0);
  words.push_back(is_register ? Register('i') : in_.Number("an integer"));
}

// An operator's input: `none`, `%hN`, or a list of integers.
void TextParser::In(std::vector<int64_t>& words) {
  if (in_.Take("none")) {
    words.push_back(kInNone);
  } else if (in_.Take('%')) {
    words.push_back(kInHold);
    words.push_back(Register('h'));
  } else {
    in_.Expect('[');
    words.push_back(kInInts);
    const std::size_t count_word = words.size();
    words.push_back(0);
    while (in_.ok() && !in_.Take(']')) {
      if (words[count_word] > 0) in_.Expect(',');
      ++words[count_word];
      Int(words);
    }
  }
}

// What is neither register nor integer operand.
void TextParser::Name(std::vector<int64_t>& words, Role role) {
  if (role == Role::kDTypeCode) {
    words.push_back(static_cast<int64_t>(DTypeWord()));
  } else if (role == Role::kConstantRef) {
    in_.Expect('$');
    words.push_back(in_.NumberUpTo(kMaxIndex, "the index of a constant"));
  } else if (role == Role::kSiteRef) {
    in_.Expect('#');
    words.push_back(in_.NumberUpTo(kMaxIndex, "the index of a site"));
  } else if (role == Role::kStringRef) {
    const StringId id = StringRef();
    words.push_back(id.valid() ? int64_t{id.index()} : -1);
  } else {
    words.push_back(
        in_.NumberUpTo(std::numeric_limits<int64_t>::max(), "a number"));
  }
}

}  // namespace ebb::bytecode
