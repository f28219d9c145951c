#include "bytecode/verifier.h"

#include <vector>

#include "bytecode/code_verifier.h"
#include "bytecode/flow_verifier.h"
#include "bytecode/table_verifier.h"

namespace ebb::bytecode {

Status Verify(const Module& module) {
  RETURN_IF_ERROR(VerifyTables(module));
  std::vector<bool> externals(module.strings.size());
  for (const StringId name : module.externals) externals[name.index()] = true;
  for (const Function& function : module.functions) {
    RETURN_IF_ERROR(VerifyCode(module, function, externals));
    RETURN_IF_ERROR(VerifyFlow(module, function));
  }
  return {};
}

}  // namespace ebb::bytecode
