#include "tests/bytecode/program_generator.h"

#include <gtest/gtest.h>

#include <set>

#include "bytecode/verifier.h"
#include "tests/bytecode/module_equality.h"

namespace ebb::bytecode {
namespace {

TEST(ProgramGeneratorTest, EverythingVerifies) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Module module = GenerateModule(seed);
    const Status status = Verify(module);
    ASSERT_TRUE(status.has_value())
        << "seed " << seed << ": " << status.error().ToString();
  }
}

TEST(ProgramGeneratorTest, EveryOpcodeComesUp) {
  std::set<Opcode> seen;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Module module = GenerateModule(seed);
    for (const Function& function : module.functions) {
      for (const Instruction& i : function.code) seen.insert(i.opcode);
    }
  }
  for (const OpcodeInfo& info : AllOpcodes()) {
    EXPECT_TRUE(seen.contains(info.opcode)) << info.mnemonic;
  }
}

TEST(ProgramGeneratorTest, SameSeedGivesTheSameModule) {
  EXPECT_TRUE(SameModule(GenerateModule(7), GenerateModule(7)));
  EXPECT_FALSE(SameModule(GenerateModule(7), GenerateModule(8)));
}

}  // namespace
}  // namespace ebb::bytecode
