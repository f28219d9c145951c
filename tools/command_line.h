// The words after `ebb COMMAND`: options by Boost.Program_options, help pages
// of one form for all commands, and suggestions for what was mistyped.
//
//   CommandLine line({.name = "run", .usage = "MODEL [options]", …});
//   line.Add(CompileOptionGroup());
//   line.Positional("model");
//   if (const auto code = line.Parse(args)) return *code;
//   line.values()["model"].as<std::string>()
//
// What Boost.Program_options throws for other mistakes (a value that is no
// number) is caught in main.cc alone.
#ifndef EBB_TOOLS_COMMAND_LINE_H_
#define EBB_TOOLS_COMMAND_LINE_H_

#include <boost/program_options.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::tools {

namespace po = boost::program_options;

struct CommandHelp {
  std::string name;     // "run"
  std::string usage;    // What follows the name: "MODEL [options]".
  std::string about;    // Paragraphs, with empty lines between them.
  std::string example;  // Whole command lines.
};

class CommandLine {
 public:
  explicit CommandLine(CommandHelp help);

  // Groups are shown in the order in which they are added.
  void Add(const po::options_description& group);
  // Takes the next word without a dash, or with `many` all that are left. Must
  // be there unless `required` is off.
  void Positional(const std::string& name, bool many = false,
                  bool required = true);

  // The exit code when there is nothing left to do: help was asked for, or
  // the words make no sense.
  std::optional<int> Parse(const std::vector<std::string>& words);

  const po::variables_map& values() const { return values_; }
  bool Has(const std::string& name) const { return values_.count(name) != 0; }
  // The option must be there or have a default.
  template <class T>
  const T& Get(const std::string& name) const {
    return values_[name].as<T>();
  }

  std::string HelpText() const;

 private:
  std::optional<std::string> UnknownOption(
      const std::vector<std::string>& words) const;
  std::string Where() const { return help_.name; }

  CommandHelp help_;
  std::vector<po::options_description> groups_;
  po::options_description visible_;
  po::options_description hidden_;
  po::positional_options_description positional_;
  std::vector<std::string> required_;
  po::variables_map values_;
};

// The known word nearest to `word`; nullopt when none is near.
std::optional<std::string> Nearest(std::string_view word,
                                   std::span<const std::string> known);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_COMMAND_LINE_H_
