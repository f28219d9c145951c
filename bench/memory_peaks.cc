// Prints for each model what its buffers need: nothing freed, without kills,
// with kills under each allocator, and the lower bound of its order of
// operators. With --check it also fails unless kills and the pool reach the
// bound.
#include "tools/memory_peaks.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "tools/command_line.h"
#include "tools/exit_code.h"
#include "tools/json_output.h"
#include "tools/measure.h"
#include "tools/model_options.h"

namespace ebb::tools {
namespace {

constexpr char kUsage[] =
    "Usage: memory_peaks MODEL|FOLDER... [options]\n\n"
    "Runs models under all memory settings and prints their peaks. Of a "
    "folder: every\nmodel in it (.onnx, .ebb), and every FOLDER/NAME/"
    "model.onnx.\n";

// Of kills and the pool, as a share of the lower bound.
constexpr double kMaxReservedShare = 1.15;

bool IsModel(const std::filesystem::path& path) {
  return path.extension() == ".onnx" || path.extension() == ".ebb";
}

// The models that a word of the command line stands for, sorted.
std::vector<std::string> ModelsOf(const std::string& word) {
  std::error_code error;
  if (!std::filesystem::is_directory(word, error)) return {word};
  std::vector<std::string> models;
  for (const auto& entry : std::filesystem::directory_iterator(word, error)) {
    const auto inner = entry.path() / "model.onnx";
    if (entry.is_regular_file(error) && IsModel(entry.path())) {
      models.push_back(entry.path().string());
    } else if (std::filesystem::exists(inner, error)) {
      models.push_back(inner.string());
    }
  }
  std::ranges::sort(models);
  return models;
}

// What --check asks for.
bool Holds(const MemoryPeaks& peaks) {
  const AllocatorPeak& pool = peaks.Pool();
  const auto bound = static_cast<double>(peaks.bound_bytes);
  const bool is_live_low = pool.live_bytes <= peaks.bound_bytes;
  const bool is_reserved_low =
      static_cast<double>(pool.reserved_bytes) <= kMaxReservedShare * bound;
  if (!is_live_low) {
    SayError(peaks.model, std::to_string(pool.live_bytes) +
                              " bytes are live at the peak, the lower bound "
                              "is " +
                              std::to_string(peaks.bound_bytes));
  }
  if (!is_reserved_low) {
    SayError(peaks.model,
             std::to_string(pool.reserved_bytes) +
                 " bytes are reserved at the peak, more than 1.15 times the "
                 "lower bound of " +
                 std::to_string(peaks.bound_bytes));
  }
  return is_live_low && is_reserved_low;
}

Expected<MemoryPeaks> MeasureModel(const std::string& model,
                                   const po::variables_map& values) {
  TRY(ModelOptions options, ReadModelOptions(values));
  TRY(const InputOptions inputs, ReadMeasureOptions(values, model, options));
  return MeasurePeaks(model, options, inputs);
}

int Run(const std::vector<std::string>& models,
        const po::variables_map& values) {
  const bool as_json = values.count("json") != 0;
  int code = kDone;
  boost::json::array rows;
  for (const std::string& model : models) {
    const auto peaks = MeasureModel(model, values);
    if (!peaks.has_value()) {
      code = std::max(code, SayError(model, peaks.error()));
      continue;
    }
    if (as_json) {
      rows.emplace_back(PeaksJson(*peaks));
    } else {
      std::cout << PeaksText(*peaks) << std::endl;
    }
    if (values.count("check") != 0 && !Holds(*peaks)) {
      code = std::max(code, kFailed);
    }
  }
  if (as_json) {
    boost::json::object document = JsonDocument("memory_peaks");
    document["models"] = std::move(rows);
    PrintJson(document);
  }
  return code;
}

int Main(int argc, char** argv) {
  po::options_description visible("Options");
  visible.add_options()(
      "check",
      "fail unless, with kills and the pool, what is live stays within the "
      "lower bound and what is reserved within 1.15 times it")(
      "json", "print the figures as JSON (schema ebb.memory_peaks/1)")(
      "help,h", "show this page");
  visible.add(MeasureOptionGroup()).add(CompileOptionGroup());
  po::options_description all;
  all.add(visible).add_options()("models",
                                 po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("models", -1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv)
                .options(all)
                .positional(positional)
                .run(),
            values);
  po::notify(values);
  if (values.count("help") != 0) {
    std::cout << kUsage << visible;
    return kDone;
  }
  std::vector<std::string> models;
  if (values.count("models") != 0) {
    for (const auto& word : values["models"].as<std::vector<std::string>>()) {
      const std::vector<std::string> found = ModelsOf(word);
      models.insert(models.end(), found.begin(), found.end());
    }
  }
  if (models.empty()) {
    SayError("memory_peaks", "no models given (--help tells more)");
    return kBadUsage;
  }
  return Run(models, values);
}

}  // namespace
}  // namespace ebb::tools

int main(int argc, char** argv) {
  try {
    return ebb::tools::Main(argc, argv);
  } catch (const std::exception& error) {
    ebb::tools::SayError("memory_peaks", error.what());
    return ebb::tools::kBadUsage;
  }
}
