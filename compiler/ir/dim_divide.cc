// Quotients, remainders, min and max of dims.
//
// What divides exactly moves out of a quotient: floordiv(4*n + 3, 4) is
// n + floordiv(3, 4), that is n. This is right for every integer n. A quotient
// of polynomials that is exact wherever the divisor is not 0 is taken as exact
// everywhere: (b*s*768) / (b*s) is 768.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "compiler/ir/dim_impl.h"

namespace ebb::ir {
namespace {

constexpr int kMaxDivisionSteps = 256;

struct Division {
  Poly quotient;
  Poly remainder;
};

bool Divides(const Term& divisor, const Term& term) {
  return term.coefficient % divisor.coefficient == 0 &&
         std::ranges::includes(term.atoms, divisor.atoms);
}

Term QuotientOf(const Term& term, const Term& divisor) {
  Term result{term.coefficient / divisor.coefficient, {}};
  std::ranges::set_difference(term.atoms, divisor.atoms,
                              std::back_inserter(result.atoms));
  return result;
}

// Polynomial long division by the leading term; nullopt on overflow or when
// it takes too long. A divisor of several terms is only of use when nothing
// remains: else the dividend is left whole, which is easier to read.
std::optional<Division> Divide(const Poly& dividend, const Poly& divisor) {
  Division result;
  Poly rest = dividend;
  const Term& leading = divisor.front();
  if (leading.coefficient == -1) return std::nullopt;
  for (int step = 0; !rest.empty(); ++step) {
    if (step == kMaxDivisionSteps) return std::nullopt;
    const Term term = rest.front();
    if (!Divides(leading, term)) {
      if (divisor.size() > 1) return Division{{}, dividend};
      result.remainder.push_back(term);
      rest.erase(rest.begin());
      continue;
    }
    const Poly part = {QuotientOf(term, leading)};
    const auto product = Multiply(part, divisor);
    if (!product.has_value()) return std::nullopt;
    auto next = AddScaled(rest, *product, -1);
    if (!next.has_value()) return std::nullopt;
    rest = std::move(*next);
    result.quotient.push_back(part.front());
  }
  return result;
}

// Divides both by the atoms and the number that all their terms share.
void CancelCommon(Poly& a, Poly& b) {
  std::vector<AtomId> atoms = b.front().atoms;
  int64_t common = 0;
  for (const Poly* poly : {&a, &b}) {
    for (const Term& term : *poly) {
      std::vector<AtomId> both;
      std::ranges::set_intersection(atoms, term.atoms,
                                    std::back_inserter(both));
      atoms = std::move(both);
      if (term.coefficient != INT64_MIN) {
        common = std::gcd(common, term.coefficient);
      } else {
        common = 1;
      }
    }
  }
  const Term factor{std::max<int64_t>(common, 1), std::move(atoms)};
  for (Poly* poly : {&a, &b}) {
    for (Term& term : *poly) term = QuotientOf(term, factor);
  }
}

}  // namespace

int64_t FloorQuotient(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && a < 0 ? 1 : 0);
}

Dim DimTable::Impl::FloorDivConstant(Dim a, int64_t divisor) {
  if (!a.valid()) return Dim();
  if (divisor == 1) return a;
  Poly quotient;
  Poly rest;
  int64_t constant = 0;
  int64_t common = divisor;  // of the divisor and the terms that stay
  int64_t values = divisor;  // the same, symbols' divisors counted in
  for (const Term& term : poly(a)) {
    const int64_t whole = FloorQuotient(term.coefficient, divisor);
    const int64_t left = term.coefficient - whole * divisor;
    if (whole != 0) quotient.push_back(Term{whole, term.atoms});
    if (left == 0) continue;
    if (term.atoms.empty()) {
      constant = left;
      continue;
    }
    rest.push_back(Term{left, term.atoms});
    common = std::gcd(common, left);
    values = std::gcd(values, DivisorOfTerm(rest.back()));
  }
  const Dim outside = Intern(Normalise(std::move(quotient)));
  if (rest.empty()) return outside;
  // The other terms move in steps of `values`: less than one changes nothing.
  constant = constant / values * values / common;
  for (Term& term : rest) term.coefficient /= common;
  divisor /= common;
  // floordiv(floordiv(x, d) + k, c) is floordiv(x + k*d, c*d).
  if (rest.size() == 1 && rest[0].coefficient == 1 &&
      rest[0].atoms.size() == 1) {
    const Atom inner = atom(rest[0].atoms[0]);
    const auto known = Known(inner.b);
    int64_t product = 0;
    int64_t shift = 0;
    if (inner.kind == AtomKind::kFloorDiv && known.has_value() &&
        !__builtin_mul_overflow(divisor, *known, &product) &&
        !__builtin_mul_overflow(constant, *known, &shift)) {
      return Add(outside,
                 FloorDivConstant(Add(inner.a, Constant(shift)), product));
    }
  }
  if (constant != 0) rest.push_back(Term{constant, {}});
  const DimRange range = RangeOf(rest);
  if (range.low != INT64_MIN && range.high != INT64_MAX) {
    const int64_t low = FloorQuotient(range.low, divisor);
    if (low == FloorQuotient(range.high, divisor)) {
      return Add(outside, Constant(low));
    }
  }
  return Add(outside, OfAtom(AtomKind::kFloorDiv, Intern(std::move(rest)),
                             Constant(divisor)));
}

