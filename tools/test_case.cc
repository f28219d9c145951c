#include "tools/test_case.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bytecode/atomic_file.h"
#include "bytecode/writer.h"
#include "tools/host_tensor.h"
#include "tools/load_model.h"
#include "tools/npy.h"
#include "tools/onnx_facts.h"
#include "tools/program_text.h"
#include "tools/tensor_file.h"
#include "vm/program.h"
#include "vm/session.h"

namespace ebb::tools {
namespace {

CaseResult Passed() { return {}; }
CaseResult Failed(std::string reason) {
  return {Verdict::kFail, std::move(reason)};
}
CaseResult Skipped(std::string reason) {
  return {Verdict::kSkip, std::move(reason)};
}

// Goes away with its content.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    std::string pattern =
        (std::filesystem::temp_directory_path(error) / "ebb-test-XXXXXX")
            .string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The program keeps the file mapped after its name is gone.
Expected<vm::ProgramRef> LoadViaFile(const std::string& model,
                                     const ModelOptions& options) {
  const TemporaryFolder folder;
  if (folder.path().empty()) {
    return Fail(ErrorCode::kIo, "cannot make a temporary folder");
  }
  const std::string file = folder.path() + "/model.ebb";
  {
    TRY(const bytecode::Module module,
        LoadModule(model, options, /*for_running=*/false));
    RETURN_IF_ERROR(
        bytecode::WriteFileAtomically(file, [&](const bytecode::Sink& sink) {
          return bytecode::WriteModule(module, sink);
        }));
  }
  return vm::Program::LoadFile(file, {});
}

// ONNX's data had bfloat16 as uint16 while NumPy lacked it.
Expected<HostTensor> AsDeclared(HostTensor tensor, const bytecode::Type* type) {
  const bool bits = type != nullptr && type->dtype == DType::kBF16 &&
                    tensor.dtype() == DType::kU16;
  if (!bits) return tensor;
  return ConvertFromNpy(std::move(tensor), DType::kBF16);
}

class CaseRunner {
 public:
  CaseRunner(const TestFolder& folder, const CaseOptions& options)
      : folder_(folder), options_(options) {}

  CaseResult Run();

 private:
  Status Load();
  // What keeps the case from being loaded, when it is something not built in.
  std::optional<std::string> WhyNotSupported(const Error& error) const;
  // An input that is not what model.onnx itself declares: then the case is at
  // fault, not who runs it.
  std::optional<std::string> FindContradiction(const DataSet& set) const;
  Status SetInputs(const DataSet& set);
  Status RunSet(const DataSet& set) {
    RETURN_IF_ERROR(SetInputs(set));
    return session_->Run();
  }
  std::optional<std::string> FindDifferences(const DataSet& set) const;
  // Runs and compares; what is wrong, or nullopt.
  std::optional<std::string> CheckSet(const DataSet& set);
  CaseResult CheckAll();
  CaseResult CheckRejected();
  CaseResult CheckRunRejected();
  Status RunOnZeros();
  Tolerance ToleranceOf(const std::string& output) const;

