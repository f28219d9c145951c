#include "tools/command_run.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "tools/command_line.h"
#include "tools/exit_code.h"
#include "tools/input_source.h"
#include "tools/json_output.h"
#include "tools/load_model.h"
#include "tools/model_options.h"
#include "tools/output_writer.h"
#include "tools/progress.h"
#include "tools/quantities.h"
#include "tools/table.h"
#include "vm/session.h"

namespace ebb::tools {
namespace {

CommandLine MakeCommandLine() {
  CommandLine line(
      {.name = "run",
       .usage = "MODEL [--input NAME=SOURCE ...] [options]",
       .about =
           "Runs a model (.onnx, .ebb, .ir, .ebbt) once or several times and "
           "sums its outputs up, or writes them as .npy files.\n\n"
           "A SOURCE is a file (.npy, .pb with a TensorProto, .png where the "
           "model takes a picture, anything else raw bytes), or random:, "
           "ones:, zeros:, iota:, with sizes where the model leaves them "
           "open: x=ones:1x3x64x64. NAME= may be left out where there is "
           "one input.",
       .example = "  ebb run detector.ebb --input x=page.png --image-mean "
                  "0.485,0.456,0.406 \\\n      --image-std "
                  "0.229,0.224,0.225 --output-dir out\n"
                  "  ebb run model.onnx --shape x=1x3x64x64 --fill random "
                  "--runs 10 --stats"});
  po::options_description group("Options");
  group.add_options()(
      "input,i",
      po::value<std::vector<std::string>>()->value_name("NAME=SOURCE"),
      "an input; may be given several times")(
      "fill", po::value<std::string>()->value_name("HOW"),
      "make up all other inputs: random, ones, zeros or iota")(
      "seed", po::value<uint64_t>()->default_value(1)->value_name("N"),
      "where random inputs begin")(
      "image-mean", po::value<std::string>()->value_name("R,G,B"),
      "taken from pictures after the division by 255")(
      "image-std", po::value<std::string>()->value_name("R,G,B"),
      "what pictures are divided by then")(
      "output-dir", po::value<std::string>()->value_name("FOLDER"),
      "write each output to FOLDER/NAME.npy")(
      "runs", po::value<int>()->default_value(1)->value_name("N"),
      "run so many times on the same inputs")("stats", "show times and memory")(
      "json", "print the results as JSON (schema ebb.run/1)");
  line.Add(group);
  line.Add(CompileOptionGroup());
  line.Add(SessionOptionGroup());
  line.Positional("model");
  return line;
}

struct RunTimes {
  double load_ms = 0;
  std::vector<double> run_ms;

  double Min() const { return *std::ranges::min_element(run_ms); }
  double Median() const {
    std::vector<double> sorted = run_ms;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
};

double Since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

Expected<InputOptions> ReadInputOptions(const CommandLine& line,
                                        const ModelOptions& model) {
  InputOptions options;
  if (line.Has("input")) {
    options.inputs = line.Get<std::vector<std::string>>("input");
  }
  if (line.Has("fill")) {
    options.fill = line.Get<std::string>("fill");
    // Names of makers are checked before a model is compiled for nothing.
    TRY(const HostTensor probe, MakeUp(options.fill, DType::kF32, {}, 1));
    static_cast<void>(probe);
  }
  options.seed = line.Get<uint64_t>("seed");
  options.shapes = model.compile.import.shapes;
  if (line.Has("image-mean")) {
    TRY(options.picture.mean,
        ParseChannels(line.Get<std::string>("image-mean")));
  }
  if (line.Has("image-std")) {
    TRY(options.picture.deviation,
        ParseChannels(line.Get<std::string>("image-std")));
  }
  for (const float deviation : options.picture.deviation) {
    if (deviation == 0) {
      return Fail(ErrorCode::kInvalidArgument, "must not be 0", "--image-std");
    }
  }
  return options;
}

Expected<RunTimes> RunTimesOver(
    vm::Session& session, const std::vector<std::optional<HostTensor>>& inputs,
    int runs) {
  RunTimes times;
  Progress progress("run");
  for (int run = 0; run < runs; ++run) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].has_value()) continue;
      RETURN_IF_ERROR(session.SetInput(i, inputs[i]->View()));
    }
    if (runs > 1) {
      progress.Show(static_cast<std::size_t>(run),
                    static_cast<std::size_t>(runs), "");
    }
    const auto start = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(session.Run());
    times.run_ms.push_back(Since(start));
  }
  return times;
}

