// One model under all memory settings: what it needs when nothing is freed,
// and with kills under each allocator, against the live-set lower bound of its
// order of operators. `bench/memory_peaks` prints it for many models.
#ifndef EBB_TOOLS_MEMORY_PEAKS_H_
#define EBB_TOOLS_MEMORY_PEAKS_H_

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/allocator.h"
#include "bytecode/error.h"
#include "tools/input_source.h"
#include "tools/model_options.h"

namespace ebb::tools {

struct AllocatorPeak {
  allocator::Kind allocator = allocator::Kind::kPool;
  bool kills = true;
  uint64_t live_bytes = 0;
  uint64_t reserved_bytes = 0;
};

struct MemoryPeaks {
  std::string model;
  std::string inputs;                // "x f32[1,3,640,640], …"
  uint64_t total_bytes = 0;          // Of all buffers, if none were ever freed.
  uint64_t bound_bytes = 0;          // The least, in this order of operators.
  std::vector<AllocatorPeak> peaks;  // Without kills first, if there is one.

  // Of kills and the pool.
  const AllocatorPeak& Pool() const;
};

// A model that is not compiled yet is also run without kills.
Expected<MemoryPeaks> MeasurePeaks(const std::string& model,
                                   const ModelOptions& options,
                                   const InputOptions& inputs);

std::string PeaksText(const MemoryPeaks& peaks);
boost::json::object PeaksJson(const MemoryPeaks& peaks);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_MEMORY_PEAKS_H_