  const TestFolder& folder_;
  const CaseOptions& options_;
  vm::ProgramRef program_;
  std::unique_ptr<vm::Session> session_;
  std::vector<HostTensor> inputs_;  // Borrowed by the session until it has run.
};

Status CaseRunner::Load() {
  ModelOptions options = options_.model;
  if (folder_.model.ends_with(".ebb")) options.compile_only.clear();
  if (options_.via_ebb) {
    TRY(program_, LoadViaFile(folder_.model, options));
  } else {
    TRY(program_, LoadProgram(folder_.model, options));
  }
  TRY(session_, vm::Session::Create(program_, options.session));
  return {};
}

std::optional<std::string> CaseRunner::WhyNotSupported(
    const Error& error) const {
  if (!folder_.model.ends_with(".onnx")) return std::nullopt;
  const auto facts = ReadOnnxFacts(folder_.model);
  if (!facts.has_value()) return std::nullopt;
  std::string what;
  for (const OnnxFacts::Unsupported& item : facts->unsupported) {
    what += (what.empty() ? "" : ", ") + item.what;
  }
  if (!what.empty()) return "not built in: " + what;
  if (error.code != ErrorCode::kUnsupported) return std::nullopt;
  // Random numbers of another library are nothing to compare with.
  if (error.message == "Dropout in training mode") {
    return "not built in: " + error.message;
  }
  for (const std::string& type : facts->unusual_element_types) {
    what += (what.empty() ? "" : ", ") + type;
  }
  if (what.empty()) return std::nullopt;
  return "not built in: element type " + what + " (" + error.message + ")";
}

std::optional<std::string> CaseRunner::FindContradiction(
    const DataSet& set) const {
  if (!folder_.model.ends_with(".onnx")) return std::nullopt;
  const auto facts = ReadOnnxFacts(folder_.model);
  if (!facts.has_value()) return std::nullopt;
  for (const auto& [number, path] : set.inputs) {
    const auto input = ReadPb(path);
    if (!input.has_value()) continue;
    for (const OnnxFacts::Value& value : facts->inputs) {
      if (value.name != input->name || !value.has_shape) continue;
      const bool fits = std::ranges::equal(
          input->tensor.dims(), value.dims, [](int64_t is, int64_t declared) {
            return declared < 0 || is == declared;
          });
      if (fits) continue;
      return set.name + " does not fit its own model: input \"" + value.name +
             "\" is " + ShapeTextOf(input->tensor.View()) + ", declared " +
             value.type;
    }
  }
  return std::nullopt;
}

Status CaseRunner::SetInputs(const DataSet& set) {
  inputs_.clear();
  for (const auto& [number, path] : set.inputs) {
    TRY(NamedTensor input, ReadPb(path));
    // By name; files of older data have none and stand by number.
    const auto named = session_->InputIndex(input.name);
    const std::size_t index = named.has_value() ? *named : number;
    if (index >= session_->input_count()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "the model has no input \"" + input.name + "\" and only " +
                      std::to_string(session_->input_count()) + " inputs",
                  path);
    }
    TRY(HostTensor tensor,
        AsDeclared(std::move(input.tensor),
                   TensorType(program_->module(),
                              program_->entry().params[index].type)));
    inputs_.push_back(std::move(tensor));
    RETURN_IF_ERROR(session_->SetInput(index, inputs_.back().View()));
  }
  return {};
}

Tolerance CaseRunner::ToleranceOf(const std::string& output) const {
  const auto at = options_.tolerances.find(folder_.name);
  return at == options_.tolerances.end()
             ? options_.tolerance
             : at->second.For(output, options_.tolerance);
}

std::optional<std::string> CaseRunner::FindDifferences(
    const DataSet& set) const {
  const bytecode::Module& module = program_->module();
  const auto& results = program_->entry().results;
  const bool subset = !options_.model.compile.import.outputs.empty();
  for (const auto& [number, path] : set.outputs) {
    auto expected = ReadPb(path);
    if (!expected.has_value()) return expected.error().ToString();
    const auto named = session_->OutputIndex(expected->name);
    if (subset && !named.has_value()) continue;
    const std::size_t index = named.has_value() ? *named : number;
    if (index >= results.size()) {
      return path + ": the model has no output \"" + expected->name + "\"";
    }
    const std::string& name = module.string(results[index].name);
    const auto got = session_->Output(index);
    if (!got.has_value()) {
      return "output \"" + name + "\": " + got.error().ToString();
    }
    const auto wanted = AsDeclared(std::move(expected->tensor),
                                   TensorType(module, results[index].type));
    if (!wanted.has_value()) return path + ": " + wanted.error().message;
    if (const auto difference =
            FindDifference(*got, wanted->View(), ToleranceOf(name))) {
      return "output \"" + name + "\": " + *difference;
    }
  }
  return std::nullopt;
}

std::optional<std::string> CaseRunner::CheckSet(const DataSet& set) {
  if (const Status status = RunSet(set); !status.has_value()) {
    session_->ClearInputs();
    return set.name + ": " + status.error().ToString();
  }
  if (const auto difference = FindDifferences(set)) {
    return set.name + ": " + *difference;
  }
  return std::nullopt;
}

CaseResult CaseRunner::CheckAll() {
  // A model without sets has to run at least where it takes nothing.
  if (folder_.sets.empty()) {
    if (session_->input_count() != 0) {
      return Skipped("no test_data_set_0: loads, but there is nothing to run");
    }
    const Status status = session_->Run();
    return status.has_value() ? Passed() : Failed(status.error().ToString());
  }
  for (const DataSet& set : folder_.sets) {
    const auto wrong = CheckSet(set);
    if (!wrong.has_value()) continue;
    if (const auto why = FindContradiction(set)) return Skipped(*why);
    return Failed(*wrong);
  }
  return Passed();
}

CaseResult CaseRunner::CheckRejected() {
  for (const DataSet& set : folder_.sets) {
    if (!RunSet(set).has_value()) return Passed();
  }
  if (folder_.sets.empty() && session_->input_count() == 0 &&
      !session_->Run().has_value()) {
    return Passed();
  }
  return Failed("was accepted, but must be rejected");
}

// Zeros, and sizes of 1 where the model leaves them open.
Status CaseRunner::RunOnZeros() {
  inputs_.clear();
  const auto& params = program_->entry().params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const bytecode::Type* type = TensorType(program_->module(), params[i].type);
    if (type == nullptr || params[i].optional_feed) continue;
    std::vector<int64_t> dims;
    for (const bytecode::DimSpec& dim : type->dims) {
      dims.push_back(dim.size >= 0 ? dim.size : 1);
    }
    TRY(HostTensor zeros, HostTensor::Make(type->dtype, std::move(dims)));
    inputs_.push_back(std::move(zeros));
    RETURN_IF_ERROR(session_->SetInput(i, inputs_.back().View()));
  }
  return session_->Run();
}

