#include "bytecode/opcode_docs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "bytecode/opcodes.h"

namespace ebb::bytecode {
namespace {

TEST(OpcodeDocsTest, FileIsCurrent) {
  const std::string path = EBB_SOURCE_DIR "/docs/opcodes.md";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << OpcodesMarkdown();
  }
  std::ifstream in(path);
  const std::string content{std::istreambuf_iterator<char>(in),
                            std::istreambuf_iterator<char>()};
  EXPECT_EQ(content, OpcodesMarkdown()) << "run this test with UPDATE_GOLDEN=1";
}

TEST(OpcodeDocsTest, EveryRoleIsExplained) {
  const std::string text = OpcodesMarkdown();
  for (int role = 0; role <= static_cast<int>(Role::kStringRef); ++role) {
    const std::string name =
        "`" + std::string(RoleName(static_cast<Role>(role))) + "`";
    EXPECT_NE(text.find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace ebb::bytecode
