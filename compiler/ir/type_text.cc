// Types and attributes as text.
#include <type_traits>
#include <variant>

#include "compiler/ir/printer.h"
#include "compiler/ir/text.h"

namespace ebb::ir {
namespace {

std::string ValueText(const AttributeValue& value) {
  const auto number = [](auto item) {
    if constexpr (std::is_same_v<decltype(item), float>) {
      return FloatText(item);
    } else {
      return std::to_string(item);
    }
  };
  return std::visit(
      [&](const auto& item) -> std::string {
        using T = std::decay_t<decltype(item)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return Quote(item);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          return (item.empty() ? "strings[" : "[") + Join(item, Quote) + "]";
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          return (item.empty() ? "floats[" : "[") + Join(item, number) + "]";
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          return "[" + Join(item, number) + "]";
        } else {
          return number(item);
        }
      },
      value);
}

}  // namespace

std::string ToString(const Attributes& attributes) {
  return "{" +
         Join(attributes.entries(),
              [](const Attributes::Entry& entry) {
                return QuoteUnlessIdentifier(entry.first) + "=" +
                       ValueText(entry.second);
              }) +
         "}";
}

// Recursion is as deep as types nest: kMaxNesting at most.
std::string ToString(const DimTable& dims, const Type& type) {
  const auto list = [&](const std::vector<Dim>& items) {
    return "[" + Join(items, [&](Dim dim) { return dims.ToString(dim); }) + "]";
  };
  const auto nested = [&](const char* word) {
    return word +
           Join(type.elements,
                [&](const Type& element) { return ToString(dims, element); }) +
           ")";
  };
  switch (type.kind) {
    case TypeKind::kUnknown:
      return "?";
    case TypeKind::kTensor: {
      std::string text(DTypeName(type.dtype));
      text += type.ranked ? list(type.dims) : "[*]";
      if (type.layout == Layout::kChannelsLast) text += "{channels_last}";
      if (type.layout == Layout::kStrided) {
        text += "{strides=" + list(type.strides) + "}";
      }
      return text;
    }
    case TypeKind::kShape:
      return "shape[" + std::to_string(type.shape_rank) + "]";
    case TypeKind::kInt:
      return "int";
    case TypeKind::kStorage:
      return "storage";
    case TypeKind::kTuple:
      return nested("tuple(");
    case TypeKind::kSequence:
      return nested("sequence(");
    case TypeKind::kOptional:
      return nested("optional(");
    case TypeKind::kClosure:
      return "closure";
    case TypeKind::kObject:
      return "object";
  }
  return "?";
}

}  // namespace ebb::ir