Dim DimTable::Impl::FloorDiv(Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return Dim();
  if (const auto divisor = Known(b)) {
    if (*divisor == 0 || *divisor == INT64_MIN) return Dim();
    if (*divisor < 0) return FloorDivConstant(Negate(a), -*divisor);
    return FloorDivConstant(a, *divisor);
  }
  // A leading coefficient below zero: both signs turned.
  if (poly(b).front().coefficient < 0) return FloorDiv(Negate(a), Negate(b));
  auto division = Divide(poly(a), poly(b));
  if (!division.has_value()) division = Division{{}, poly(a)};
  const Dim outside = Intern(Normalise(std::move(division->quotient)));
  if (division->remainder.empty()) return outside;
  const Dim rest = Intern(division->remainder);
  if (RangeOf(division->remainder).low >= 0 &&
      LessEqual(Add(rest, Constant(1)), b)) {
    return outside;
  }
  Poly numerator = std::move(division->remainder);
  Poly denominator = poly(b);
  CancelCommon(numerator, denominator);
  const Dim divisor = Intern(Normalise(std::move(denominator)));
  const Dim dividend = Intern(Normalise(std::move(numerator)));
  if (const auto known = Known(divisor); known.has_value() && *known > 0) {
    return Add(outside, FloorDivConstant(dividend, *known));
  }
  return Add(outside, OfAtom(AtomKind::kFloorDiv, dividend, divisor));
}

Dim DimTable::Impl::CeilDiv(Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return Dim();
  if (const auto divisor = Known(b)) {
    if (*divisor == 0 || *divisor == INT64_MIN) return Dim();
    if (*divisor < 0) return CeilDiv(Negate(a), Constant(-*divisor));
    return FloorDivConstant(Add(a, Constant(*divisor - 1)), *divisor);
  }
  if (poly(b).front().coefficient < 0) return CeilDiv(Negate(a), Negate(b));
  auto division = Divide(poly(a), poly(b));
  if (!division.has_value()) division = Division{{}, poly(a)};
  const Dim outside = Intern(Normalise(std::move(division->quotient)));
  if (division->remainder.empty()) return outside;
  const Dim rest = Intern(division->remainder);
  if (RangeOf(division->remainder).low >= 1 && LessEqual(rest, b)) {
    return Add(outside, Constant(1));
  }
  Poly numerator = std::move(division->remainder);
  Poly denominator = poly(b);
  CancelCommon(numerator, denominator);
  const Dim divisor = Intern(Normalise(std::move(denominator)));
  const Dim dividend = Intern(Normalise(std::move(numerator)));
  if (const auto known = Known(divisor); known.has_value() && *known > 0) {
    return Add(outside, CeilDiv(dividend, divisor));
  }
  return Add(outside, OfAtom(AtomKind::kCeilDiv, dividend, divisor));
}

Dim DimTable::Impl::ModConstant(Dim a, int64_t divisor) {
  if (!a.valid()) return Dim();
  Poly rest;
  int64_t constant = 0;
  int64_t common = divisor;
  int64_t values = divisor;
  for (const Term& term : poly(a)) {
    const int64_t left =
        term.coefficient - FloorQuotient(term.coefficient, divisor) * divisor;
    if (left == 0) continue;
    if (term.atoms.empty()) {
      constant = left;
      continue;
    }
    rest.push_back(Term{left, term.atoms});
    common = std::gcd(common, left);
    values = std::gcd(values, DivisorOfTerm(rest.back()));
  }
  if (values == divisor) return Constant(constant);
  // mod(g*x + k, g*c) is g * mod(x + floordiv(k, g), c) + mod(k, g).
  const Dim scale = Constant(common);
  const Dim offset = Constant(constant % common);
  divisor /= common;
  for (Term& term : rest) term.coefficient /= common;
  if (constant >= common) rest.push_back(Term{constant / common, {}});
  const auto scaled = [&](Dim dim) { return Add(Mul(scale, dim), offset); };
  const DimRange range = RangeOf(rest);
  if (range.low >= 0 && range.high < divisor) {
    return scaled(Intern(std::move(rest)));
  }
  // mod(mod(x, d) + k, c) is mod(x + k, c) when c divides d.
  if (rest[0].coefficient == 1 && rest[0].atoms.size() == 1 &&
      (rest.size() == 1 || rest[1].atoms.empty())) {
    const Atom inner = atom(rest[0].atoms[0]);
    const auto known = Known(inner.b);
    if (inner.kind == AtomKind::kMod && known.has_value() &&
        *known % divisor == 0) {
      const Dim shift = Constant(rest.size() == 1 ? 0 : rest[1].coefficient);
      return scaled(ModConstant(Add(inner.a, shift), divisor));
    }
  }
  return scaled(
      OfAtom(AtomKind::kMod, Intern(std::move(rest)), Constant(divisor)));
}

