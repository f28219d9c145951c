#include "compiler/ir/dim.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "compiler/ir/dim_impl.h"

namespace ebb::ir {
namespace {

// Products of larger polynomials than this are not worth having.
constexpr std::size_t kMaxProductTerms = 4096;

std::size_t Mix(std::size_t hash, std::size_t value) {
  return (hash ^ (value + 0x9e3779b97f4a7c15ULL + (hash << 6U))) *
         0xff51afd7ed558ccdULL;
}

std::size_t HashOf(const Poly& poly) {
  std::size_t hash = poly.size();
  for (const Term& term : poly) {
    hash = Mix(hash, static_cast<std::size_t>(term.coefficient));
    for (const AtomId atom : term.atoms) hash = Mix(hash, atom.index());
  }
  return hash;
}

std::size_t HashOf(const Atom& atom) {
  std::size_t hash = static_cast<std::size_t>(atom.kind);
  hash = Mix(hash, std::hash<SymbolId>()(atom.symbol));
  hash = Mix(hash, std::hash<Dim>()(atom.a));
  return Mix(hash, std::hash<Dim>()(atom.b));
}

bool Equal(const Poly& a, const Poly& b) {
  return std::ranges::equal(a, b, [](const Term& x, const Term& y) {
    return x.coefficient == y.coefficient && x.atoms == y.atoms;
  });
}

bool Equal(const Atom& a, const Atom& b) {
  return a.kind == b.kind && a.symbol == b.symbol && a.a == b.a && a.b == b.b;
}

// Graded lexicographic, largest first: a monomial order, so the leading term
// of a product is the product of the leading terms.
bool Before(const Term& x, const Term& y) {
  if (x.atoms.size() != y.atoms.size()) {
    return x.atoms.size() > y.atoms.size();
  }
  return x.atoms < y.atoms;
}

}  // namespace

std::optional<Poly> Normalise(Poly poly) {
  std::ranges::sort(poly, Before);
  Poly result;
  for (Term& term : poly) {
    if (!result.empty() && result.back().atoms == term.atoms) {
      int64_t& sum = result.back().coefficient;
      if (__builtin_add_overflow(sum, term.coefficient, &sum)) {
        return std::nullopt;
      }
      continue;
    }
    if (!result.empty() && result.back().coefficient == 0) result.pop_back();
    result.push_back(std::move(term));
  }
  if (!result.empty() && result.back().coefficient == 0) result.pop_back();
  return result;
}

std::optional<Poly> AddScaled(const Poly& a, const Poly& b, int64_t scale) {
  Poly sum = a;
  for (Term term : b) {
    if (__builtin_mul_overflow(term.coefficient, scale, &term.coefficient)) {
      return std::nullopt;
    }
    sum.push_back(std::move(term));
  }
  return Normalise(std::move(sum));
}

std::optional<Poly> Multiply(const Poly& a, const Poly& b) {
  if (a.size() * b.size() > kMaxProductTerms) return std::nullopt;
  Poly product;
  for (const Term& x : a) {
    for (const Term& y : b) {
      Term term;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient,
                                 &term.coefficient)) {
        return std::nullopt;
      }
      std::ranges::merge(x.atoms, y.atoms, std::back_inserter(term.atoms));
      product.push_back(std::move(term));
    }
  }
  return Normalise(std::move(product));
}

SymbolId DimTable::Impl::MakeSymbol(std::string name) {
  const SymbolId id(symbols.size());
  symbol_index.emplace(name, id);
  symbols.push_back(SymbolInfo{.name = std::move(name)});
  symbols.back().atom =
      InternAtom(Atom{.kind = AtomKind::kSymbol, .symbol = id});
  return id;
}

AtomId DimTable::Impl::InternAtom(const Atom& atom) {
  const std::size_t hash = HashOf(atom);
  const auto [first, last] = atom_index.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    if (Equal(atoms[at->second.index()], atom)) return at->second;
  }
  const AtomId id(atoms.size());
  atoms.push_back(atom);
  atom_index.emplace(hash, id);
  return id;
}

