#include "bytecode/operators.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>

namespace ebb {
namespace {

// The attribute column of operators.def is parsed by the compiler: a slip in
// the table does not build, and nothing is initialised at run time.
constexpr std::size_t CountAttributes(std::string_view spec) {
  return spec.empty() ? 0
                      : 1 + static_cast<std::size_t>(
                                std::count(spec.begin(), spec.end(), ','));
}

// Not constexpr on purpose: reaching it while parsing the table is an error.
void TableHasUnknownAttributeKind() {}

constexpr AttributeKind ParseKind(std::string_view text) {
  if (text == "int") return AttributeKind::kInt;
  if (text == "float") return AttributeKind::kFloat;
  if (text == "string") return AttributeKind::kString;
  if (text == "ints") return AttributeKind::kInts;
  if (text == "floats") return AttributeKind::kFloats;
  if (text != "strings") TableHasUnknownAttributeKind();
  return AttributeKind::kStrings;
}

// One entry: "name:kind", "name:kind?" or "name:kind=default".
constexpr AttributeInfo ParseAttribute(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const std::size_t colon = text.find(':');
  std::string_view kind = text.substr(colon + 1);
  AttributeInfo info{.name = text.substr(0, colon),
                     .kind = AttributeKind::kInt,
                     .required = true,
                     .has_default = false,
                     .default_text = {}};
  if (const std::size_t equals = kind.find('='); equals != kind.npos) {
    info.required = false;
    info.has_default = true;
    info.default_text = kind.substr(equals + 1);
    kind = kind.substr(0, equals);
  } else if (kind.ends_with('?')) {
    info.required = false;
    kind.remove_suffix(1);
  }
  info.kind = ParseKind(kind);
  return info;
}

template <std::size_t kCount>
consteval std::array<AttributeInfo, kCount> ParseAttributes(
    std::string_view spec) {
  std::array<AttributeInfo, kCount> result{};
  for (AttributeInfo& info : result) {
    const std::size_t comma = spec.find(',');
    info = ParseAttribute(spec.substr(0, comma));
    spec = comma == spec.npos ? std::string_view() : spec.substr(comma + 1);
  }
  return result;
}

#define OPERATOR(code, Name, mnemonic, min_inputs, max_inputs, max_outputs, \
                 values, reuse, traits, Rule, attributes)                   \
  constexpr auto k##Name##Attributes =                                      \
      ParseAttributes<CountAttributes(attributes)>(attributes);
#include "bytecode/operators.def"
#undef OPERATOR

#define OPERATOR(code, Name, mnemonic, min_inputs, max_inputs, max_outputs, \
                 values, reuse, traits, Rule, attributes)                   \
  OperatorInfo{OperatorCode::k##Name,                                       \
               #Name,                                                       \
               mnemonic,                                                    \
               min_inputs,                                                  \
               max_inputs,                                                  \
               max_outputs,                                                 \
               values,                                                      \
               reuse,                                                       \
               traits,                                                      \
               k##Name##Attributes},
constexpr auto kOperators = std::to_array<OperatorInfo>({
#include "bytecode/operators.def"
});
#undef OPERATOR

static_assert(std::ranges::is_sorted(kOperators, std::less_equal<>(),
                                     &OperatorInfo::code),
              "codes ascend and are never used twice");

AttributeKind KindOf(const AttributeValue& value) {
  // The alternatives of AttributeValue stand in the order of AttributeKind.
  return static_cast<AttributeKind>(value.index());
}

std::string_view KindName(AttributeKind kind) {
  constexpr std::array<std::string_view, 6> kNames = {
      "int", "float", "string", "ints", "floats", "strings"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string Describe(const OperatorInfo& info, std::string_view attribute) {
  std::string text(info.name);
  text += ": attribute '";
  text += attribute;
  text += "'";
  return text;
}

}  // namespace

std::span<const OperatorInfo> AllOperators() { return kOperators; }

const OperatorInfo* FindOperator(uint16_t code) {
  const auto at = std::ranges::lower_bound(
      kOperators, static_cast<OperatorCode>(code), {}, &OperatorInfo::code);
  if (at == kOperators.end() || static_cast<uint16_t>(at->code) != code) {
    return nullptr;
  }
  return &*at;
}

const OperatorInfo& InfoOf(OperatorCode code) {
  const OperatorInfo* info = FindOperator(static_cast<uint16_t>(code));
  assert(info != nullptr);
  return *info;
}

std::optional<OperatorCode> OperatorFromMnemonic(std::string_view mnemonic) {
  const auto at =
      std::ranges::find(kOperators, mnemonic, &OperatorInfo::mnemonic);
  if (at == kOperators.end()) return std::nullopt;
  return at->code;
}

std::optional<OperatorCode> OperatorFromName(std::string_view name) {
  const auto at = std::ranges::find(kOperators, name, &OperatorInfo::name);
  if (at == kOperators.end()) return std::nullopt;
  return at->code;
}

Status CheckAttributes(const OperatorInfo& info, const Attributes& attributes) {
  for (const auto& [name, value] : attributes.entries()) {
    const auto row =
        std::ranges::find(info.attributes, name, &AttributeInfo::name);
    if (row == info.attributes.end()) {
      return Fail(ErrorCode::kInvalidArgument,
                  Describe(info, name) + " is unknown");
    }
    if (KindOf(value) != row->kind) {
      return Fail(ErrorCode::kInvalidArgument,
                  Describe(info, name) + " is of kind " +
                      std::string(KindName(KindOf(value))) + ", expected " +
                      std::string(KindName(row->kind)));
    }
  }
  for (const AttributeInfo& row : info.attributes) {
    if (row.required && !attributes.Has(row.name)) {
      return Fail(ErrorCode::kInvalidArgument,
                  Describe(info, row.name) + " is missing");
    }
  }
  return {};
}

}  // namespace ebb
