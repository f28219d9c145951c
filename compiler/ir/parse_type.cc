// Types, dims and attributes of the text form.
#include <charconv>
#include <cstring>
#include <utility>

#include "compiler/ir/constant_text.h"
#include "compiler/ir/parser_impl.h"
#include "compiler/ir/text.h"

namespace ebb::ir {
namespace {

std::optional<float> FloatFrom(const std::string& text) {
  std::vector<std::byte> bytes;
  if (!ParseElement(DType::kF32, text, bytes)) return std::nullopt;
  float value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::optional<int64_t> IntFrom(const std::string& text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

}  // namespace

Expected<Type> Parser::ParseType() {
  const Level level(depth_);
  RETURN_IF_ERROR(CheckDepth(depth_));
  if (Accept("?")) return Type();
  if (Peek().kind != TokenKind::kIdentifier) return FailExpected("a type");
  const Token token = Take();
  const std::string_view word = token.text;
  if (word == "int") return Type::Of(TypeKind::kInt);
  if (word == "storage") return Type::Of(TypeKind::kStorage);
  if (word == "closure") return Type::Of(TypeKind::kClosure);
  if (word == "object") return Type::Of(TypeKind::kObject);
  if (word == "shape") {
    RETURN_IF_ERROR(Expect("["));
    const Location location = Peek().location;
    TRY(const int64_t rank, TakeInt());
    if (rank < 0 || rank > INT32_MAX) {
      return FailAt(location, "shape has " + std::to_string(rank) + " dims");
    }
    RETURN_IF_ERROR(Expect("]"));
    return Type::Shape(static_cast<int>(rank));
  }
  const auto kind = word == "tuple"      ? TypeKind::kTuple
                    : word == "sequence" ? TypeKind::kSequence
                    : word == "optional" ? TypeKind::kOptional
                                         : TypeKind::kUnknown;
  if (kind != TypeKind::kUnknown) {
    Type type = Type::Of(kind);
    TRY(type.elements, ParseTypeList());
    if (kind != TypeKind::kTuple && type.elements.size() > 1) {
      return FailAt(token.location, std::string(word) + " has " +
                                        std::to_string(type.elements.size()) +
                                        " element types, expected 1");
    }
    return type;
  }
  if (word == "invalid") return ParseTensorType(DType::kInvalid);
  const auto dtype = DTypeFromName(word);
  if (!dtype.has_value()) {
    return FailAt(token.location, "'" + std::string(word) + "' is not a type");
  }
  return ParseTensorType(*dtype);
}

Expected<std::vector<Type>> Parser::ParseTypeList() {
  std::vector<Type> types;
  RETURN_IF_ERROR(Expect("("));
  if (Accept(")")) return types;
  do {
    TRY(Type type, ParseType());
    types.push_back(std::move(type));
  } while (Accept(","));
  RETURN_IF_ERROR(Expect(")"));
  return types;
}

Expected<Type> Parser::ParseTensorType(DType dtype) {
  Type type = Type::Unranked(dtype);
  if (Peek().Is("[") && Peek(1).Is("*")) {
    Take();
    Take();
    RETURN_IF_ERROR(Expect("]"));
  } else {
    type.ranked = true;
    TRY(type.dims, ParseDimList());
  }
  RETURN_IF_ERROR(ParseLayout(type));
  return type;
}

// A brace after a type may also begin a body: only these words are a layout.
Status Parser::ParseLayout(Type& type) {
  if (!Peek().Is("{")) return {};
  if (Peek(1).Is("channels_last")) {
    Take();
    Take();
    type.layout = Layout::kChannelsLast;
    return Expect("}");
  }
  if (Peek(1).Is("strides") && Peek(2).Is("=")) {
    Take();
    Take();
    Take();
    type.layout = Layout::kStrided;
    TRY(type.strides, ParseDimList());
    return Expect("}");
  }
  return {};
}

Expected<std::vector<Dim>> Parser::ParseDimList() {
  std::vector<Dim> dims;
  RETURN_IF_ERROR(Expect("["));
  if (Accept("]")) return dims;
  do {
    TRY(const Dim dim, ParseDim());
    dims.push_back(dim);
  } while (Accept(","));
  RETURN_IF_ERROR(Expect("]"));
  return dims;
}

// A sum of products. `?` alone is the invalid dim; arithmetic that gives it
// is an error.
Expected<Dim> Parser::ParseDim() {
  const Level level(depth_);
  RETURN_IF_ERROR(CheckDepth(depth_));
  if (Accept("?")) return Dim();
  const Location location = Peek().location;
  TRY(Dim sum, ParseDimProduct(Accept("-")));
  while (Peek().Is("+") || Peek().Is("-")) {
    const bool minus = Take().text == "-";
    TRY(const Dim product, ParseDimProduct(minus));
    sum = module_.dims.Add(sum, product);
  }
  if (!sum.valid()) {
    return FailAt(location, "dim overflows, divides by zero or is too large");
  }
  return sum;
}

// The sign goes to the first factor: -9223372036854775808 is a number.
Expected<Dim> Parser::ParseDimProduct(bool negate) {
  TRY(Dim product, ParseDimFactor(negate));
  while (Accept("*")) {
    TRY(const Dim factor, ParseDimFactor(false));
    product = module_.dims.Mul(product, factor);
  }
  return product;
}

Expected<Dim> Parser::ParseDimFactor(bool negate) {
  DimTable& dims = module_.dims;
  const Token token = Peek();
  Dim factor;
  if (token.kind == TokenKind::kNumber) {
    Take();
    std::string text = negate ? "-" : "";
    text += token.text;
    const auto value = IntFrom(text);
    if (!value.has_value()) {
      return FailAt(token.location, "'" + text + "' is not a 64-bit integer");
    }
    return dims.Constant(*value);
  }
  if (token.kind == TokenKind::kString) {
    factor = dims.Symbol(Take().value);
  } else if (token.kind == TokenKind::kIdentifier) {
    Take();
    if (Peek().Is("(")) {
      TRY(factor, ParseDimFunction(token.text));
    } else {
      factor = dims.Symbol(token.text);
    }
  } else if (Accept("(")) {
    TRY(factor, ParseDim());
    RETURN_IF_ERROR(Expect(")"));
  } else {
    return FailExpected("a dim");
  }
  return negate ? dims.Sub(dims.Constant(0), factor) : factor;
}

Expected<Dim> Parser::ParseDimFunction(std::string_view name) {
  const Location location = Peek().location;
  std::vector<Dim> operands;
  RETURN_IF_ERROR(Expect("("));
  do {
    TRY(const Dim dim, ParseDim());
    operands.push_back(dim);
  } while (Accept(","));
  RETURN_IF_ERROR(Expect(")"));
  DimTable& dims = module_.dims;
  if (name == "min" || name == "max") {
    Dim result = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) {
      result = name == "min" ? dims.Min(result, operands[i])
                             : dims.Max(result, operands[i]);
    }
    return result;
  }
  if (operands.size() == 2) {
    if (name == "floordiv") return dims.FloorDiv(operands[0], operands[1]);
    if (name == "ceildiv") return dims.CeilDiv(operands[0], operands[1]);
    if (name == "mod") return dims.Mod(operands[0], operands[1]);
  }
  return FailAt(location, "no function '" + std::string(name) + "' of " +
                              std::to_string(operands.size()) +
                              " dims is known");
}

Expected<std::string> Parser::TakeLiteral() {
  std::string text = Accept("-") ? "-" : "";
  if (Peek().kind != TokenKind::kNumber &&
      Peek().kind != TokenKind::kIdentifier) {
    return FailExpected("a value");
  }
  text += Take().text;
  if (text == "nan" && Accept("(")) {
    text += "(" + std::string(Take().text) + ")";
    RETURN_IF_ERROR(Expect(")"));
  }
  return text;
}

// `info` tells the kinds of the operator's attributes, for integers that
// stand for floats and for empty lists; may be nullptr.
Expected<Attributes> Parser::ParseAttributes(const OperatorInfo* info) {
  Attributes attributes;
  RETURN_IF_ERROR(Expect("{"));
  if (Accept("}")) return attributes;
  do {
    const Location location = Peek().location;
    TRY(const std::string name, TakeWord("the name of an attribute"));
    if (attributes.Has(name)) {
      return FailAt(location, "attribute '" + name + "' is given twice");
    }
    RETURN_IF_ERROR(Expect("="));
    const AttributeInfo* row = nullptr;
    for (std::size_t i = 0; info != nullptr && i < info->attributes.size();
         ++i) {
      if (info->attributes[i].name == name) row = &info->attributes[i];
    }
    TRY(AttributeValue value, ParseAttributeValue(row));
    attributes.Set(name, std::move(value));
  } while (Accept(","));
  RETURN_IF_ERROR(Expect("}"));
  return attributes;
}

Expected<AttributeValue> Parser::ParseAttributeValue(
    const AttributeInfo* info) {
  if (Peek().kind == TokenKind::kString) return AttributeValue(Take().value);
  if (Peek().Is("[")) {
    const bool floats = info != nullptr && info->kind == AttributeKind::kFloats;
    const bool strings =
        info != nullptr && info->kind == AttributeKind::kStrings;
    return ParseAttributeList(floats    ? AttributeKind::kFloats
                              : strings ? AttributeKind::kStrings
                                        : AttributeKind::kInts);
  }
  if (Peek(1).Is("[")) {
    if (Accept("floats")) return ParseAttributeList(AttributeKind::kFloats);
    if (Accept("strings")) return ParseAttributeList(AttributeKind::kStrings);
  }
  const Location location = Peek().location;
  TRY(const std::string text, TakeLiteral());
  const bool wants_float =
      info != nullptr && info->kind == AttributeKind::kFloat;
  if (const auto value = IntFrom(text); value.has_value() && !wants_float) {
    return AttributeValue(*value);
  }
  const auto value = FloatFrom(text);
  if (!value.has_value()) {
    return FailAt(location, "'" + text + "' is not an attribute value");
  }
  return AttributeValue(*value);
}

// `kind` decides for an empty list, and whether integers are floats.
Expected<AttributeValue> Parser::ParseAttributeList(AttributeKind kind) {
  std::vector<std::string> strings;
  std::vector<std::string> literals;
  const Location location = Peek().location;
  RETURN_IF_ERROR(Expect("["));
  if (!Peek().Is("]")) {
    do {
      if (Peek().kind == TokenKind::kString) {
        strings.push_back(Take().value);
      } else {
        TRY(std::string text, TakeLiteral());
        literals.push_back(std::move(text));
      }
    } while (Accept(","));
  }
  RETURN_IF_ERROR(Expect("]"));
  if (!strings.empty() && !literals.empty()) {
    return FailAt(location, "list mixes strings and numbers");
  }
  if (!strings.empty() ||
      (literals.empty() && kind == AttributeKind::kStrings)) {
    return AttributeValue(std::move(strings));
  }
  std::vector<int64_t> ints;
  std::vector<float> floats;
  for (const std::string& text : literals) {
    if (const auto value = IntFrom(text)) ints.push_back(*value);
    const auto value = FloatFrom(text);
    if (!value.has_value()) {
      return FailAt(location, "'" + text + "' is not an attribute value");
    }
    floats.push_back(*value);
  }
  if (kind != AttributeKind::kFloats && ints.size() == literals.size()) {
    return AttributeValue(std::move(ints));
  }
  return AttributeValue(std::move(floats));
}

}  // namespace ebb::ir