// What Normalise cannot see: c * floordiv(x, c) is x when c divides x, and
// c * floordiv(x, c) + mod(x, c) is x always. Each rewrite takes a floordiv
// atom away, so this ends.
bool DimTable::Impl::Simplify(Poly& terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    for (const AtomId id : terms[i].atoms) {
      const Atom& quotient = atom(id);
      if (quotient.kind != AtomKind::kFloorDiv) continue;
      const auto c = Known(quotient.b);
      if (!c.has_value() || terms[i].coefficient % *c != 0) continue;
      const int64_t scale = terms[i].coefficient / *c;
      Poly rest = terms;
      Term others = std::move(rest[i]);
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      if (DivisorOf(poly(quotient.a)) % *c != 0) {
        const Atom remainder{AtomKind::kMod, {}, quotient.a, quotient.b};
        const auto matches = [&](const Term& term) {
          return term.coefficient == scale && term.atoms.size() == 1 &&
                 Equal(atom(term.atoms[0]), remainder);
        };
        const auto match = std::ranges::find_if(rest, matches);
        if (others.atoms.size() != 1 || match == rest.end()) continue;
        rest.erase(match);
      }
      others.coefficient = scale;
      others.atoms.erase(std::ranges::find(others.atoms, id));
      const auto product = Multiply({others}, poly(quotient.a));
      if (!product.has_value()) continue;
      auto sum = AddScaled(rest, *product, 1);
      if (!sum.has_value()) continue;
      terms = std::move(*sum);
      return true;
    }
  }
  return false;
}

Dim DimTable::Impl::Intern(std::optional<Poly> terms) {
  if (!terms.has_value()) return Dim();
  while (Simplify(*terms)) {
  }
  return InternNormal(std::move(*terms));
}

Dim DimTable::Impl::InternNormal(Poly terms) {
  const std::size_t hash = HashOf(terms);
  const auto [first, last] = entry_index.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    if (Equal(poly(at->second), terms)) return at->second;
  }
  Entry entry{.nodes = 1};
  for (const Term& term : terms) {
    ++entry.nodes;
    for (const AtomId id : term.atoms) {
      ++entry.nodes;
      const Atom& part = atom(id);
      if (part.kind == AtomKind::kSymbol) continue;
      for (const Dim operand : {part.a, part.b}) {
        const Entry& inner = entries[operand.index()];
        entry.nodes += inner.nodes;
        entry.depth = std::max(entry.depth, inner.depth + 1);
      }
    }
    if (entry.nodes > kMaxDimNodes) return Dim();
  }
  if (entry.depth > kMaxDimDepth) return Dim();
  entry.terms = std::move(terms);
  const Dim id(entries.size());
  entries.push_back(std::move(entry));
  entry_index.emplace(hash, id);
  return id;
}

Dim DimTable::Impl::Constant(int64_t value) {
  Poly terms;
  if (value != 0) terms.push_back(Term{value, {}});
  return InternNormal(std::move(terms));
}

// A range of one value is that value.
Dim DimTable::Impl::OfAtom(AtomKind kind, Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return Dim();
  const Atom atom{kind, {}, a, b};
  const DimRange range = RangeOfAtom(atom);
  if (range.low == range.high) return Constant(range.low);
  return Intern(Poly{Term{1, {InternAtom(atom)}}});
}

std::optional<int64_t> DimTable::Impl::Known(Dim dim) const {
  if (!dim.valid()) return std::nullopt;
  const Poly& terms = poly(dim);
  if (terms.empty()) return 0;
  if (terms.size() == 1 && terms[0].atoms.empty()) {
    return terms[0].coefficient;
  }
  return std::nullopt;
}

Dim DimTable::Impl::Add(Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return Dim();
  return Intern(AddScaled(poly(a), poly(b), 1));
}

Dim DimTable::Impl::Sub(Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return Dim();
  return Intern(AddScaled(poly(a), poly(b), -1));
}

Dim DimTable::Impl::Mul(Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return Dim();
  return Intern(Multiply(poly(a), poly(b)));
}

Dim DimTable::Impl::Negate(Dim a) {
  if (!a.valid()) return Dim();
  return Intern(AddScaled({}, poly(a), -1));
}

const Atom* DimTable::Impl::LoneAtom(Dim dim) const {
  if (!dim.valid()) return nullptr;
  const Poly& terms = poly(dim);
  if (terms.size() != 1 || terms[0].coefficient != 1 ||
      terms[0].atoms.size() != 1) {
    return nullptr;
  }
  return &atom(terms[0].atoms[0]);
}

DimTable::DimTable() : impl_(std::make_unique<Impl>()) {}
DimTable::~DimTable() = default;
DimTable::DimTable(DimTable&&) noexcept = default;
DimTable& DimTable::operator=(DimTable&&) noexcept = default;

Dim DimTable::Constant(int64_t value) { return impl_->Constant(value); }

