// Opcodes, formats and operand roles, from opcodes.def and formats.def.
#ifndef EBB_BYTECODE_OPCODES_H_
#define EBB_BYTECODE_OPCODES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ebb::bytecode {

enum class Opcode : uint8_t {
#define OPCODE(code, Name, ...) k##Name = code,
#include "bytecode/opcodes.def"
#undef OPCODE
};

// What an operand is and what happens to it; see formats.def.
enum class Role : uint8_t {
  kDefInt,
  kInt,
  kIntList,
  kDefHold,
  kDefHolds,
  kUse,
  kUses,
  kPass,
  kPasses,
  kKills,
  kMoved,
  kOut,
  kOuts,
  kIns,
  kOptUse,
  kImm,
  kDTypeCode,
  kLabel,
  kFunctionRef,
  kConstantRef,
  kSiteRef,
  kStringRef,
};

enum OpcodeTrait : uint32_t {
  kNone = 0,
  kTerminator = 1,  // Control never falls through.
  kControl = 2,     // Control may go elsewhere.
  kPure = 4,        // Integer in, integer out; may trap.
  kCheck = 8,       // Fails the run when it does not hold.
  kAllocates = 16,
  kCompute = 32,
};

struct OpcodeInfo {
  Opcode opcode;
  std::string_view mnemonic;
  std::string_view format;  // Name of the row in formats.def.
  std::span<const Role> roles;
  uint32_t traits;
  std::string_view summary;
};

std::span<const OpcodeInfo> AllOpcodes();
const OpcodeInfo* FindOpcode(uint8_t code);  // nullptr when not in the table
const OpcodeInfo& InfoOf(Opcode opcode);
std::optional<Opcode> OpcodeFromMnemonic(std::string_view mnemonic);
std::string_view RoleName(Role role);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_OPCODES_H_
