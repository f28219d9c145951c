#include "tools/memory_peaks.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "tools/json_output.h"
#include "tools/load_model.h"
#include "tools/measure.h"
#include "tools/quantities.h"
#include "tools/table.h"

namespace ebb::tools {
namespace {

constexpr std::array kKinds = {allocator::Kind::kPool, allocator::Kind::kNaive,
                               allocator::Kind::kSizeBucket};

Expected<AllocatorPeak> MeasureOne(const vm::ProgramRef& program,
                                   const ModelOptions& options,
                                   const MadeInputs& inputs,
                                   allocator::Kind kind, bool kills) {
  vm::SessionOptions session = options.session;
  session.allocator = kind;
  TRY(const vm::RunStats stats, MeasureRuns(program, session, inputs));
  return AllocatorPeak{.allocator = kind,
                       .kills = kills,
                       .live_bytes = stats.live_high_water,
                       .reserved_bytes = stats.reserved_high_water};
}

std::string InputsText(const vm::Program& program, const MadeInputs& inputs) {
  std::string text;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].has_value()) continue;
    if (!text.empty()) text += ", ";
    text += program.module().string(program.entry().params[i].name) + " " +
            ShapeTextOf(inputs[i]->View());
  }
  return text;
}

std::string Title(const AllocatorPeak& peak) {
  return std::string(peak.kills ? "kills, " : "no kills, ") +
         std::string(AllocatorName(peak.allocator));
}

}  // namespace

const AllocatorPeak& MemoryPeaks::Pool() const {
  const auto found = std::ranges::find_if(peaks, [](const AllocatorPeak& peak) {
    return peak.kills && peak.allocator == allocator::Kind::kPool;
  });
  assert(found != peaks.end());
  return *found;
}

Expected<MemoryPeaks> MeasurePeaks(const std::string& model,
                                   const ModelOptions& options,
                                   const InputOptions& input_options) {
  MemoryPeaks peaks;
  peaks.model = model;
  TRY(const ModelKind kind, DetectModelKind(model));
  if (kind == ModelKind::kOnnx || kind == ModelKind::kIr) {
    ModelOptions no_kill = options;
    no_kill.compile.kill = false;
    TRY(const vm::ProgramRef program, LoadProgram(model, no_kill));
    TRY(const MadeInputs inputs, MakeInputs(program->module(), input_options));
    TRY(const AllocatorPeak peak,
        MeasureOne(program, options, inputs, allocator::Kind::kPool, false));
    peaks.peaks.push_back(peak);
  }
  TRY(const vm::ProgramRef program, LoadProgram(model, options));
  TRY(const MadeInputs inputs, MakeInputs(program->module(), input_options));
  peaks.inputs = InputsText(*program, inputs);
  TRY(const auto trace, TraceRun(program, options.session, inputs));
  peaks.total_bytes = trace->TotalBytes();
  peaks.bound_bytes = trace->LowerBound().bytes;
  for (const allocator::Kind each : kKinds) {
    TRY(const AllocatorPeak peak,
        MeasureOne(program, options, inputs, each, true));
    peaks.peaks.push_back(peak);
  }
  return peaks;
}

std::string PeaksText(const MemoryPeaks& peaks) {
  Table table({"", "live", "", "reserved", ""},
              {Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
               Align::kRight});
  const uint64_t bound = peaks.bound_bytes;
  table.Add({"nothing freed", BytesText(peaks.total_bytes),
             RatioText(peaks.total_bytes, bound), "", ""});
  for (const AllocatorPeak& peak : peaks.peaks) {
    table.Add({Title(peak), BytesText(peak.live_bytes),
               RatioText(peak.live_bytes, bound),
               BytesText(peak.reserved_bytes),
               RatioText(peak.reserved_bytes, bound)});
  }
  table.Add({"lower bound", BytesText(bound), RatioText(bound, bound), "", ""});
  return peaks.model + ": " + peaks.inputs + "\n" + table.Text(2);
}

boost::json::object PeaksJson(const MemoryPeaks& peaks) {
  boost::json::object object;
  object["model"] = JsonText(peaks.model);
  object["inputs"] = JsonText(peaks.inputs);
  object["nothing_freed_bytes"] = peaks.total_bytes;
  object["lower_bound_bytes"] = peaks.bound_bytes;
  boost::json::array rows;
  for (const AllocatorPeak& peak : peaks.peaks) {
    rows.emplace_back(boost::json::object{
        {"allocator", std::string(AllocatorName(peak.allocator))},
        {"kills", peak.kills},
        {"live_peak_bytes", peak.live_bytes},
        {"reserved_peak_bytes", peak.reserved_bytes}});
  }
  object["peaks"] = std::move(rows);
  return object;
}

}  // namespace ebb::tools
