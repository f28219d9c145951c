#include "tools/command_bench.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>
#include <utility>

#include "tools/command_line.h"
#include "tools/exit_code.h"
#include "tools/json_output.h"
#include "tools/load_model.h"
#include "tools/measure.h"
#include "tools/progress.h"
#include "tools/quantities.h"
#include "tools/table.h"

namespace ebb::tools {
namespace {

using Clock = std::chrono::steady_clock;

CommandLine MakeCommandLine() {
  CommandLine line(
      {.name = "bench",
       .usage = "MODEL [options]",
       .about =
           "Measures a model (.onnx, .ebb, .ir, .ebbt): how long compiling, "
           "loading and running\nit take, and the peak of its memory against "
           "the least that its order of operators\ncan need.",
       .example = "  ebb bench detector.onnx --shape x=1x3x640x640 --threads "
                  "2 --runs 50\n  ebb bench model.ebb --allocator naive"});
  po::options_description group("Options");
  group.add_options()("runs",
                      po::value<int>()->default_value(20)->value_name("N"),
                      "runs that are timed")(
      "warmup", po::value<int>()->default_value(3)->value_name("N"),
      "runs before them")("json",
                          "print the figures as JSON (schema ebb.bench/1)");
  line.Add(group);
  line.Add(MeasureOptionGroup());
  line.Add(CompileOptionGroup());
  line.Add(SessionOptionGroup());
  line.Positional("model");
  return line;
}

struct Figures {
  std::optional<double> compile_ms;  // Of what was not compiled yet.
  double load_ms = 0;
  double first_run_ms = 0;
  std::vector<double> run_ms;  // Sorted.
  vm::RunStats highest;
  vm::SessionStats last;
  uint64_t bound_bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t input_bytes = 0;
  uint64_t process_high_water = 0;

