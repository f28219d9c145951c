#include "tools/table.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include "tools/exit_code.h"

namespace ebb::tools {
namespace {

// Bytes that continue a character are not counted.
std::size_t Width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80;
  }));
}

}  // namespace

Table::Table(std::vector<std::string> titles, std::vector<Align> align)
    : align_(std::move(align)) {
  assert(titles.size() == align_.size());
  rows_.push_back(std::move(titles));
}

void Table::Add(std::vector<std::string> cells) {
  assert(cells.size() == align_.size());
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::Text(int indent) const {
  std::vector<std::size_t> widths(align_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], Width(row[i]));
    }
  }
  const bool titled = std::ranges::any_of(
      rows_[0], [](const std::string& title) { return !title.empty(); });
  std::string text;
  for (std::size_t r = titled ? 0 : 1; r < rows_.size(); ++r) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < rows_[r].size(); ++i) {
      const std::string space(widths[i] - Width(rows_[r][i]), ' ');
      if (i != 0) line += "  ";
      line +=
          align_[i] == Align::kLeft ? rows_[r][i] + space : space + rows_[r][i];
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace ebb::tools
