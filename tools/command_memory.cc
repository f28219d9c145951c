#include "tools/command_memory.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <memory>
#include <utility>

#include "tools/command_line.h"
#include "tools/exit_code.h"
#include "tools/json_output.h"
#include "tools/load_model.h"
#include "tools/measure.h"
#include "tools/quantities.h"
#include "tools/table.h"

namespace ebb::tools {
namespace {

CommandLine MakeCommandLine() {
  CommandLine line(
      {.name = "memory",
       .usage = "MODEL [options]",
       .about =
           "Runs a model (.onnx, .ebb, .ir, .ebbt) once and shows the peak of "
           "its memory, what\nis live there, and the least that this order of "
           "operators can need.",
       .example = "  ebb memory detector.onnx --shape x=1x3x640x640 --top 5"});
  po::options_description group("Options");
  group.add_options()(
      "top", po::value<std::size_t>()->default_value(20)->value_name("N"),
      "list at most so many of the values that are live at the peak")(
      "json", "print all of it as JSON (schema ebb.memory/1)");
  line.Add(group);
  line.Add(MeasureOptionGroup());
  line.Add(CompileOptionGroup());
  line.Add(SessionOptionGroup());
  line.Positional("model");
  return line;
}

constexpr std::array kUses = {BufferUse::kActivation, BufferUse::kScratch,
                              BufferUse::kOutput, BufferUse::kCopiedInput};

struct Figures {
  vm::ProgramRef program;  // The trace names its sites.
  std::unique_ptr<MemoryTrace> trace;
  vm::SessionStats stats;
  uint64_t input_bytes = 0;