Dim DimTable::Impl::Mod(Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return Dim();
  if (const auto divisor = Known(b)) {
    if (*divisor == 0 || *divisor == INT64_MIN) return Dim();
    // mod(a, -c) is -mod(-a, c).
    if (*divisor < 0) return Negate(ModConstant(Negate(a), -*divisor));
    return ModConstant(a, *divisor);
  }
  if (poly(b).front().coefficient < 0) {
    return Negate(Mod(Negate(a), Negate(b)));
  }
  auto division = Divide(poly(a), poly(b));
  if (!division.has_value()) division = Division{{}, poly(a)};
  const Dim rest = Intern(division->remainder);
  if (division->remainder.empty()) return rest;
  if (RangeOf(division->remainder).low >= 0 &&
      LessEqual(Add(rest, Constant(1)), b)) {
    return rest;
  }
  return OfAtom(AtomKind::kMod, rest, b);
}

// Operands of nested min (max) are taken together, those that another one
// provably undercuts (exceeds) are left out, and the rest is nested again in
// the order of ids.
Dim DimTable::Impl::MinOrMax(AtomKind kind, Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return Dim();
  std::vector<Dim> operands;
  std::vector<Dim> open = {a, b};
  while (!open.empty()) {
    const Dim dim = open.back();
    open.pop_back();
    const Atom* atom = LoneAtom(dim);
    if (atom != nullptr && atom->kind == kind) {
      open.push_back(atom->a);
      open.push_back(atom->b);
    } else {
      operands.push_back(dim);
    }
  }
  std::ranges::sort(operands);
  operands.erase(std::ranges::unique(operands).begin(), operands.end());
  std::vector<Dim> kept;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    bool covered = false;
    for (std::size_t j = 0; j < operands.size() && !covered; ++j) {
      if (i == j || !operands[j].valid()) continue;
      covered = kind == AtomKind::kMin ? LessEqual(operands[j], operands[i])
                                       : LessEqual(operands[i], operands[j]);
    }
    if (covered) {
      operands[i] = Dim();
    } else {
      kept.push_back(operands[i]);
    }
  }
  Dim result = kept.front();
  for (std::size_t i = 1; i < kept.size(); ++i) {
    result = OfAtom(kind, result, kept[i]);
  }
  return result;
}

Dim DimTable::Impl::Substitute(Dim dim, std::span<const Dim> by_symbol,
                               std::unordered_map<Dim, Dim>& done) {
  if (!dim.valid()) return Dim();
  if (const auto at = done.find(dim); at != done.end()) return at->second;
  Dim sum = Constant(0);
  // Interning adds entries; a deque keeps these terms where they are.
  for (const Term& term : poly(dim)) {
    Dim product = Constant(term.coefficient);
    for (const AtomId id : term.atoms) {
      const Atom part = atom(id);
      Dim factor;
      if (part.kind == AtomKind::kSymbol) {
        const std::size_t index = part.symbol.index();
        factor = index < by_symbol.size() && by_symbol[index].valid()
                     ? by_symbol[index]
                     : InternNormal({Term{1, {id}}});
      } else {
        const Dim a = Substitute(part.a, by_symbol, done);
        const Dim b = Substitute(part.b, by_symbol, done);
        switch (part.kind) {
          case AtomKind::kFloorDiv:
            factor = FloorDiv(a, b);
            break;
          case AtomKind::kCeilDiv:
            factor = CeilDiv(a, b);
            break;
          case AtomKind::kMod:
            factor = Mod(a, b);
            break;
          case AtomKind::kMin:
          case AtomKind::kMax:
          case AtomKind::kSymbol:
            factor = MinOrMax(part.kind, a, b);
            break;
        }
      }
      product = Mul(product, factor);
    }
    sum = Add(sum, product);
  }
  done.emplace(dim, sum);
  return sum;
}

}  // namespace ebb::ir
