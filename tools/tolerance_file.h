// A file of tolerances by model: what `ebb test --tolerances` reads.
//
//   {"models": [{"id": "ppocr4_det", "rtol": 0.001, "atol": 0.0005,
//                "output_atol": {"sigmoid_0.tmp_0": 0.0005}}, …]}
//
// Other members are passed over. `id` is the name of the case's folder.
#ifndef EBB_TOOLS_TOLERANCE_FILE_H_
#define EBB_TOOLS_TOLERANCE_FILE_H_

#include <map>
#include <optional>
#include <string>

#include "bytecode/error.h"
#include "tools/compare.h"

namespace ebb::tools {

struct ModelTolerance {
  std::optional<double> rtol;
  std::optional<double> atol;
  std::map<std::string, double> output_atol;  // By output name.

  // For one output; `otherwise` where the file says nothing.
  Tolerance For(const std::string& output, Tolerance otherwise) const;
};

using ToleranceFile = std::map<std::string, ModelTolerance>;

Expected<ToleranceFile> ParseTolerances(const std::string& text);
Expected<ToleranceFile> ReadTolerances(const std::string& path);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_TOLERANCE_FILE_H_
