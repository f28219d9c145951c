#include "bytecode/opcodes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ebb::bytecode {
namespace {

TEST(OpcodesTest, EveryRowIsFoundByCodeAndByMnemonic) {
  std::set<std::string_view> mnemonics;
  std::set<Opcode> codes;
  for (const OpcodeInfo& info : AllOpcodes()) {
    EXPECT_EQ(&InfoOf(info.opcode), &info);
    EXPECT_EQ(FindOpcode(static_cast<uint8_t>(info.opcode)), &info);
    EXPECT_EQ(OpcodeFromMnemonic(info.mnemonic), info.opcode);
    EXPECT_TRUE(mnemonics.insert(info.mnemonic).second) << info.mnemonic;
    EXPECT_TRUE(codes.insert(info.opcode).second) << info.mnemonic;
    EXPECT_TRUE(info.summary.ends_with('.')) << info.mnemonic;
    EXPECT_FALSE(info.roles.empty()) << info.mnemonic;
  }
  EXPECT_EQ(FindOpcode(0), nullptr);
  EXPECT_EQ(FindOpcode(255), nullptr);
  EXPECT_FALSE(OpcodeFromMnemonic("int_ad").has_value());
}

TEST(OpcodesTest, RolesComeFromTheFormat) {
  const OpcodeInfo& info = InfoOf(Opcode::kAllocTensor);
  EXPECT_EQ(info.format, "AllocTensor");
  ASSERT_EQ(info.roles.size(), 6u);
  EXPECT_EQ(info.roles[0], Role::kDefHold);
  EXPECT_EQ(info.roles[3], Role::kDTypeCode);
  EXPECT_EQ(info.roles[5], Role::kIntList);
  EXPECT_EQ(RoleName(Role::kStringRef), "StringRef");
}

TEST(OpcodesTest, OnlyTerminatorsStopFallingThrough) {
  EXPECT_EQ(InfoOf(Opcode::kReturn).traits, kTerminator);
  EXPECT_EQ(InfoOf(Opcode::kJump).traits, kTerminator);
  EXPECT_EQ(InfoOf(Opcode::kBranchIfZero).traits, kControl);
}

}  // namespace
}  // namespace ebb::bytecode
