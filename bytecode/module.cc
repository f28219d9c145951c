#include "bytecode/module.h"

namespace ebb::bytecode {

const std::string& Module::string(StringId id) const {
  static const std::string empty;
  return id.valid() ? strings[id.index()] : empty;
}

}  // namespace ebb::bytecode
