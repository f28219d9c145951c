// README.md and docs/ against what is there: the programs that it shows, the
// commands that it lists, and the files that the pages link to.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tools/commands.h"

namespace ebb::tools {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

const fs::path kRoot = EBB_SOURCE_DIR;

TEST(ReadmeTest, ShowsTheExamplesAsTheyAre) {
  const std::string readme = ReadFile(kRoot / "README.md");
  for (const char* name : {"minimal.c", "minimal.cc"}) {
    std::string text = ReadFile(kRoot / "tools/examples" / name);
    // The comment on top is for the file only.
    text.erase(0, text.find('\n') + 1);
    EXPECT_NE(readme.find(text), std::string::npos)
        << name << " differs from the program in README.md";
  }
}

TEST(ReadmeTest, ListsEveryCommand) {
  const std::string readme = ReadFile(kRoot / "README.md");
  for (const Command& command : Commands()) {
    const std::string name(command.name);
    EXPECT_TRUE(
        std::regex_search(readme, std::regex("`(ebb )?" + name + "\\b")))
        << name;
  }
}

// Paths in links, relative to the page.
std::vector<std::string> LinksOf(const std::string& page) {
  static const std::regex kLink(R"(\]\(([^)#]+)(#[^)]*)?\))");
  std::vector<std::string> links;
  for (std::sregex_iterator it(page.begin(), page.end(), kLink), end; it != end;
       ++it) {
    const std::string link = (*it)[1];
    if (link.find("://") == std::string::npos) links.push_back(link);
  }
  return links;
}

TEST(DocsTest, LinksLeadSomewhere) {
  std::vector<fs::path> pages = {kRoot / "README.md",
                                 kRoot / "CONTRIBUTING.md"};
  for (const auto& entry : fs::directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  for (const fs::path& page : pages) {
    for (const std::string& link : LinksOf(ReadFile(page))) {
      EXPECT_TRUE(fs::exists(page.parent_path() / link))
          << page << " links to " << link;
    }
  }
}

}  // namespace
}  // namespace ebb::tools
