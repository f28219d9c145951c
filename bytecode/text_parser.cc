#include "bytecode/text_parser.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <utility>

#include "bytecode/module_builder.h"

namespace ebb::bytecode {

Expected<Module> TextParser::Run() {
  Header();
  while (!in_.AtEnd()) Item();
  ResolveFunctions();
  RETURN_IF_ERROR(in_.status());
  return std::move(module_);
}

void TextParser::Header() {
  in_.Expect("ebbt");
  if (in_.ok() && in_.next().text != "1.0") {
    in_.Fail("the text has version " + std::string(in_.next().text) +
             ", this assembler takes 1.0");
  }
  in_.TakeAny();
}

void TextParser::Item() {
  if (in_.Take("producer")) {
    module_.producer = in_.String("a string");
  } else if (in_.Take("target")) {
    module_.target = in_.String("a string");
  } else if (in_.Take("entry")) {
    in_.Expect('@');
    std::vector<int64_t> word;
    FunctionName(kEntry, word);
    has_entry_ = true;
    if (!word.empty() && word[0] >= 0) {
      module_.entry = FunctionId(static_cast<std::size_t>(word[0]));
    }
  } else if (in_.Take("external")) {
    module_.externals.push_back(StringRef());
  } else if (in_.Is("strings")) {
    Strings();
  } else if (in_.Take("metadata")) {
    Metadata();
  } else if (in_.Take("type")) {
    TypeRow();
  } else if (in_.Take("constant")) {
    ConstantRow();
  } else if (in_.Take("site")) {
    SiteRow();
  } else if (in_.Take("func")) {
    FunctionText();
  } else {
    in_.Fail("expected a part of a module, found '" +
             std::string(in_.next().text) + "'");
  }
}

// The table as it is, rows that are there twice included.
void TextParser::Strings() {
  if (!module_.strings.empty()) {
    return in_.Fail("strings are listed after one was used");
  }
  in_.Expect("strings");
  in_.Expect('{');
  while (in_.IsString()) {
    std::string text = in_.String("a string");
    strings_.try_emplace(text, StringId(module_.strings.size()));
    module_.strings.push_back(std::move(text));
  }
  in_.Expect('}');
}

void TextParser::Metadata() {
  std::string key = in_.String("a key");
  std::string value = in_.String("a value");
  module_.metadata.emplace_back(std::move(key), std::move(value));
}

StringId TextParser::Intern(std::string text) {
  const auto [at, is_new] =
      strings_.try_emplace(std::move(text), StringId(module_.strings.size()));
  if (is_new) module_.strings.push_back(at->first);
  return at->second;
}

StringId TextParser::StringRef() {
  if (in_.Take("none")) return {};
  if (in_.Take('~')) return Index<StringId>("the index of a string");
  std::string text = in_.String("a string");
  return in_.ok() ? Intern(std::move(text)) : StringId();
}

void TextParser::RowIndex(char sigil, std::size_t right) {
  in_.Expect(sigil);
  const std::size_t place = in_.next().begin;
  const int64_t index = in_.NumberUpTo(kMaxIndex, "an index");
  if (in_.ok() && static_cast<std::size_t>(index) != right) {
    in_.FailAt(place, "the row has index " + std::to_string(index) + ", " +
                          std::to_string(right) + " is right");
  }
}

DType TextParser::DTypeWord() {
  const std::size_t place = in_.next().begin;
  const std::string_view word = in_.Word("a dtype");
  const std::optional<DType> dtype = DTypeFromName(word);
  if (in_.ok() && !dtype.has_value()) {
    in_.FailAt(place, "'" + std::string(word) + "' is not a dtype");
  }
  return dtype.value_or(DType::kInvalid);
}

DimSpec TextParser::Dim() {
  DimSpec dim;
  if (in_.Take('?')) return dim;
  if (in_.next().kind == Token::Kind::kNumber) {
    dim.size = in_.NumberUpTo(std::numeric_limits<int64_t>::max(), "a dim");
    return dim;
  }
  if (in_.next().kind == Token::Kind::kWord) {
    dim.symbol = Intern(std::string(in_.TakeAny().text));
  } else {
    dim.symbol = StringRef();
  }
  if (in_.Take('=')) {
    dim.size = in_.NumberUpTo(std::numeric_limits<int64_t>::max(), "a dim");
  }
  return dim;
}

Type TextParser::TypeText() {
  constexpr std::pair<std::string_view, TypeKind> kNamed[] = {
      {"storage", TypeKind::kStorage},   {"closure", TypeKind::kClosure},
      {"object", TypeKind::kObject},     {"tuple", TypeKind::kTuple},
      {"sequence", TypeKind::kSequence}, {"optional", TypeKind::kOptional}};
  Type type;
  for (const auto& [word, kind] : kNamed) {
    if (!in_.Take(word)) continue;
    type.kind = kind;
    if (!in_.Take('(')) return type;
    while (in_.ok() && !in_.Take(')')) {
      if (!type.fields.empty()) in_.Expect(',');
      in_.Expect('!');
      type.fields.push_back(Index<TypeId>("the index of a type"));
    }
    return type;
  }
  type.kind = TypeKind::kTensor;
  if (!in_.Take("any")) type.dtype = DTypeWord();
  in_.Expect('[');
  if (in_.Take('*')) {
    type.ranked = false;
    in_.Expect(']');
    return type;
  }
  while (in_.ok() && !in_.Take(']')) {
    if (!type.dims.empty()) in_.Expect(',');
    type.dims.push_back(Dim());
  }
  return type;
}

void TextParser::TypeRow() {
  RowIndex('!', module_.types.size());
  in_.Expect('=');
  Type type = TypeText();
  types_.try_emplace(TypeKey(type), TypeId(module_.types.size()));
  module_.types.push_back(std::move(type));
}

TypeId TextParser::InternType(Type type) {
  const auto [at, is_new] =
      types_.try_emplace(TypeKey(type), TypeId(module_.types.size()));
  if (is_new) module_.types.push_back(std::move(type));
  return at->second;
}

TypeId TextParser::TypeRef() {
  if (in_.Take('!')) return Index<TypeId>("the index of a type");
  Type type = TypeText();
  return in_.ok() ? InternType(std::move(type)) : TypeId();
}

void TextParser::ConstantRow() {
  RowIndex('$', module_.constants.size());
  Constant constant;
  constant.name = StringRef();
  in_.Expect('=');
  constant.dtype = DTypeWord();
  in_.Expect('[');
  while (in_.ok() && !in_.Take(']')) {
    if (!constant.dims.empty()) in_.Expect(',');
    constant.dims.push_back(in_.Number("a dim"));
  }
  const auto int32 = [&] {
    return static_cast<int32_t>(in_.NumberUpTo(
        std::numeric_limits<int32_t>::max(), "the number of a packing"));
  };
  if (in_.Take("packed")) {
    Packing packing;
    in_.Expect('[');
    while (in_.ok() && !in_.Take(']')) {
      if (!packing.outer_order.empty()) in_.Expect(',');
      packing.outer_order.push_back(int32());
    }
    in_.Expect('[');
    while (in_.ok() && !in_.Take(']')) {
      if (!packing.blocks.empty()) in_.Expect(',');
      const int32_t dim = int32();
      packing.blocks.push_back({.dim = dim, .size = int32()});
    }
    constant.packing = std::move(packing);
  }
  if (in_.Is("elided")) {
    return in_.Fail("the bytes of this constant were left out of the text");
  }
  if (in_.Take("repeat")) {
    constant.kind = ConstantKind::kRepeat;
  } else {
    in_.Expect("data");
  }
  const std::vector<std::byte> bytes = in_.HexBlock();
  const std::span<std::byte> owned = AddOwnedBytes(module_, bytes.size());
  std::ranges::copy(bytes, owned.begin());
  constant.data = owned;
  module_.constants.push_back(std::move(constant));
}

float TextParser::Float() {
  float value = 0;
  if (in_.Take("float")) {
    in_.Expect('(');
    const std::string_view text = in_.next().text;
    uint32_t bits = 0;
    const char* const end = text.data() + text.size();
    if (text.size() != 10 || !text.starts_with("0x") ||
        std::from_chars(text.data() + 2, end, bits, 16).ptr != end) {
      in_.Fail("expected the bits of a float, such as 0x7f800000");
    }
    in_.TakeAny();
    in_.Expect(')');
    return std::bit_cast<float>(bits);
  }
  const std::string_view text = in_.next().text;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (in_.next().kind != Token::Kind::kNumber || result.ec != std::errc() ||
      result.ptr != end) {
    in_.Fail("expected a number, found '" + std::string(text) + "'");
    return 0;
  }
  in_.TakeAny();
  return value;
}

AttributeValue TextParser::Attribute() {
  const auto list = [&](auto read) {
    std::vector<decltype(read())> items;
    in_.Expect('[');
    while (in_.ok() && !in_.Take(']')) {
      if (!items.empty()) in_.Expect(',');
      items.push_back(read());
    }
    return items;
  };
  if (in_.Take("ints")) {
    return list([&] { return in_.Number("an integer"); });
  }
  if (in_.Take("floats")) return list([&] { return Float(); });
  if (in_.Take("strings")) {
    return list([&] { return in_.String("a string"); });
  }
  if (in_.IsString()) return in_.String("a string");
  // Integers have neither point nor exponent.
  const bool is_float = in_.Is("float") || in_.next().text.find_first_of(
                                               ".e") != std::string_view::npos;
  if (is_float) return Float();
  return in_.Number("the value of an attribute");
}

void TextParser::SiteRow() {
  RowIndex('#', module_.sites.size());
  in_.Expect('=');
  Site site;
  const std::size_t place = in_.next().begin;
  const std::string_view mnemonic = in_.Word("an operator");
  const auto code = OperatorFromMnemonic(mnemonic);
  if (in_.ok() && !code.has_value()) {
    in_.FailAt(place, "'" + std::string(mnemonic) + "' is not an operator");
  }
  site.code = code.value_or(OperatorCode{});
  in_.Expect('{');
  for (bool first = true; in_.ok() && !in_.Take('}'); first = false) {
    if (!first) in_.Expect(',');
    const std::string_view name = in_.Word("the name of an attribute");
    in_.Expect('=');
    site.attributes.Set(name, Attribute());
  }
  if (in_.Take("from")) site.node = StringRef();
  module_.sites.push_back(std::move(site));
}

void TextParser::ResolveFunctions() {
  std::unordered_map<std::string_view, std::size_t> functions;
  for (std::size_t i = 0; i < module_.functions.size(); ++i) {
    const StringId name = module_.functions[i].name;
    // An index from the text may point anywhere.
    if (!name.valid() || name.index() >= module_.strings.size()) continue;
    functions.try_emplace(module_.string(name), i);
  }
  for (const Pending& pending : pending_) {
    const auto at = functions.find(pending.name);
    if (at == functions.end()) {
      return in_.FailAt(pending.place,
                        "function @" + pending.name + " is not in the module");
    }
    if (pending.function == kEntry) {
      module_.entry = FunctionId(at->second);
    } else {
      module_.functions[pending.function].words[pending.word] =
          static_cast<int64_t>(at->second);
    }
  }
  if (!has_entry_ && !module_.functions.empty()) {
    module_.entry = FunctionId(0);
  }
}

}  // namespace ebb::bytecode