  std::vector<std::size_t> LiveAtPeak() const {
    return trace->LiveAt(trace->Measured().step);
  }
  uint64_t LiveBytes(BufferUse use) const {
    uint64_t bytes = 0;
    for (const std::size_t i : LiveAtPeak()) {
      if (trace->buffers()[i].use == use) bytes += trace->buffers()[i].bytes;
    }
    return bytes;
  }
};

Expected<Figures> Measure(const std::string& path, const ModelOptions& options,
                          const InputOptions& input_options) {
  Figures figures;
  TRY(figures.program, LoadProgram(path, options));
  TRY(const MadeInputs inputs,
      MakeInputs(figures.program->module(), input_options));
  figures.input_bytes = InputBytes(inputs);
  figures.trace = std::make_unique<MemoryTrace>();
  vm::SessionOptions watched = options.session;
  watched.observer = figures.trace.get();
  TRY(const auto session, vm::Session::Create(figures.program, watched));
  RETURN_IF_ERROR(SetInputs(*session, inputs));
  RETURN_IF_ERROR(session->Run());
  figures.trace->Finish();
  figures.stats = session->stats();
  return figures;
}

std::string OrDash(const std::string& text) {
  return text.empty() ? "-" : text;
}

void PrintFigures(const Figures& figures, std::size_t top) {
  const MemoryTrace& trace = *figures.trace;
  const Peak peak = trace.Measured();
  const uint64_t bound = trace.LowerBound().bytes;
  Table table({"", "", ""}, {Align::kLeft, Align::kRight, Align::kLeft});
  const auto row = [&](const std::string& what, uint64_t bytes,
                       const std::string& note = "") {
    table.Add({what, BytesText(bytes), note});
  };
  const std::string where = trace.OperatorAt(peak.step);
  row("peak", peak.bytes, where.empty() ? "" : "at " + where);
  for (const BufferUse use : kUses) {
    const uint64_t bytes = figures.LiveBytes(use);
    if (bytes == 0 && use == BufferUse::kCopiedInput) continue;
    row("  " + std::string(BufferUseName(use)), bytes);
  }
  row("lower bound", bound, "peak is " + RatioText(peak.bytes, bound));
  row("reserved", figures.stats.last_run.reserved_high_water,
      RatioText(figures.stats.last_run.reserved_high_water, bound) +
          " the bound");
  row("nothing freed", trace.TotalBytes(),
      RatioText(trace.TotalBytes(), bound) + " the bound");
  row("inputs", figures.input_bytes, "the caller's");
  row("weights", figures.stats.weights.in_place_bytes, "in place");
  row("weights", figures.stats.weights.owned_bytes, "copied");
  row("records", figures.stats.object_bytes + figures.stats.register_bytes,
      "of values and registers");
  std::cout << table.Text();

  const std::vector<std::size_t> live = figures.LiveAtPeak();
  if (live.empty()) return;
  Table values(
      {"bytes", "use", "value", "made by", "node"},
      {Align::kRight, Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft});
  for (std::size_t i = 0; i < std::min(top, live.size()); ++i) {
    const TracedBuffer& buffer = trace.buffers()[live[i]];
    values.Add({BytesText(buffer.bytes), std::string(BufferUseName(buffer.use)),
                OrDash(buffer.name), OrDash(buffer.op), OrDash(buffer.node)});
  }
  std::cout << "\nlive at the peak: " << CountText(live.size(), "value") << "\n"
            << values.Text(2);
  if (live.size() > top) {
    std::cout << "  and " << live.size() - top << " more (--top)\n";
  }
}

void PrintFiguresAsJson(const Figures& figures, const std::string& model) {
  const MemoryTrace& trace = *figures.trace;
  const Peak peak = trace.Measured();
  boost::json::object document = JsonDocument("memory");
  document["model"] = JsonText(model);
  document["peak_bytes"] = peak.bytes;
  document["peak_operator"] = JsonText(trace.OperatorAt(peak.step));
  document["activation_bytes"] = figures.LiveBytes(BufferUse::kActivation);
  document["scratch_bytes"] = figures.LiveBytes(BufferUse::kScratch);
  document["output_bytes"] = figures.LiveBytes(BufferUse::kOutput);
  document["copied_input_bytes"] = figures.LiveBytes(BufferUse::kCopiedInput);
  document["lower_bound_bytes"] = trace.LowerBound().bytes;
  document["reserved_peak_bytes"] = figures.stats.last_run.reserved_high_water;
  document["nothing_freed_bytes"] = trace.TotalBytes();
  document["input_bytes"] = figures.input_bytes;
  document["weights_in_place_bytes"] = figures.stats.weights.in_place_bytes;
  document["weights_copied_bytes"] = figures.stats.weights.owned_bytes;
  document["record_bytes"] =
      figures.stats.object_bytes + figures.stats.register_bytes;
  boost::json::array live;
  for (const std::size_t i : figures.LiveAtPeak()) {
    const TracedBuffer& buffer = trace.buffers()[i];
    live.emplace_back(
        boost::json::object{{"value", JsonText(buffer.name)},
                            {"operator", JsonText(buffer.op)},
                            {"node", JsonText(buffer.node)},
                            {"use", std::string(BufferUseName(buffer.use))},
                            {"bytes", buffer.bytes}});
  }
  document["live_at_peak"] = std::move(live);
  PrintJson(document);
}

}  // namespace

int RunMemory(const std::vector<std::string>& words) {
  CommandLine line = MakeCommandLine();
  if (const auto code = line.Parse(words)) return *code;
  auto options = ReadModelOptions(line.values());
  if (!options.has_value()) return SayError("memory", options.error());
  const std::string model = line.Get<std::string>("model");
  const auto inputs = ReadMeasureOptions(line.values(), model, *options);
  if (!inputs.has_value()) return SayError(model, inputs.error());
  const auto figures = Measure(model, *options, *inputs);
  if (!figures.has_value()) return SayError(model, figures.error());
  if (line.Has("json")) {
    PrintFiguresAsJson(*figures, model);
  } else {
    PrintFigures(*figures, line.Get<std::size_t>("top"));
  }
  return kDone;
}

}  // namespace ebb::tools
