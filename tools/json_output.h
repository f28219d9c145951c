// What `--json` prints: one object on one line, whose first member "schema"
// names its form and version. docs/json.md describes them all; a form changes
// its number when a member changes its meaning or goes away.
#ifndef EBB_TOOLS_JSON_OUTPUT_H_
#define EBB_TOOLS_JSON_OUTPUT_H_

#include <boost/json.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bytecode/module.h"

namespace ebb::tools {

// {"schema": "ebb.<name>/<version>"}, to be added to.
boost::json::object JsonDocument(std::string_view name, int version = 1);
void PrintJson(const boost::json::object& document);

// Names come from models and may be any bytes; JSON is UTF-8. What is not is
// replaced by U+FFFD.
boost::json::string JsonText(std::string_view text);

boost::json::array JsonInts(std::span<const int64_t> values);

// {"name", "type", "dtype", "shape"}; of a non-tensor only the first two.
// Unknown dims are names, or null where they have none; shape is null where
// the rank is unknown.
boost::json::object JsonValue(const bytecode::Module& module,
                              bytecode::StringId name, bytecode::TypeId type);

// "inputs" and "outputs" of the entry function.
void AddInterface(const bytecode::Module& module, boost::json::object& to);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_JSON_OUTPUT_H_
