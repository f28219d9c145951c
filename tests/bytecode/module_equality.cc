#include "tests/bytecode/module_equality.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace ebb::bytecode {
namespace {

bool Same(const Constant& a, const Constant& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.dims == b.dims &&
         std::ranges::equal(a.data, b.data) && a.packing == b.packing &&
         a.name == b.name;
}

// Floats by their bits: NaNs are kept too.
template <class T>
bool SameItem(const T& a, const T& b) {
  return a == b;
}
bool SameItem(const float& a, const float& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
bool SameItem(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

bool Same(const Site& a, const Site& b) {
  if (a.code != b.code || a.node != b.node) return false;
  return std::ranges::equal(
      a.attributes.entries(), b.attributes.entries(),
      [](const auto& x, const auto& y) {
        return x.first == y.first && x.second.index() == y.second.index() &&
               std::visit(
                   [&](const auto& value) {
                     using T = std::remove_cvref_t<decltype(value)>;
                     return SameItem(value, std::get<T>(y.second));
                   },
                   x.second);
      });
}

bool Same(const Param& a, const Param& b) {
  return a.name == b.name && a.type == b.type && a.donated == b.donated &&
         a.optional_feed == b.optional_feed &&
         a.default_value == b.default_value;
}

bool Same(const Result& a, const Result& b) {
  return a.name == b.name && a.type == b.type;
}

bool Same(const Instruction& a, const Instruction& b) {
  return a.opcode == b.opcode && a.first_word == b.first_word;
}

template <class T>
bool SameList(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(a, b,
                            [](const T& x, const T& y) { return Same(x, y); });
}

std::string Difference(const Function& a, const Function& b) {
  if (a.name != b.name) return "name";
  if (!SameList(a.params, b.params)) return "params";
  if (!SameList(a.results, b.results)) return "results";
  if (a.int_register_count != b.int_register_count) return "int registers";
  if (a.hold_register_count != b.hold_register_count) return "hold registers";
  if (!SameList(a.code, b.code)) return "code";
  if (a.words != b.words) return "words";
  if (a.value_names != b.value_names) return "value names";
  return "";
}

std::string Difference(const Module& a, const Module& b) {
  if (a.producer != b.producer) return "producer";
  if (a.target != b.target) return "target";
  if (a.entry != b.entry) return "entry";
  if (a.types != b.types) return "types";
  if (a.strings != b.strings) return "strings";
  if (a.externals != b.externals) return "externals";
  if (a.metadata != b.metadata) return "metadata";
  if (!SameList(a.sites, b.sites)) return "sites";
  if (!SameList(a.constants, b.constants)) return "constants";
  if (a.functions.size() != b.functions.size()) return "function count";
  for (std::size_t i = 0; i < a.functions.size(); ++i) {
    const std::string in_function = Difference(a.functions[i], b.functions[i]);
    if (!in_function.empty()) {
      return "function " + std::to_string(i) + ": " + in_function;
    }
  }
  return "";
}

}  // namespace

::testing::AssertionResult SameModule(const Module& a, const Module& b) {
  const std::string difference = Difference(a, b);
  if (difference.empty()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << difference << " differs";
}

}  // namespace ebb::bytecode
