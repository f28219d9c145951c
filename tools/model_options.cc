#include "tools/model_options.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "tools/quantities.h"

namespace ebb::tools {
namespace po = boost::program_options;
namespace {

constexpr int kMaxThreads = 1024;

constexpr std::array kAllocators = {
    std::pair{std::string_view("pool"), allocator::Kind::kPool},
    std::pair{std::string_view("naive"), allocator::Kind::kNaive},
    std::pair{std::string_view("size-bucket"), allocator::Kind::kSizeBucket},
};

Expected<onnx::DimBound> ParseDim(std::string_view text) {
  if (text == "?") return onnx::DimBound();
  onnx::DimBound bound;
  const std::size_t dots = text.find("..");
  TRY(bound.low, ParseInt(text.substr(0, dots)));
  bound.high = bound.low;
  if (dots != std::string_view::npos) {
    const std::string_view high = text.substr(dots + 2);
    bound.high.reset();
    if (!high.empty()) {
      TRY(bound.high, ParseInt(high));
    }
  }
  if (bound.low < 0 || (bound.high.has_value() && *bound.high < bound.low)) {
    return Fail(ErrorCode::kInvalidArgument,
                "\"" + std::string(text) + "\" is not a dim");
  }
  return bound;
}

Expected<kernels::Backend> ParseBackend(std::string_view name) {
  if (name == "portable") return kernels::Backend::kPortable;
  if (name != "onednn") {
    return Fail(ErrorCode::kInvalidArgument,
                "\"" + std::string(name) + "\" is neither onednn nor portable",
                "--backend");
  }
  if (kernels::DefaultBackend() != kernels::Backend::kOneDnn) {
    return Fail(ErrorCode::kInvalidArgument, "onednn is not part of this build",
                "--backend");
  }
  return kernels::Backend::kOneDnn;
}

// The strings of an option that may be given several times.
std::vector<std::string> Strings(const po::variables_map& values,
                                 const char* name) {
  return values.count(name) != 0 ? values[name].as<std::vector<std::string>>()
                                 : std::vector<std::string>();
}

std::string String(const po::variables_map& values, const char* name) {
  return values.count(name) != 0 ? values[name].as<std::string>()
                                 : std::string();
}

Status ReadShapes(const po::variables_map& values, ModelOptions& options) {
  for (const std::string& text : Strings(values, "shape")) {
    TRY(ShapeOption shape, ParseShape(text));
    const std::string name = shape.first;
    if (!options.compile.import.shapes.insert(std::move(shape)).second) {
      return Fail(ErrorCode::kInvalidArgument,
                  "input \"" + name + "\" is given two shapes", "--shape");
    }
  }
  return {};
}

Status ReadTarget(const po::variables_map& values, ModelOptions& options) {
  const std::string target = String(values, "target");
  if (target.empty() || target == "native") return {};
  if (target != "any") {
    return Fail(ErrorCode::kInvalidArgument,
                "\"" + target + "\" is neither native nor any", "--target");
  }
  options.any_target = true;
  options.compile.pack = false;
  return {};
}

}  // namespace

po::options_description CompileOptionGroup() {
  po::options_description group("Compile options");
  group.add_options()(
      "shape", po::value<std::vector<std::string>>()->value_name("NAME=DIMS"),
      "size of an input: x=1x3x224x224, with ranges and unknown dims "
      "x=1..8x3x?x?; may be given several times")(
      "output", po::value<std::vector<std::string>>()->value_name("NAME"),
      "keep only this output; may be given several times")(
      "threads", po::value<int>()->default_value(1)->value_name("N"),
      "threads of one run")(
      "backend",
      po::value<std::string>()
          ->default_value(std::string(BackendName(kernels::DefaultBackend())))
          ->value_name("NAME"),
      "whose kernels: onednn or portable")(
      "target",
      po::value<std::string>()->default_value("native")->value_name("NAME"),
      "native: weights laid out for this processor's kernels; any: weights "
      "left plain")("no-kill",
                    "free nothing before the run ends (for comparison)")(
      "no-fold", "compute no constants and shapes at compile time")(
      "no-cse", "keep computing equal things twice")(
      "no-pack", "leave the weights in the plain layout");
  return group;
}

po::options_description SessionOptionGroup() {
  po::options_description group("Memory options");
  group.add_options()(
      "memory-limit", po::value<std::string>()->value_name("SIZE"),
      "fail rather than take more memory than this, such as 32MiB; mapped "
      "weights do not count")(
      "allocator",
      po::value<std::string>()->default_value("pool")->value_name("NAME"),
      "pool; naive or size-bucket for comparison");
  return group;
}

Expected<ModelOptions> ReadModelOptions(const po::variables_map& values) {
  ModelOptions options;
  RETURN_IF_ERROR(ReadShapes(values, options));
  options.compile.import.outputs = Strings(values, "output");
  RETURN_IF_ERROR(ReadTarget(values, options));
  options.compile.kill = values.count("no-kill") == 0;
  options.compile.fold = values.count("no-fold") == 0;
  options.compile.cse = values.count("no-cse") == 0;
  if (values.count("no-pack") != 0) options.compile.pack = false;
  if (const std::string name = String(values, "backend"); !name.empty()) {
    TRY(options.compile.backend, ParseBackend(name));
  }
  if (values.count("threads") != 0) {
    options.compile.threads = values["threads"].as<int>();
  }
  if (options.compile.threads < 1 || options.compile.threads > kMaxThreads) {
    return Fail(ErrorCode::kInvalidArgument,
                std::to_string(options.compile.threads) +
                    " is not between 1 and " + std::to_string(kMaxThreads),
                "--threads");
  }
  for (const char* name : {"shape", "output", "target", "no-kill", "no-fold",
                           "no-cse", "no-pack"}) {
    if (values.count(name) != 0 && !values[name].defaulted()) {
      options.compile_only.push_back(std::string("--") + name);
    }
  }
  options.session.threads = options.compile.threads;
  options.session.backend = options.compile.backend;
  if (const std::string limit = String(values, "memory-limit");
      !limit.empty()) {
    TRY(options.session.memory_limit_bytes, ParseBytes(limit));
    if (options.session.memory_limit_bytes == 0) {
      return Fail(ErrorCode::kInvalidArgument, "must be above 0",
                  "--memory-limit");
    }
  }
  if (const std::string name = String(values, "allocator"); !name.empty()) {
    TRY(options.session.allocator, ParseAllocator(name));
  }
  return options;
}

Expected<ShapeOption> ParseShape(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "\"" + std::string(text) + "\" is not NAME=DIMS", "--shape");
  }
  ShapeOption shape;
  shape.first = text.substr(0, equals);
  std::string_view rest = text.substr(equals + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('x'), rest.size());
    auto bound = ParseDim(rest.substr(0, end));
    if (!bound.has_value() || end + 1 == rest.size()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "\"" + std::string(text) +
                      "\": dims look like 1x3x224x224 or 1..8x3x?x?",
                  "--shape");
    }
    shape.second.push_back(*bound);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return shape;
}

Expected<allocator::Kind> ParseAllocator(std::string_view name) {
  for (const auto& [known, kind] : kAllocators) {
    if (known == name) return kind;
  }
  return Fail(
      ErrorCode::kInvalidArgument,
      "\"" + std::string(name) + "\" is not one of pool, naive, size-bucket",
      "--allocator");
}

std::string_view AllocatorName(allocator::Kind kind) {
  for (const auto& [name, known] : kAllocators) {
    if (known == kind) return name;
  }
  return "pool";
}

std::string_view BackendName(kernels::Backend backend) {
  return backend == kernels::Backend::kOneDnn ? "onednn" : "portable";
}

}  // namespace ebb::tools
