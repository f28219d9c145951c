// Constants of the text form: declarations with their data.
#include <cstring>
#include <utility>

#include "compiler/ir/constant_text.h"
#include "compiler/ir/parser_impl.h"
#include "compiler/ir/text.h"

namespace ebb::ir {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

// The constant of this name, which may be declared later in the text.
ConstantId Parser::FindOrAddConstant(const Name& name) {
  const auto [at, is_new] =
      constants_.emplace(name.name, ConstantId(module_.constants.size()));
  if (!is_new) return at->second;
  Constant constant;
  constant.name = name.name;
  constant.declared_only = true;
  module_.constants.push_back(std::move(constant));
  undeclared_.emplace(at->second, name.location);
  return at->second;
}

Status Parser::ParseConstant() {
  TRY(const Name name, TakeGlobal());
  const ConstantId id = FindOrAddConstant(name);
  if (undeclared_.erase(id) == 0) {
    return FailAt(name.location, "constant " + SigilName('@', name.name) +
                                     " is declared twice");
  }
  RETURN_IF_ERROR(Expect(":"));
  const Location location = Peek().location;
  TRY(const Type type, ParseType());
  Constant constant;
  constant.name = name.name;
  constant.dtype = type.dtype;
  for (const Dim dim : type.dims) {
    const auto size = module_.dims.Known(dim);
    constant.dims.push_back(size.value_or(-1));
  }
  if (!type.IsTensor() || !type.ranked || type.dtype == DType::kInvalid ||
      !ElementCount(constant.dims).has_value()) {
    return FailAt(location, "constant " + SigilName('@', name.name) +
                                " needs a tensor type of known dims");
  }
  if (Accept("packed")) {
    RETURN_IF_ERROR(ParsePacking(constant));
  }
  constant.declared_only = !Accept("=");
  if (!constant.declared_only) {
    RETURN_IF_ERROR(ParseConstantData(constant));
  }
  module_.constants[id.index()] = std::move(constant);
  return {};
}

// packed(order=[1, 0], blocks=[0:16, 1:4])
Status Parser::ParsePacking(Constant& constant) {
  Packing packing;
  const auto number = [this]() -> Expected<int32_t> {
    const Location location = Peek().location;
    TRY(const int64_t value, TakeInt());
    if (value < 0 || value > INT32_MAX) {
      return FailAt(location, std::to_string(value) + " is out of range");
    }
    return static_cast<int32_t>(value);
  };
  for (const char* word : {"(", "order", "=", "["}) {
    RETURN_IF_ERROR(Expect(word));
  }
  while (!Peek().Is("]")) {
    if (!packing.outer_order.empty()) {
      RETURN_IF_ERROR(Expect(","));
    }
    TRY(const int32_t dim, number());
    packing.outer_order.push_back(dim);
  }
  for (const char* word : {"]", ",", "blocks", "=", "["}) {
    RETURN_IF_ERROR(Expect(word));
  }
  while (!Peek().Is("]")) {
    if (!packing.blocks.empty()) {
      RETURN_IF_ERROR(Expect(","));
    }
    Packing::Block block;
    TRY(block.dim, number());
    RETURN_IF_ERROR(Expect(":"));
    TRY(block.size, number());
    packing.blocks.push_back(block);
  }
  RETURN_IF_ERROR(Expect("]"));
  RETURN_IF_ERROR(Expect(")"));
  constant.packing = std::move(packing);
  return {};
}

Status Parser::ParseConstantData(Constant& constant) {
  constant.repeat = Accept("repeat");
  std::vector<std::byte> bytes;
  if (Peek().Is("hex")) {
    TRY(bytes, ParseHex());
  } else {
    TRY(bytes, ParseElements(constant));
  }
  constant.data = KeepBytes(module_, bytes);
  return {};
}

Expected<std::vector<std::byte>> Parser::ParseHex() {
  Take();
  const Location location = Peek().location;
  TRY(const std::string digits, TakeString("hex digits in quotes"));
  std::vector<std::byte> bytes;
  if (digits.size() % 2 != 0) {
    return FailAt(location, std::to_string(digits.size()) +
                                " hex digits, expected an even number");
  }
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = HexValue(digits[i]);
    const int low = HexValue(digits[i + 1]);
    if (high < 0 || low < 0) {
      return FailAt(location, "'" + digits.substr(i, 2) + "' is not a byte");
    }
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return bytes;
}

// "[1.0, 2.0]", or after `repeat` one value.
Expected<std::vector<std::byte>> Parser::ParseElements(
    const Constant& constant) {
  std::vector<std::byte> bytes;
  std::vector<std::string> strings;
  const Location location = Peek().location;
  int64_t count = 0;
  const auto element = [&]() -> Status {
    ++count;
    if (constant.dtype == DType::kString) {
      TRY(std::string text, TakeString("a string"));
      strings.push_back(std::move(text));
      return {};
    }
    const Location at = Peek().location;
    TRY(const std::string text, TakeLiteral());
    if (!ParseElement(constant.dtype, text, bytes)) {
      return FailAt(at, "'" + text + "' is not a value of " +
                            std::string(DTypeName(constant.dtype)));
    }
    return {};
  };
  if (constant.repeat) {
    RETURN_IF_ERROR(element());
  } else {
    RETURN_IF_ERROR(Expect("["));
    while (!Peek().Is("]")) {
      if (count > 0) {
        RETURN_IF_ERROR(Expect(","));
      }
      RETURN_IF_ERROR(element());
    }
    RETURN_IF_ERROR(Expect("]"));
    const int64_t wanted = ElementCount(constant.dims).value_or(0);
    if (count != wanted) {
      return FailAt(location, "constant " + SigilName('@', constant.name) +
                                  " has " + std::to_string(count) +
                                  " elements, its dims need " +
                                  std::to_string(wanted));
    }
  }
  return constant.dtype == DType::kString ? PackStrings(strings) : bytes;
}

}  // namespace ebb::ir
