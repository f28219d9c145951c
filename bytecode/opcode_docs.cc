#include "bytecode/opcode_docs.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "bytecode/opcodes.h"

namespace ebb::bytecode {
namespace {

constexpr std::string_view kHead = R"(# Opcodes

Printed from `bytecode/opcodes.def` and `bytecode/formats.def`; a test keeps
this file current (`UPDATE_GOLDEN=1` rewrites it). What registers, roles and
the verifier's guarantees are stands in [bytecode.md](bytecode.md). Codes are
part of the file format and are never reused.

)";

constexpr std::string_view kRoles = R"(
## Operands

| role | is |
| --- | --- |
| `DefInt` | integer register, written |
| `Int` | integer register that is read, or an immediate |
| `IntList` | list of `Int` |
| `DefHold` | hold register, must be empty, filled |
| `DefHolds` | list of `DefHold`; an entry may be `none` (not wanted) |
| `Use` | hold register, read, still held afterwards |
| `Uses` | list of `Use` |
| `Pass` | hold register with a mode: `move` empties it, `share` does not |
| `Passes` | list of `Pass` |
| `Kills` | list of hold registers, emptied |
| `Moved` | hold register, emptied: its hold goes elsewhere |
| `Out` | hold register with a tensor, written through; may be `none` |
| `Outs` | list of `Out` |
| `Ins` | list of operator inputs: hold register, list of `Int`, or `none` |
| `OptUse` | `Use` or `none` |
| `Imm` | unsigned number |
| `DTypeCode` | element type |
| `Label` | instruction of the same function |
| `FunctionRef`, `ConstantRef`, `SiteRef`, `StringRef` | row of a table of the module |
)";

std::string Traits(uint32_t traits) {
  constexpr std::pair<uint32_t, std::string_view> kNames[] = {
      {kTerminator, "terminator"},
      {kControl, "control"},
      {kPure, "pure"},
      {kCheck, "check"},
      {kAllocates, "allocates"},
      {kCompute, "compute"}};
  std::string out;
  for (const auto& [bit, name] : kNames) {
    if ((traits & bit) == 0) continue;
    out += (out.empty() ? "" : ", ") + std::string(name);
  }
  return out;
}

std::string Code(Opcode opcode) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto code = static_cast<uint8_t>(opcode);
  return std::string("0x") + kDigits[code >> 4] + kDigits[code & 15];
}

}  // namespace

std::string OpcodesMarkdown() {
  std::string out(kHead);
  out += "| code | mnemonic | operands | traits | does |\n";
  out += "| --- | --- | --- | --- | --- |\n";
  for (const OpcodeInfo& info : AllOpcodes()) {
    out +=
        "| " + Code(info.opcode) + " | `" + std::string(info.mnemonic) + "` | ";
    for (std::size_t i = 0; i < info.roles.size(); ++i) {
      out += (i > 0 ? ", " : "") + std::string(RoleName(info.roles[i]));
    }
    out += " | " + Traits(info.traits) + " | " + std::string(info.summary) +
           " |\n";
  }
  out += kRoles;
  return out;
}

}  // namespace ebb::bytecode
