#include "tools/measure.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "tools/load_model.h"
#include "tools/tensor_file.h"

namespace ebb::tools {
namespace {

namespace po = boost::program_options;

// "x=dir/test_data_set_0/input_0.pb" for each input that lies there.
Expected<std::vector<std::string>> InputsBeside(const std::string& model_path) {
  const std::filesystem::path folder =
      std::filesystem::path(model_path).parent_path() / "test_data_set_0";
  std::vector<std::string> inputs;
  for (int i = 0;; ++i) {
    const std::string path =
        (folder / ("input_" + std::to_string(i) + ".pb")).string();
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return inputs;
    TRY(const NamedTensor tensor, ReadPb(path));
    inputs.push_back(tensor.name.empty() ? path : tensor.name + "=" + path);
  }
}

}  // namespace

po::options_description MeasureOptionGroup() {
  po::options_description group("Inputs");
  group.add_options()(
      "input,i",
      po::value<std::vector<std::string>>()->value_name("NAME=SOURCE"),
      "an input, as for `ebb run`; may be given several times")(
      "fill", po::value<std::string>()->value_name("HOW"),
      "make up all other inputs: random, ones, zeros or iota (default: "
      "test_data_set_0 beside the model where there is one and no --shape is "
      "given, else random)")(
      "seed", po::value<uint64_t>()->default_value(1)->value_name("N"),
      "where random inputs begin");
  return group;
}

Expected<InputOptions> ReadMeasureOptions(const po::variables_map& values,
                                          const std::string& model_path,
                                          ModelOptions& options) {
  InputOptions inputs;
  inputs.fill = "random";
  inputs.shapes = options.compile.import.shapes;
  if (values.count("seed") != 0) inputs.seed = values["seed"].as<uint64_t>();
  if (values.count("input") != 0) {
    inputs.inputs = values["input"].as<std::vector<std::string>>();
  }
  if (values.count("fill") != 0) {
    inputs.fill = values["fill"].as<std::string>();
  } else if (inputs.inputs.empty() && inputs.shapes.empty()) {
    TRY(inputs.inputs, InputsBeside(model_path));
  }
  TRY(const ModelKind kind, DetectModelKind(model_path));
  // For what states its own inputs, shapes are those of this run.
  if (kind != ModelKind::kOnnx) {
    std::erase(options.compile_only, "--shape");
  }
  return inputs;
}

Status SetInputs(vm::Session& session, const MadeInputs& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].has_value()) continue;
    RETURN_IF_ERROR(session.SetInput(i, inputs[i]->View()));
  }
  return {};
}

uint64_t InputBytes(const MadeInputs& inputs) {
  uint64_t bytes = 0;
  for (const auto& input : inputs) {
    if (input.has_value()) bytes += input->bytes().size();
  }
  return bytes;
}

Expected<std::unique_ptr<MemoryTrace>> TraceRun(
    const vm::ProgramRef& program, const vm::SessionOptions& options,
    const MadeInputs& inputs) {
  auto trace = std::make_unique<MemoryTrace>();
  vm::SessionOptions watched = options;
  watched.observer = trace.get();
  TRY(const auto session, vm::Session::Create(program, watched));
  RETURN_IF_ERROR(SetInputs(*session, inputs));
  RETURN_IF_ERROR(session->Run());
  trace->Finish();
  return trace;
}

Expected<vm::RunStats> MeasureRuns(const vm::ProgramRef& program,
                                   const vm::SessionOptions& options,
                                   const MadeInputs& inputs) {
  TRY(const auto session, vm::Session::Create(program, options));
  vm::RunStats highest;
  for (int run = 0; run < 2; ++run) {
    RETURN_IF_ERROR(SetInputs(*session, inputs));
    RETURN_IF_ERROR(session->Run());
    const vm::RunStats stats = session->stats().last_run;
    highest.live_high_water =
        std::max(highest.live_high_water, stats.live_high_water);
    highest.requested_high_water =
        std::max(highest.requested_high_water, stats.requested_high_water);
    highest.reserved_high_water =
        std::max(highest.reserved_high_water, stats.reserved_high_water);
    highest.instruction_count = stats.instruction_count;
  }
  return highest;
}

double MillisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

uint64_t ProcessHighWaterBytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (!line.starts_with("VmHWM:")) continue;
    std::istringstream rest(line.substr(6));
    uint64_t kib = 0;
    return rest >> kib ? kib * 1024 : 0;
  }
  return 0;
}

std::string RatioText(uint64_t bytes, uint64_t of) {
  if (of == 0) return "-";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f x",
                static_cast<double>(bytes) / static_cast<double>(of));
  return text.data();
}

}  // namespace ebb::tools
