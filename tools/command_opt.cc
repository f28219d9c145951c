#include "tools/command_opt.h"

#include <iostream>

#include "compiler/passes/pipeline.h"
#include "tools/command_line.h"
#include "tools/exit_code.h"
#include "tools/load_model.h"
#include "tools/model_options.h"
#include "tools/table.h"

namespace ebb::tools {
namespace {

CommandLine MakeCommandLine() {
  CommandLine line(
      {.name = "opt",
       .usage = "FILE.ir [--passes A,B,C] [options]",
       .about = "Runs passes on IR text, in the order given, and prints the "
                "result. What a pass needs done before it is done by itself. "
                "`-` reads standard input. Without passes the text is read "
                "and printed.",
       .example = "  ebb opt model.ir --passes canonicalize,insert-kills"});
  po::options_description group("Options");
  group.add_options()("passes", po::value<std::string>()->value_name("NAMES"),
                      "names with commas between them")(
      "list", "list the passes in the order of the pipeline")(
      "threads", po::value<int>()->default_value(1)->value_name("N"),
      "threads that scratch is sized for")(
      "backend",
      po::value<std::string>()
          ->default_value(std::string(BackendName(kernels::DefaultBackend())))
          ->value_name("NAME"),
      "whose kernels: onednn or portable");
  line.Add(group);
  line.Positional("file", /*many=*/false, /*required=*/false);
  return line;
}

void PrintPasses() {
  Table table({"", ""}, {Align::kLeft, Align::kLeft});
  for (const passes::PassInfo& pass : passes::AllPasses()) {
    table.Add({std::string(pass.name), std::string(pass.summary)});
  }
  std::cout << table.Text();
}

// True when all names are passes; else says which is not.
bool CheckNames(const std::string& list) {
  std::vector<std::string> known;
  for (const passes::PassInfo& pass : passes::AllPasses()) {
    known.emplace_back(pass.name);
  }
  for (const std::string_view name : passes::SplitPassNames(list)) {
    if (passes::FindPass(name) != nullptr) continue;
    std::string what = "unknown pass " + std::string(name);
    if (const auto nearest = Nearest(name, known)) {
      what += "; did you mean " + *nearest + "?";
    } else {
      what += "; `ebb opt --list` lists all";
    }
    SayError("opt", what);
    return false;
  }
  return true;
}

}  // namespace

int RunOpt(const std::vector<std::string>& words) {
  CommandLine line = MakeCommandLine();
  if (const auto code = line.Parse(words)) return *code;
  if (line.Has("list")) {
    PrintPasses();
    return kDone;
  }
  const auto options = ReadModelOptions(line.values());
  if (!options.has_value()) return SayError("opt", options.error());
  if (!line.Has("file")) {
    SayError("opt", "no file given; `-` reads standard input");
    return kBadUsage;
  }
  const std::string path = line.Get<std::string>("file");
  const std::string list =
      line.Has("passes") ? line.Get<std::string>("passes") : "";
  if (!CheckNames(list)) return kBadUsage;
  const auto text = ReadText(path);
  if (!text.has_value()) return SayError(ShownPath(path), text.error());
  const auto result =
      passes::RunPassesOnText(*text, list,
                              {.backend = options->compile.backend,
                               .threads = options->compile.threads});
  if (!result.has_value()) return SayError(ShownPath(path), result.error());
  std::cout << *result;
  return kDone;
}

}  // namespace ebb::tools
