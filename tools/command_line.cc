#include "tools/command_line.h"

#include <algorithm>
#include <iostream>
#include <numeric>
#include <sstream>
#include <utility>

#include "tools/exit_code.h"

namespace ebb::tools {
namespace {

// No prefixes: a script that says --run today must not mean --runs tomorrow.
constexpr int kStyle = (po::command_line_style::unix_style |
                        po::command_line_style::long_allow_adjacent) &
                       ~po::command_line_style::allow_guessing;

// Edits that turn one word into the other: a letter put in, left out or
// replaced, or two neighbours swapped.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1,
                         above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

// Paragraphs, which stand between empty lines, in lines of at most 80.
std::string Wrapped(std::string_view text) {
  constexpr std::size_t kWidth = 80;
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    if (text.starts_with("\n\n")) {
      out += "\n\n";
      column = 0;
      text.remove_prefix(2);
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (column != 0 && column + 1 + word.size() > kWidth) {
      out += "\n";
      column = 0;
    }
    if (column != 0 && !word.empty()) {
      out += " ";
      ++column;
    }
    out += word;
    column += word.size();
    text.remove_prefix(end);
    if (!text.starts_with("\n\n") && !text.empty()) text.remove_prefix(1);
  }
  return out;
}

}  // namespace

std::optional<std::string> Nearest(std::string_view word,
                                   std::span<const std::string> known) {
  std::optional<std::string> nearest;
  // A word that is mostly different is no slip of the finger.
  std::size_t best = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const bool begins = word.size() >= 3 && candidate.starts_with(word);
    const std::size_t distance = begins ? 1 : Distance(word, candidate);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

CommandLine::CommandLine(CommandHelp help) : help_(std::move(help)) {}

void CommandLine::Add(const po::options_description& group) {
  groups_.push_back(group);
  visible_.add(group);
}

void CommandLine::Positional(const std::string& name, bool many,
                             bool required) {
  if (many) {
    hidden_.add_options()(name.c_str(), po::value<std::vector<std::string>>());
  } else {
    hidden_.add_options()(name.c_str(), po::value<std::string>());
  }
  positional_.add(name.c_str(), many ? -1 : 1);
  if (required) required_.push_back(name);
}

std::optional<std::string> CommandLine::UnknownOption(
    const std::vector<std::string>& words) const {
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word.size() <= 2 || !word.starts_with("--")) continue;
    const std::string name = word.substr(2, word.find('=') - 2);
    if (visible_.find_nothrow(name, /*approx=*/false) == nullptr) return name;
  }
  return std::nullopt;
}

std::optional<int> CommandLine::Parse(const std::vector<std::string>& words) {
  po::options_description other("Other options");
  other.add_options()("help,h", "show this page");
  Add(other);
  if (const auto unknown = UnknownOption(words)) {
    std::vector<std::string> known;
    for (const auto& option : visible_.options()) {
      known.push_back(option->long_name());
    }
    std::string what = "unknown option --" + *unknown;
    if (const auto nearest = Nearest(*unknown, known)) {
      what += "; did you mean --" + *nearest + "?";
    }
    SayError(Where(), what);
    return kBadUsage;
  }
  if (std::find(words.begin(), words.end(), "--help") != words.end() ||
      std::find(words.begin(), words.end(), "-h") != words.end()) {
    std::cout << HelpText();
    return kDone;
  }
  po::options_description all;
  all.add(visible_).add(hidden_);
  po::store(po::command_line_parser(words)
                .options(all)
                .positional(positional_)
                .style(kStyle)
                .run(),
            values_);
  po::notify(values_);
  for (const std::string& name : required_) {
    if (values_.count(name) != 0) continue;
    SayError(Where(), "no " + name + " given; usage: ebb " + help_.name + " " +
                          help_.usage);
    return kBadUsage;
  }
  return std::nullopt;
}

std::string CommandLine::HelpText() const {
  std::ostringstream text;
  text << "Usage: ebb " << help_.name << " " << help_.usage << "\n\n"
       << Wrapped(help_.about) << "\n";
  for (const auto& group : groups_) text << "\n" << group;
  if (!help_.example.empty()) text << "\nExample:\n" << help_.example << "\n";
  text << "\nExit status: 0 done, 1 the work failed, 2 bad usage or unreadable "
          "input.\n";
  return text.str();
}

}  // namespace ebb::tools
