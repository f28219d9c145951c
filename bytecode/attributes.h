// Attributes of an operator: a small map from name to value, sorted by name
// so that equal attributes compare and print equally. Values are immutable
// once the operator stands in a module. `CheckAttributes` (operators.h) holds
// them against the operator's row.
//
//   Attributes a;
//   a.Set("axis", int64_t{1});
//   int64_t axis = a.Int("axis", -1);
#ifndef EBB_BYTECODE_ATTRIBUTES_H_
#define EBB_BYTECODE_ATTRIBUTES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ebb {

using AttributeValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>,
                 std::vector<float>, std::vector<std::string>>;

class Attributes {
 public:
  using Entry = std::pair<std::string, AttributeValue>;

  // Replaces an entry of the same name.
  void Set(std::string_view name, AttributeValue value);
  void Erase(std::string_view name);
  // nullptr when absent.
  const AttributeValue* Find(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }

  // The value, or `fallback` when absent or of another kind.
  int64_t Int(std::string_view name, int64_t fallback) const;
  float Float(std::string_view name, float fallback) const;
  std::string_view String(std::string_view name,
                          std::string_view fallback) const;
  // Empty when absent or of another kind.
  std::span<const int64_t> Ints(std::string_view name) const;
  std::span<const float> Floats(std::string_view name) const;
  std::span<const std::string> Strings(std::string_view name) const;

  std::span<const Entry> entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }
  friend bool operator==(const Attributes&, const Attributes&) = default;

 private:
  std::vector<Entry> entries_;  // Sorted by name, no name twice.
};

}  // namespace ebb

#endif  // EBB_BYTECODE_ATTRIBUTES_H_
