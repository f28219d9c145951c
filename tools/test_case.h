// Runs one test case: loads its model, runs its data sets in order in one
// session and compares. A case is skipped only where its model needs what is
// not built in, and the reason names that.
#ifndef EBB_TOOLS_TEST_CASE_H_
#define EBB_TOOLS_TEST_CASE_H_

#include <cstdint>
#include <string>

#include "tools/compare.h"
#include "tools/model_options.h"
#include "tools/test_folder.h"
#include "tools/tolerance_file.h"

namespace ebb::tools {

enum class Verdict : uint8_t { kPass, kFail, kSkip };

struct CaseResult {
  Verdict verdict = Verdict::kPass;
  std::string reason;  // Empty when it passed.
};

struct CaseOptions {
  ModelOptions model;
  Tolerance tolerance;
  ToleranceFile tolerances;
  // Compile to a file, and load and run that.
  bool via_ebb = false;
};

CaseResult RunTestCase(const TestFolder& folder, const CaseOptions& options);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_TEST_CASE_H_
