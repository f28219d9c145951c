// Columns of text, aligned: what the commands print for people. Widths count
// characters of UTF-8, not bytes.
//
//   Table table({"operator", "count"}, {Align::kLeft, Align::kRight});
//   table.Add({"Conv", "53"});
//   std::cout << table.Text();
#ifndef EBB_TOOLS_TABLE_H_
#define EBB_TOOLS_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace ebb::tools {

enum class Align : uint8_t { kLeft, kRight };

class Table {
 public:
  // Without a title row when `titles` are all empty.
  Table(std::vector<std::string> titles, std::vector<Align> align);
  // As many cells as there are titles.
  void Add(std::vector<std::string> cells);
  bool empty() const { return rows_.size() <= 1; }
  // Lines, each indented by `indent` and without spaces at its end.
  std::string Text(int indent = 0) const;

 private:
  std::vector<std::vector<std::string>> rows_;  // The first: titles.
  std::vector<Align> align_;
};

}  // namespace ebb::tools

#endif  // EBB_TOOLS_TABLE_H_
