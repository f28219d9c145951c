#include "bytecode/opcodes.h"

#include <array>
#include <cassert>
#include <cstddef>

namespace ebb::bytecode {
namespace {

// In the order of Role; what formats.def calls them.
constexpr std::array<std::string_view, 22> kRoleNames = {
    "DefInt",      "Int",         "IntList", "DefHold",  "DefHolds",  "Use",
    "Uses",        "Pass",        "Passes",  "Kills",    "Moved",     "Out",
    "Outs",        "Ins",         "OptUse",  "Imm",      "DTypeCode", "Label",
    "FunctionRef", "ConstantRef", "SiteRef", "StringRef"};
static_assert(kRoleNames.size() ==
              static_cast<std::size_t>(Role::kStringRef) + 1);

struct RoleList {
  std::array<Role, 8> roles{};
  std::size_t count = 0;

  constexpr std::span<const Role> span() const { return {roles.data(), count}; }
};

// Parses the text of a row's roles, "Int, Label". A name that is not a role
// stops the build: the array is indexed past its end in a constant expression.
constexpr RoleList ParseRoles(std::string_view text) {
  RoleList list;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    std::size_t role = 0;
    while (kRoleNames.at(role) != name) ++role;
    list.roles.at(list.count++) = static_cast<Role>(role);
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  return list;
}

namespace formats {
#define FORMAT(Name, ...) constexpr RoleList Name = ParseRoles(#__VA_ARGS__);
#include "bytecode/formats.def"
#undef FORMAT
}  // namespace formats

constexpr OpcodeInfo kOpcodes[] = {
#define OPCODE(code, Name, mnemonic, Format, traits, summary) \
  {Opcode::k##Name,        mnemonic, #Format,                 \
   formats::Format.span(), (traits), summary},
#include "bytecode/opcodes.def"
#undef OPCODE
};

// Row of each code, plus one; 0 for a code that is not in the table.
constexpr std::array<uint8_t, 256> MakeRowOfCode() {
  std::array<uint8_t, 256> rows{};
  for (std::size_t i = 0; i < std::size(kOpcodes); ++i) {
    rows[static_cast<uint8_t>(kOpcodes[i].opcode)] =
        static_cast<uint8_t>(i + 1);
  }
  return rows;
}
constexpr std::array<uint8_t, 256> kRowOfCode = MakeRowOfCode();

}  // namespace

std::span<const OpcodeInfo> AllOpcodes() { return kOpcodes; }

const OpcodeInfo* FindOpcode(uint8_t code) {
  return kRowOfCode[code] == 0 ? nullptr : &kOpcodes[kRowOfCode[code] - 1];
}

const OpcodeInfo& InfoOf(Opcode opcode) {
  const OpcodeInfo* info = FindOpcode(static_cast<uint8_t>(opcode));
  assert(info != nullptr);
  return *info;
}

std::optional<Opcode> OpcodeFromMnemonic(std::string_view mnemonic) {
  for (const OpcodeInfo& info : kOpcodes) {
    if (info.mnemonic == mnemonic) return info.opcode;
  }
  return std::nullopt;
}

std::string_view RoleName(Role role) {
  return kRoleNames[static_cast<std::size_t>(role)];
}

}  // namespace ebb::bytecode
