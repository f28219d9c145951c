#include "tools/command_test_folders.h"

#include <cstdint>
#include <iostream>
#include <utility>

#include "tools/command_line.h"
#include "tools/exit_code.h"
#include "tools/forked_jobs.h"
#include "tools/json_output.h"
#include "tools/model_options.h"
#include "tools/progress.h"
#include "tools/quantities.h"
#include "tools/test_case.h"
#include "tools/test_folder.h"
#include "tools/tolerance_file.h"

namespace ebb::tools {
namespace {

CommandLine MakeCommandLine() {
  CommandLine line(
      {.name = "test",
       .usage = "FOLDER... [options]",
       .about =
           "Runs test cases in the layout of ONNX's backend tests: "
           "FOLDER/model.onnx (or model.ebb) with "
           "test_data_set_*/input_*.pb and output_*.pb. The sets run in order "
           "in one loaded model; a set without outputs only has to run. A "
           "folder without a model stands for the cases in it.\n\n"
           "A FOLDER/expect.txt that begins with \"must be rejected\" asks "
           "that loading or running fails; \"the run must be rejected\", that "
           "each set without outputs fails and the model stays usable.\n\n"
           "Every case runs in a process of its own. It is skipped only where "
           "its model needs what is not built in.",
       .example = "  ebb test onnx/backend/test/data/node --jobs 2"});
  po::options_description group("Options");
  group.add_options()(
      "rtol",
      po::value<double>()->default_value(1e-3, "0.001")->value_name("X"),
      "a float may be off by atol + rtol * |expected|")(
      "atol",
      po::value<double>()->default_value(1e-5, "0.00001")->value_name("X"),
      "(half floats get at least 0.002, bfloat16 rtol 0.01)")(
      "tolerances", po::value<std::string>()->value_name("FILE"),
      "tolerances by model, which replace those above")(
      "jobs,j", po::value<int>()->default_value(1)->value_name("N"),
      "cases that run at the same time")(
      "timeout",
      po::value<double>()->default_value(300, "300")->value_name("SECONDS"),
      "a case that takes longer has failed; 0: no limit")(
      "via-ebb", "compile each model to a .ebb file and run that")(
      "quiet,q", "no lines for cases that pass")(
      "json", "print the results as JSON (schema ebb.test/1)");
  line.Add(group);
  line.Add(CompileOptionGroup());
  line.Add(SessionOptionGroup());
  line.Positional("folder", /*many=*/true);
  return line;
}

Expected<CaseOptions> ReadCaseOptions(const CommandLine& line) {
  CaseOptions options;
  TRY(options.model, ReadModelOptions(line.values()));
  options.model.quiet = true;
  options.tolerance.rtol = line.Get<double>("rtol");
  options.tolerance.atol = line.Get<double>("atol");
  if (!(options.tolerance.rtol >= 0) || !(options.tolerance.atol >= 0)) {
    return Fail(ErrorCode::kInvalidArgument,
                "--rtol and --atol must not be negative");
  }
  options.via_ebb = line.Has("via-ebb");
  if (line.Has("tolerances")) {
    TRY(options.tolerances,
        ReadTolerances(line.Get<std::string>("tolerances")));
  }
  return options;
}

Expected<std::vector<std::string>> FindAll(
    const std::vector<std::string>& given) {
  std::vector<std::string> folders;
  for (const std::string& path : given) {
    TRY(const auto found, FindTestFolders(path));
    folders.insert(folders.end(), found.begin(), found.end());
  }
  return folders;
}

// A result on its way through the pipe: the verdict's letter, the reason.
std::string Encode(const CaseResult& result) {
  constexpr const char* kLetters = "PFS";
  return kLetters[static_cast<std::size_t>(result.verdict)] + result.reason;
}

CaseResult Decode(const JobResult& job) {
  if (!job.crash.empty()) return {Verdict::kFail, job.crash};
  if (job.text.empty()) return {Verdict::kFail, "ended without a result"};
  const Verdict verdict = job.text[0] == 'P'   ? Verdict::kPass
                          : job.text[0] == 'S' ? Verdict::kSkip
                                               : Verdict::kFail;
  return {verdict, job.text.substr(1)};
}

CaseResult RunOne(const std::string& path, const CaseOptions& options) {
  const auto folder = ReadTestFolder(path);
  if (!folder.has_value()) {
    return {Verdict::kFail, folder.error().ToString()};
  }
  return RunTestCase(*folder, options);
}

class Report {
 public:
  Report(const CommandLine& line, std::size_t total)
      : json_(line.Has("json")), quiet_(line.Has("quiet")), total_(total) {}

  void Add(const std::string& path, const CaseResult& result) {
    const auto verdict = static_cast<std::size_t>(result.verdict);
    ++counts_[verdict];
    if (json_) {
      boost::json::object one;
      one["folder"] = JsonText(path);
      one["result"] = kJsonNames[verdict];
      one["reason"] = JsonText(result.reason);
      cases_.emplace_back(std::move(one));
    } else if (!quiet_ || result.verdict != Verdict::kPass) {
      progress_.Clear();
      std::cout << kNames[verdict] << "  " << Printable(path);
      if (!result.reason.empty()) {
        std::cout << ": " << Printable(result.reason);
      }
      std::cout << "\n";
    }
    progress_.Show(counts_[0] + counts_[1] + counts_[2], total_, path);
  }

  // The exit code.
  int Finish() {
    progress_.Clear();
    if (json_) {
      boost::json::object document = JsonDocument("test");
      document["cases"] = std::move(cases_);
      document["passed"] = counts_[0];
      document["failed"] = counts_[1];
      document["skipped"] = counts_[2];
      PrintJson(document);
    } else {
      std::cout << counts_[0] << " passed, " << counts_[1] << " failed, "
                << counts_[2] << " skipped\n";
    }
    return counts_[1] == 0 && counts_[0] != 0 ? kDone : kFailed;
  }

 private:
  static constexpr const char* kNames[] = {"pass", "FAIL", "skip"};
  static constexpr const char* kJsonNames[] = {"passed", "failed", "skipped"};

  bool json_;
  bool quiet_;
  std::size_t total_;
  std::size_t counts_[3] = {0, 0, 0};  // By verdict.
  boost::json::array cases_;
  Progress progress_{"test"};
};

}  // namespace

int RunTest(const std::vector<std::string>& words) {
  CommandLine line = MakeCommandLine();
  if (const auto code = line.Parse(words)) return *code;
  const auto options = ReadCaseOptions(line);
  if (!options.has_value()) return SayError("test", options.error());
  const int jobs = line.Get<int>("jobs");
  if (jobs < 1) {
    SayError("test", "--jobs must be at least 1, not " + std::to_string(jobs));
    return kBadUsage;
  }
  const auto folders = FindAll(line.Get<std::vector<std::string>>("folder"));
  if (!folders.has_value()) return SayError("test", folders.error());
  Report report(line, folders->size());
  RunForked(
      {.job_count = folders->size(),
       .parallel = static_cast<std::size_t>(jobs),
       .timeout_seconds = line.Get<double>("timeout")},
      [&](std::size_t i) { return Encode(RunOne((*folders)[i], *options)); },
      [&](std::size_t i, const JobResult& job) {
        report.Add((*folders)[i], Decode(job));
      });
  return report.Finish();
}

}  // namespace ebb::tools
