// IR text of any kind: an error, or a module that prints to text which reads
// back the same; and one that verifies still does so after the passes.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compiler/passes/pipeline.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using ebb::passes::RunPassesOnText;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto printed = RunPassesOnText(text, "");
  if (!printed.has_value()) return 0;
  const auto again = RunPassesOnText(*printed, "");
  if (!again.has_value() || *again != *printed) std::abort();
  const auto passes = "insert-kills,remove-unused,cse,insert-kills";
  const auto killed = RunPassesOnText(text, passes);
  if (!killed.has_value()) std::abort();
  const auto twice = RunPassesOnText(*killed, "insert-kills");
  if (!twice.has_value() || *twice != *killed) std::abort();
  return 0;
}
