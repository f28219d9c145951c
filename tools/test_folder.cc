#include "tools/test_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "tools/quantities.h"

namespace ebb::tools {
namespace {

namespace fs = std::filesystem;

std::string ModelIn(const fs::path& folder) {
  std::error_code error;
  for (const char* name : {"model.onnx", "model.ebb"}) {
    if (fs::is_regular_file(folder / name, error)) {
      return (folder / name).string();
    }
  }
  return {};
}

// The number between `prefix` and `suffix`.
std::optional<std::size_t> NumberIn(std::string_view name,
                                    std::string_view prefix,
                                    std::string_view suffix) {
  if (name.size() <= prefix.size() + suffix.size() ||
      !name.starts_with(prefix) || !name.ends_with(suffix)) {
    return std::nullopt;
  }
  const auto number = ParseInt(
      name.substr(prefix.size(), name.size() - prefix.size() - suffix.size()));
  if (!number.has_value() || *number < 0) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

std::string LastPart(const fs::path& path) {
  std::error_code error;
  fs::path whole = fs::absolute(path, error).lexically_normal();
  // "case/" ends with an empty part.
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole.filename().string();
}

Expected<std::vector<fs::path>> Children(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> children;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    children.push_back(it->path());
  }
  if (error) {
    return Fail(error == std::errc::no_such_file_or_directory
                    ? ErrorCode::kNotFound
                    : ErrorCode::kIo,
                "cannot read the folder: " + error.message(), folder.string());
  }
  std::ranges::sort(children);
  return children;
}

Expected<DataSet> ReadSet(const fs::path& folder) {
  DataSet set;
  set.name = LastPart(folder);
  TRY(const auto files, Children(folder));
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    if (const auto i = NumberIn(name, "input_", ".pb")) {
      set.inputs.emplace_back(*i, file.string());
    } else if (const auto o = NumberIn(name, "output_", ".pb")) {
      set.outputs.emplace_back(*o, file.string());
    }
  }
  std::ranges::sort(set.inputs);
  std::ranges::sort(set.outputs);
  return set;
}

Expected<Expectation> ReadExpectation(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return Expectation::kPass;
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  if (line.starts_with("must be rejected")) return Expectation::kRejected;
  if (line.starts_with("the run must be rejected")) {
    return Expectation::kRunRejected;
  }
  return Fail(ErrorCode::kInvalidFile,
              "the first line is neither \"must be rejected…\" nor \"the run "
              "must be rejected…\"",
              file.string());
}

}  // namespace

Expected<TestFolder> ReadTestFolder(const std::string& path) {
  TestFolder folder;
  folder.path = path;
  folder.name = LastPart(path);
  folder.model = ModelIn(path);
  TRY(folder.expectation, ReadExpectation(fs::path(path) / "expect.txt"));
  TRY(const auto children, Children(path));
  std::vector<std::pair<std::size_t, fs::path>> sets;
  for (const fs::path& child : children) {
    const auto number =
        NumberIn(child.filename().string(), "test_data_set_", "");
    std::error_code error;
    if (number.has_value() && fs::is_directory(child, error)) {
      sets.emplace_back(*number, child);
    }
  }
  std::ranges::sort(sets);
  for (const auto& [number, child] : sets) {
    TRY(DataSet set, ReadSet(child));
    folder.sets.push_back(std::move(set));
  }
  return folder;
}

Expected<std::vector<std::string>> FindTestFolders(const std::string& path) {
  if (!ModelIn(path).empty()) return std::vector<std::string>{path};
  TRY(const auto children, Children(path));
  std::vector<std::string> folders;
  for (const fs::path& child : children) {
    if (!ModelIn(child).empty()) folders.push_back(child.string());
  }
  if (folders.empty()) folders.push_back(path);
  return folders;
}

}  // namespace ebb::tools