Dim DimTable::Symbol(std::string_view name) {
  std::string key(name);
  const auto at = impl_->symbol_index.find(key);
  const SymbolId id = at != impl_->symbol_index.end()
                          ? at->second
                          : impl_->MakeSymbol(std::move(key));
  return impl_->InternNormal({Term{1, {impl_->symbols[id.index()].atom}}});
}

Dim DimTable::FreshSymbol(std::string_view hint) {
  const std::string stem(hint);
  uint32_t& next = impl_->next_fresh[stem];
  std::string name;
  do {
    name = stem + std::to_string(next++);
  } while (impl_->symbol_index.contains(name));
  return Symbol(name);
}

Dim DimTable::Add(Dim a, Dim b) { return impl_->Add(a, b); }
Dim DimTable::Sub(Dim a, Dim b) { return impl_->Sub(a, b); }
Dim DimTable::Mul(Dim a, Dim b) { return impl_->Mul(a, b); }
Dim DimTable::FloorDiv(Dim a, Dim b) { return impl_->FloorDiv(a, b); }
Dim DimTable::CeilDiv(Dim a, Dim b) { return impl_->CeilDiv(a, b); }
Dim DimTable::Mod(Dim a, Dim b) { return impl_->Mod(a, b); }

Dim DimTable::Min(Dim a, Dim b) {
  return impl_->MinOrMax(AtomKind::kMin, a, b);
}

Dim DimTable::Max(Dim a, Dim b) {
  return impl_->MinOrMax(AtomKind::kMax, a, b);
}

Dim DimTable::Product(std::span<const Dim> dims) {
  Dim product = Constant(1);
  for (const Dim dim : dims) product = Mul(product, dim);
  return product;
}

std::optional<int64_t> DimTable::Known(Dim dim) const {
  return impl_->Known(dim);
}

std::optional<SymbolId> DimTable::AsSymbol(Dim dim) const {
  const Atom* atom = impl_->LoneAtom(dim);
  if (atom == nullptr || atom->kind != AtomKind::kSymbol) return std::nullopt;
  return atom->symbol;
}

std::span<const Term> DimTable::Terms(Dim dim) const {
  assert(dim.valid());
  return impl_->poly(dim);
}

const Atom& DimTable::atom(AtomId id) const { return impl_->atom(id); }

const std::string& DimTable::SymbolName(SymbolId id) const {
  return impl_->symbols[id.index()].name;
}

std::size_t DimTable::symbol_count() const { return impl_->symbols.size(); }

void DimTable::CollectSymbols(Dim dim, std::vector<SymbolId>& symbols) const {
  if (!dim.valid()) return;
  for (const Term& term : impl_->poly(dim)) {
    for (const AtomId id : term.atoms) {
      const Atom& atom = impl_->atom(id);
      if (atom.kind != AtomKind::kSymbol) {
        CollectSymbols(atom.a, symbols);
        CollectSymbols(atom.b, symbols);
      } else if (std::ranges::find(symbols, atom.symbol) == symbols.end()) {
        symbols.push_back(atom.symbol);
      }
    }
  }
}

void DimTable::SetRange(SymbolId symbol, DimRange range) {
  assert(range.low <= range.high);
  impl_->symbols[symbol.index()].range = range;
}

void DimTable::SetDivisor(SymbolId symbol, int64_t divisor) {
  assert(divisor >= 1);
  impl_->symbols[symbol.index()].divisor = divisor;
}

DimRange DimTable::RangeOfSymbol(SymbolId symbol) const {
  return impl_->symbols[symbol.index()].range;
}

int64_t DimTable::DivisorOfSymbol(SymbolId symbol) const {
  return impl_->symbols[symbol.index()].divisor;
}

DimRange DimTable::RangeOf(Dim dim) const {
  if (!dim.valid()) return DimRange{.low = INT64_MIN, .high = INT64_MAX};
  return impl_->RangeOf(impl_->poly(dim));
}

int64_t DimTable::DivisorOf(Dim dim) const {
  return dim.valid() ? impl_->DivisorOf(impl_->poly(dim)) : 1;
}

bool DimTable::ProvablyLessEqual(Dim a, Dim b) {
  return impl_->LessEqual(a, b);
}

std::optional<int64_t> DimTable::Evaluate(
    Dim dim, std::span<const std::optional<int64_t>> values) const {
  return impl_->Evaluate(dim, values);
}

Dim DimTable::Substitute(Dim dim, std::span<const Dim> by_symbol) {
  std::unordered_map<Dim, Dim> done;
  return impl_->Substitute(dim, by_symbol, done);
}

std::string DimTable::ToString(Dim dim) const { return impl_->Text(dim); }

}  // namespace ebb::ir
