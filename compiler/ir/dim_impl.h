// Internals of DimTable, shared by dim.cc (storage, sums, products),
// dim_divide.cc (quotients, min, max) and dim_range.cc (ranges, divisors).
//
// Normal form: terms without zero coefficients, no two with the same atoms,
// in graded lexicographic order (a monomial order, which polynomial division
// needs), the constant last. Every entry has at most kMaxNodes nodes as a tree
// and kMaxDepth levels of atoms, so that recursion over dims is bounded and
// printing one cannot blow up; what would be larger is the invalid dim.
#ifndef EBB_COMPILER_IR_DIM_IMPL_H_
#define EBB_COMPILER_IR_DIM_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/dim.h"

namespace ebb::ir {

using Poly = std::vector<Term>;

inline constexpr int kMaxDimNodes = 512;
inline constexpr int kMaxDimDepth = 32;

struct DimTable::Impl {
  struct Entry {
    Poly terms;
    int nodes = 0;
    int depth = 0;
  };
  struct SymbolInfo {
    std::string name;
    DimRange range;
    int64_t divisor = 1;
    AtomId atom;
  };

  // Deques: references and spans that were handed out stay valid.
  std::deque<Entry> entries;
  std::deque<Atom> atoms;
  std::deque<SymbolInfo> symbols;
  std::unordered_multimap<std::size_t, Dim> entry_index;
  std::unordered_multimap<std::size_t, AtomId> atom_index;
  std::unordered_map<std::string, SymbolId> symbol_index;
  std::unordered_map<std::string, uint32_t> next_fresh;

  const Poly& poly(Dim dim) const { return entries[dim.index()].terms; }
  const Atom& atom(AtomId id) const { return atoms[id.index()]; }

  // dim.cc
  SymbolId MakeSymbol(std::string name);
  AtomId InternAtom(const Atom& atom);
  // `poly` may be in any order; nullopt inside means overflow on the way.
  Dim Intern(std::optional<Poly> poly);
  Dim InternNormal(Poly poly);
  bool Simplify(Poly& poly);
  Dim Constant(int64_t value);
  Dim OfAtom(AtomKind kind, Dim a, Dim b);
  std::optional<int64_t> Known(Dim dim) const;
  Dim Add(Dim a, Dim b);
  Dim Sub(Dim a, Dim b);
  Dim Mul(Dim a, Dim b);
  Dim Negate(Dim a);
  // The atom when the dim is that atom alone.
  const Atom* LoneAtom(Dim dim) const;

  // dim_divide.cc
  Dim FloorDiv(Dim a, Dim b);
  Dim CeilDiv(Dim a, Dim b);
  Dim Mod(Dim a, Dim b);
  Dim MinOrMax(AtomKind kind, Dim a, Dim b);
  Dim FloorDivConstant(Dim a, int64_t divisor);
  Dim ModConstant(Dim a, int64_t divisor);
  Dim Substitute(Dim dim, std::span<const Dim> by_symbol,
                 std::unordered_map<Dim, Dim>& done);

  // dim_range.cc
  DimRange RangeOf(const Poly& poly) const;
  DimRange RangeOfAtom(const Atom& atom) const;
  int64_t DivisorOf(const Poly& poly) const;
  int64_t DivisorOfTerm(const Term& term) const;
  int64_t DivisorOfAtom(const Atom& atom) const;
  bool LessEqual(Dim a, Dim b);
  std::optional<int64_t> Evaluate(
      Dim dim, std::span<const std::optional<int64_t>> values) const;

  // dim_text.cc
  std::string Text(Dim dim) const;
  std::string AtomText(const Atom& atom) const;
};

// Terms sorted and equal monomials added up; nullopt on overflow.
std::optional<Poly> Normalise(Poly poly);
// a + scale * b, normalised.
std::optional<Poly> AddScaled(const Poly& a, const Poly& b, int64_t scale);
std::optional<Poly> Multiply(const Poly& a, const Poly& b);
// Rounds down; the divisor is positive.
int64_t FloorQuotient(int64_t a, int64_t b);

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_DIM_IMPL_H_