CaseResult CaseRunner::CheckRunRejected() {
  bool proved_usable = false;
  bool rejected = false;
  for (const DataSet& set : folder_.sets) {
    if (!set.outputs.empty()) {
      if (const auto wrong = CheckSet(set)) return Failed(*wrong);
      proved_usable = true;
      continue;
    }
    const Status status = RunSet(set);
    session_->ClearInputs();
    if (status.has_value()) {
      return Failed(set.name + ": was accepted, but the run must be rejected");
    }
    if (status.error().message.empty()) {
      return Failed(set.name + ": was rejected without a message");
    }
    rejected = true;
    proved_usable = false;
  }
  if (!rejected) return Failed("no set asks for a rejection");
  if (proved_usable) return Passed();
  const Status status = RunOnZeros();
  return status.has_value()
             ? Passed()
             : Failed("after the rejections the model does not run: " +
                      status.error().ToString());
}

CaseResult CaseRunner::Run() {
  if (folder_.model.empty()) return Skipped("no model.onnx or model.ebb");
  const Status loaded = Load();
  if (!loaded.has_value()) {
    if (const auto why = WhyNotSupported(loaded.error())) return Skipped(*why);
    const bool rejected = folder_.expectation == Expectation::kRejected;
    // "The run must be rejected" allows a rejection at load, too, unless some
    // sets must run.
    const bool run_rejected =
        folder_.expectation == Expectation::kRunRejected &&
        std::ranges::all_of(folder_.sets, [](const DataSet& set) {
          return set.outputs.empty();
        });
    if (loaded.error().message.empty()) {
      return Failed("was rejected without a message");
    }
    return rejected || run_rejected ? Passed()
                                    : Failed(loaded.error().ToString());
  }
  switch (folder_.expectation) {
    case Expectation::kPass:
      return CheckAll();
    case Expectation::kRejected:
      return CheckRejected();
    case Expectation::kRunRejected:
      return CheckRunRejected();
  }
  return Failed("unknown expectation");
}

}  // namespace

CaseResult RunTestCase(const TestFolder& folder, const CaseOptions& options) {
  return CaseRunner(folder, options).Run();
}

}  // namespace ebb::tools
