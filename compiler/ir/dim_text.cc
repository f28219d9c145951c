// Dims as text. The order is that of degree (the constant last) and spelling,
// not of ids, so that a table filled in another order prints the same.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/ir/dim_impl.h"
#include "compiler/ir/text.h"

namespace ebb::ir {
namespace {

struct Part {
  std::size_t order;  // Degree; the constant comes last.
  std::string atoms;  // "h*w"
  int64_t coefficient;
};

std::string JoinParts(std::vector<std::string>& parts, std::string_view by) {
  std::ranges::sort(parts);
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += by;
    text += part;
  }
  return text;
}

// "2*n", the sign left out.
std::string Spell(const Part& part) {
  std::string number = std::to_string(part.coefficient);
  if (number.front() == '-') number.erase(0, 1);
  if (part.atoms.empty()) return number;
  return number == "1" ? part.atoms : number + "*" + part.atoms;
}

}  // namespace

std::string DimTable::Impl::AtomText(const Atom& atom) const {
  switch (atom.kind) {
    case AtomKind::kSymbol:
      return QuoteUnlessIdentifier(symbols[atom.symbol.index()].name);
    case AtomKind::kFloorDiv:
      return "floordiv(" + Text(atom.a) + ", " + Text(atom.b) + ")";
    case AtomKind::kCeilDiv:
      return "ceildiv(" + Text(atom.a) + ", " + Text(atom.b) + ")";
    case AtomKind::kMod:
      return "mod(" + Text(atom.a) + ", " + Text(atom.b) + ")";
    case AtomKind::kMin:
    case AtomKind::kMax:
      break;
  }
  std::vector<std::string> operands;
  std::vector<Dim> open = {atom.a, atom.b};
  while (!open.empty()) {
    const Dim dim = open.back();
    open.pop_back();
    const Atom* inner = LoneAtom(dim);
    if (inner != nullptr && inner->kind == atom.kind) {
      open.push_back(inner->a);
      open.push_back(inner->b);
    } else {
      operands.push_back(Text(dim));
    }
  }
  return (atom.kind == AtomKind::kMin ? "min(" : "max(") +
         JoinParts(operands, ", ") + ")";
}

std::string DimTable::Impl::Text(Dim dim) const {
  if (!dim.valid()) return "?";
  std::vector<Part> parts;
  for (const Term& term : poly(dim)) {
    std::vector<std::string> spelled;
    for (const AtomId id : term.atoms) spelled.push_back(AtomText(atom(id)));
    const std::size_t order = term.atoms.empty() ? SIZE_MAX : term.atoms.size();
    parts.push_back(Part{order, JoinParts(spelled, "*"), term.coefficient});
  }
  if (parts.empty()) return "0";
  std::ranges::sort(parts, [](const Part& x, const Part& y) {
    return std::tie(x.order, x.atoms) < std::tie(y.order, y.atoms);
  });
  // "4 - n" reads better than "-n + 4".
  const auto positive = std::ranges::find_if(
      parts, [](const Part& part) { return part.coefficient > 0; });
  if (positive != parts.end()) {
    std::rotate(parts.begin(), positive, positive + 1);
  }
  std::string text;
  for (const Part& part : parts) {
    const bool negative = part.coefficient < 0;
    if (text.empty()) {
      if (negative) text += "-";
    } else {
      text += negative ? " - " : " + ";
    }
    text += Spell(part);
  }
  return text;
}

}  // namespace ebb::ir