  // The smallest time that this share of the runs did not pass.
  double Percentile(double share) const {
    const auto count = static_cast<double>(run_ms.size());
    const auto rank = static_cast<std::size_t>(share * count + 0.999999);
    return run_ms[std::clamp<std::size_t>(rank, 1, run_ms.size()) - 1];
  }
};

Expected<vm::ProgramRef> Load(const std::string& path,
                              const ModelOptions& options, Figures& figures) {
  TRY(const ModelKind kind, DetectModelKind(path));
  auto start = Clock::now();
  if (kind == ModelKind::kBytecode) {
    TRY(vm::ProgramRef program, LoadProgram(path, options));
    figures.load_ms = MillisecondsSince(start);
    return program;
  }
  TRY(bytecode::Module module, LoadModule(path, options, /*for_running=*/true));
  figures.compile_ms = MillisecondsSince(start);
  start = Clock::now();
  TRY(vm::ProgramRef program, vm::Program::Load(std::move(module), {}));
  figures.load_ms = MillisecondsSince(start);
  return program;
}

Status TimeRuns(vm::Session& session, const MadeInputs& inputs, int warmup,
                int runs, Figures& figures) {
  Progress progress("bench");
  for (int run = -warmup; run < runs; ++run) {
    progress.Show(static_cast<std::size_t>(run + warmup),
                  static_cast<std::size_t>(runs + warmup), "");
    RETURN_IF_ERROR(SetInputs(session, inputs));
    const auto start = Clock::now();
    RETURN_IF_ERROR(session.Run());
    const double ms = MillisecondsSince(start);
    if (run == -warmup) figures.first_run_ms = ms;
    if (run >= 0) figures.run_ms.push_back(ms);
    const vm::RunStats stats = session.stats().last_run;
    vm::RunStats& highest = figures.highest;
    highest.live_high_water =
        std::max(highest.live_high_water, stats.live_high_water);
    highest.reserved_high_water =
        std::max(highest.reserved_high_water, stats.reserved_high_water);
  }
  std::ranges::sort(figures.run_ms);
  figures.last = session.stats();
  return {};
}

Expected<Figures> Measure(const std::string& path, const ModelOptions& options,
                          const InputOptions& input_options, int warmup,
                          int runs) {
  Figures figures;
  TRY(const vm::ProgramRef program, Load(path, options, figures));
  TRY(const MadeInputs inputs, MakeInputs(program->module(), input_options));
  figures.input_bytes = InputBytes(inputs);
  {
    TRY(const auto session, vm::Session::Create(program, options.session));
    RETURN_IF_ERROR(TimeRuns(*session, inputs, warmup, runs, figures));
  }
  // Before the trace, whose own records do not belong to it.
  figures.process_high_water = ProcessHighWaterBytes();
  TRY(const auto trace, TraceRun(program, options.session, inputs));
  figures.bound_bytes = trace->LowerBound().bytes;
  figures.total_bytes = trace->TotalBytes();
  return figures;
}

void PrintFigures(const Figures& figures, const ModelOptions& options) {
  Table table({"", "", ""}, {Align::kLeft, Align::kRight, Align::kLeft});
  const auto time = [&](const char* what, double ms, const char* note = "") {
    table.Add({what, MillisecondsText(ms) + " ms", note});
  };
  if (figures.compile_ms.has_value()) time("compile", *figures.compile_ms);
  time("load", figures.load_ms);
  time("first run", figures.first_run_ms, "prepares the kernels");
  time("fastest", figures.run_ms.front());
  time("p50", figures.Percentile(0.5));
  time("p90", figures.Percentile(0.9));
  time("p99", figures.Percentile(0.99));
  const auto bytes = [&](const char* what, uint64_t count,
                         const std::string& note = "") {
    table.Add({what, BytesText(count), note});
  };
  const uint64_t bound = figures.bound_bytes;
  bytes("lower bound", bound, "of the peak, in this order of operators");
  bytes("live peak", figures.highest.live_high_water,
        RatioText(figures.highest.live_high_water, bound) + " the bound");
  bytes("reserved peak", figures.highest.reserved_high_water,
        RatioText(figures.highest.reserved_high_water, bound) +
            " the bound, with the " +
            std::string(AllocatorName(options.session.allocator)) +
            " allocator");
  bytes("nothing freed", figures.total_bytes,
        RatioText(figures.total_bytes, bound) + " the bound");
  bytes("inputs", figures.input_bytes, "the caller's");
  bytes("weights in place", figures.last.weights.in_place_bytes);
  bytes("weights copied", figures.last.weights.owned_bytes);
  bytes("process peak", figures.process_high_water, "resident, of everything");
  std::cout << CountText(figures.run_ms.size(), "run") << ", "
            << CountText(static_cast<uint64_t>(options.session.threads),
                         "thread")
            << ", " << BackendName(options.session.backend) << "\n"
            << table.Text(2);
}

void PrintFiguresAsJson(const Figures& figures, const std::string& model,
                        const ModelOptions& options) {
  boost::json::object document = JsonDocument("bench");
  document["model"] = JsonText(model);
  document["threads"] = options.session.threads;
  document["backend"] = std::string(BackendName(options.session.backend));
  document["allocator"] = std::string(AllocatorName(options.session.allocator));
  document["compile_ms"] = nullptr;
  if (figures.compile_ms.has_value()) {
    document["compile_ms"] = *figures.compile_ms;
  }
  document["load_ms"] = figures.load_ms;
  document["first_run_ms"] = figures.first_run_ms;
  document["runs"] = figures.run_ms.size();
  document["min_ms"] = figures.run_ms.front();
  document["p50_ms"] = figures.Percentile(0.5);
  document["p90_ms"] = figures.Percentile(0.9);
  document["p99_ms"] = figures.Percentile(0.99);
  document["lower_bound_bytes"] = figures.bound_bytes;
  document["live_peak_bytes"] = figures.highest.live_high_water;
  document["reserved_peak_bytes"] = figures.highest.reserved_high_water;
  document["nothing_freed_bytes"] = figures.total_bytes;
  document["input_bytes"] = figures.input_bytes;
  document["weights_in_place_bytes"] = figures.last.weights.in_place_bytes;
  document["weights_copied_bytes"] = figures.last.weights.owned_bytes;
  document["process_peak_bytes"] = figures.process_high_water;
  PrintJson(document);
}

}  // namespace

int RunBench(const std::vector<std::string>& words) {
  CommandLine line = MakeCommandLine();
  if (const auto code = line.Parse(words)) return *code;
  auto options = ReadModelOptions(line.values());
  if (!options.has_value()) return SayError("bench", options.error());
  const int runs = line.Get<int>("runs");
  const int warmup = line.Get<int>("warmup");
  if (runs < 1 || warmup < 0) {
    SayError("bench",
             "--runs must be at least 1 and --warmup at least 0, not " +
                 std::to_string(runs) + " and " + std::to_string(warmup));
    return kBadUsage;
  }
  const std::string model = line.Get<std::string>("model");
  const auto inputs = ReadMeasureOptions(line.values(), model, *options);
  if (!inputs.has_value()) return SayError(model, inputs.error());
  const auto figures = Measure(model, *options, *inputs, warmup, runs);
  if (!figures.has_value()) return SayError(model, figures.error());
  if (line.Has("json")) {
    PrintFiguresAsJson(*figures, model, *options);
  } else {
    PrintFigures(*figures, *options);
  }
  return kDone;
}

}  // namespace ebb::tools