void PrintStats(const vm::Session& session, const RunTimes& times) {
  const vm::SessionStats stats = session.stats();
  Table table({"", ""}, {Align::kLeft, Align::kLeft});
  table.Add({"load", MillisecondsText(times.load_ms) + " ms"});
  table.Add({"runs", std::to_string(times.run_ms.size())});
  table.Add({"first run", MillisecondsText(times.run_ms.front()) + " ms"});
  table.Add({"fastest run", MillisecondsText(times.Min()) + " ms"});
  table.Add({"median run", MillisecondsText(times.Median()) + " ms"});
  table.Add({"instructions", std::to_string(stats.last_run.instruction_count)});
  table.Add({"live peak", BytesText(stats.last_run.live_high_water)});
  table.Add({"reserved peak", BytesText(stats.last_run.reserved_high_water)});
  table.Add({"weights in place", BytesText(stats.weights.in_place_bytes)});
  table.Add({"weights copied", BytesText(stats.weights.owned_bytes)});
  std::cout << "\n" << table.Text();
}

void PrintAsJson(const std::string& model, const vm::Session& session,
                 const RunTimes& times, const std::vector<NamedView>& outputs,
                 const std::vector<std::string>& files) {
  const vm::SessionStats stats = session.stats();
  boost::json::object document = JsonDocument("run");
  document["model"] = JsonText(model);
  boost::json::array values = OutputsJson(outputs);
  for (std::size_t i = 0; i < files.size(); ++i) {
    values[i].as_object()["file"] = JsonText(files[i]);
  }
  document["outputs"] = std::move(values);
  document["load_ms"] = times.load_ms;
  boost::json::array runs;
  for (const double ms : times.run_ms) runs.emplace_back(ms);
  document["run_ms"] = std::move(runs);
  document["instruction_count"] = stats.last_run.instruction_count;
  document["live_peak_bytes"] = stats.last_run.live_high_water;
  document["reserved_peak_bytes"] = stats.last_run.reserved_high_water;
  document["weights_in_place_bytes"] = stats.weights.in_place_bytes;
  document["weights_copied_bytes"] = stats.weights.owned_bytes;
  PrintJson(document);
}

struct Work {
  vm::ProgramRef program;
  std::unique_ptr<vm::Session> session;
  RunTimes times;
};

// All up to the last run.
Expected<Work> LoadAndRun(const std::string& model, const ModelOptions& options,
                          const InputOptions& input_options, int runs) {
  const auto start = std::chrono::steady_clock::now();
  Work work;
  TRY(work.program, LoadProgram(model, options));
  TRY(work.session, vm::Session::Create(work.program, options.session));
  const double load_ms = Since(start);
  TRY(const auto inputs, MakeInputs(work.program->module(), input_options));
  TRY(work.times, RunTimesOver(*work.session, inputs, runs));
  work.times.load_ms = load_ms;
  return work;
}

}  // namespace

int RunRun(const std::vector<std::string>& words) {
  CommandLine line = MakeCommandLine();
  if (const auto code = line.Parse(words)) return *code;
  auto options = ReadModelOptions(line.values());
  if (!options.has_value()) return SayError("run", options.error());
  const auto input_options = ReadInputOptions(line, *options);
  if (!input_options.has_value()) {
    return SayError("run", input_options.error());
  }
  const int runs = line.Get<int>("runs");
  if (runs < 1) {
    SayError("run", "--runs must be at least 1, not " + std::to_string(runs));
    return kBadUsage;
  }
  const std::string model = line.Get<std::string>("model");
  if (const Status status = LeaveShapesToInputs(model, *options);
      !status.has_value()) {
    return SayError(model, status.error());
  }
  const auto work = LoadAndRun(model, *options, *input_options, runs);
  if (!work.has_value()) return SayError(model, work.error());
  const auto outputs = OutputTensors(*work->session);
  if (!outputs.has_value()) return SayError(model, outputs.error());
  std::vector<std::string> files;
  if (line.Has("output-dir")) {
    auto written = WriteOutputs(*outputs, line.Get<std::string>("output-dir"));
    if (!written.has_value()) {
      SayError("output", written.error());
      return kFailed;
    }
    files = std::move(*written);
  }
  if (line.Has("json")) {
    PrintAsJson(model, *work->session, work->times, *outputs, files);
    return kDone;
  }
  for (const std::string& file : files) {
    std::cout << Printable(file) << "\n";
  }
  if (files.empty()) std::cout << OutputsText(*outputs);
  if (line.Has("stats")) PrintStats(*work->session, work->times);
  return kDone;
}

}  // namespace ebb::tools
