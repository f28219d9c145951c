#include "tools/json_output.h"

#include <iostream>

#include "tools/program_text.h"

namespace ebb::tools {
namespace {

// Bytes of the well-formed character that `text` begins with; 0 for none.
std::size_t CharacterLength(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(text[i]));
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0   ? 4
                             : first >= 0xe0 ? 3
                             : first >= 0xc2 ? 2
                                             : 0;
  if (length == 0 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies above U+10FFFF.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) >= 0xa0) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

}  // namespace

boost::json::object JsonDocument(std::string_view name, int version) {
  boost::json::object document;
  document["schema"] =
      "ebb." + std::string(name) + "/" + std::to_string(version);
  return document;
}

void PrintJson(const boost::json::object& document) {
  std::cout << boost::json::serialize(document) << "\n";
}

boost::json::string JsonText(std::string_view text) {
  boost::json::string out;
  while (!text.empty()) {
    const std::size_t length = CharacterLength(text);
    if (length == 0) {
      out.append("\xef\xbf\xbd");
      text.remove_prefix(1);
    } else {
      out.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
  return out;
}

boost::json::array JsonInts(std::span<const int64_t> values) {
  boost::json::array array;
  for (const int64_t value : values) array.emplace_back(value);
  return array;
}

boost::json::object JsonValue(const bytecode::Module& module,
                              bytecode::StringId name, bytecode::TypeId type) {
  boost::json::object value;
  value["name"] = JsonText(module.string(name));
  value["type"] = JsonText(TypeText(module, type));
  const bytecode::Type* tensor = TensorType(module, type);
  if (tensor == nullptr) return value;
  value["dtype"] = std::string(DTypeName(tensor->dtype));
  if (!tensor->ranked) {
    value["shape"] = nullptr;
    return value;
  }
  boost::json::array shape;
  for (const bytecode::DimSpec& dim : tensor->dims) {
    if (dim.size >= 0) {
      shape.emplace_back(dim.size);
    } else if (dim.symbol.valid()) {
      shape.emplace_back(JsonText(module.string(dim.symbol)));
    } else {
      shape.emplace_back(nullptr);
    }
  }
  value["shape"] = std::move(shape);
  return value;
}

void AddInterface(const bytecode::Module& module, boost::json::object& to) {
  const bytecode::Function& entry = module.function(module.entry);
  boost::json::array inputs;
  for (const bytecode::Param& param : entry.params) {
    boost::json::object input = JsonValue(module, param.name, param.type);
    input["optional"] = param.optional_feed;
    inputs.emplace_back(std::move(input));
  }
  boost::json::array outputs;
  for (const bytecode::Result& result : entry.results) {
    outputs.emplace_back(JsonValue(module, result.name, result.type));
  }
  to["inputs"] = std::move(inputs);
  to["outputs"] = std::move(outputs);
}

}  // namespace ebb::tools
