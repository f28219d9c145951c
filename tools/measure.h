// What `ebb bench`, `ebb memory` and the memory-peak comparison share: inputs
// to measure with, runs that are watched, and the process's own numbers.
//
//   line.Add(MeasureOptionGroup());
//   TRY(InputOptions inputs, ReadMeasureOptions(line.values(), path, options));
//   TRY(MadeInputs made, MakeInputs(program->module(), inputs));
//   TRY(auto trace, TraceRun(program, options.session, made));
//   trace->LowerBound()
#ifndef EBB_TOOLS_MEASURE_H_
#define EBB_TOOLS_MEASURE_H_

#include <boost/program_options.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bytecode/error.h"
#include "tools/host_tensor.h"
#include "tools/input_source.h"
#include "tools/memory_trace.h"
#include "tools/model_options.h"
#include "vm/program.h"
#include "vm/session.h"

namespace ebb::tools {

using MadeInputs = std::vector<std::optional<HostTensor>>;

// --input, --fill, --seed
boost::program_options::options_description MeasureOptionGroup();

// Where nothing is said about inputs, they are those of the ONNX backend
// layout (`test_data_set_0/input_*.pb` beside the model) or random ones.
// `--shape` gives the sizes of made-up inputs of a model that is compiled
// already.
Expected<InputOptions> ReadMeasureOptions(
    const boost::program_options::variables_map& values,
    const std::string& model_path, ModelOptions& options);

Status SetInputs(vm::Session& session, const MadeInputs& inputs);
// The bytes that the caller holds for a run.
uint64_t InputBytes(const MadeInputs& inputs);

// One run in a session of its own, traced.
Expected<std::unique_ptr<MemoryTrace>> TraceRun(
    const vm::ProgramRef& program, const vm::SessionOptions& options,
    const MadeInputs& inputs);

// The highest marks of two runs in a session of its own: in the second one,
// what the first has left behind is reused.
Expected<vm::RunStats> MeasureRuns(const vm::ProgramRef& program,
                                   const vm::SessionOptions& options,
                                   const MadeInputs& inputs);

double MillisecondsSince(std::chrono::steady_clock::time_point start);

// The most memory that the process has had resident (VmHWM); 0 where the
// system does not say.
uint64_t ProcessHighWaterBytes();

// "1.06 x", or "-" for a share of nothing.
std::string RatioText(uint64_t bytes, uint64_t of);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_MEASURE_H_
