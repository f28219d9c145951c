// Ranges, divisors and values of dims. Intervals are conservative; an end at
// the limit of int64 stands for "no bound" and stays there through sums.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "compiler/ir/dim_impl.h"

namespace ebb::ir {
namespace {

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

// An unbounded end times a small negative number stays unbounded.
int64_t SaturatingMul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
  }
  return product == -INT64_MAX ? INT64_MIN : product;
}

DimRange SumOf(DimRange a, DimRange b) {
  DimRange sum;
  sum.low = a.low == INT64_MIN || b.low == INT64_MIN
                ? INT64_MIN
                : SaturatingAdd(a.low, b.low);
  sum.high = a.high == INT64_MAX || b.high == INT64_MAX
                 ? INT64_MAX
                 : SaturatingAdd(a.high, b.high);
  return sum;
}

DimRange ProductOf(DimRange a, DimRange b) {
  const int64_t corners[] = {
      SaturatingMul(a.low, b.low), SaturatingMul(a.low, b.high),
      SaturatingMul(a.high, b.low), SaturatingMul(a.high, b.high)};
  const auto [low, high] = std::ranges::minmax(corners);
  return DimRange{.low = low, .high = high};
}

DimRange Everything() { return DimRange{.low = INT64_MIN, .high = INT64_MAX}; }

// Of a quotient, rounded down or up; only for divisors above zero.
DimRange Quotient(DimRange a, DimRange b, bool up) {
  if (b.low < 0) return Everything();
  b.low = std::max<int64_t>(b.low, 1);
  b.high = std::max(b.high, b.low);
  const auto divide = [up](int64_t x, int64_t y) {
    if (x == INT64_MIN || x == INT64_MAX) return x;
    const int64_t down = FloorQuotient(x, y);
    return down + (up && x % y != 0 ? 1 : 0);
  };
  DimRange range;
  range.low = divide(a.low, a.low < 0 ? b.low : b.high);
  range.high = divide(a.high, a.high < 0 ? b.high : b.low);
  // An unbounded dividend over an unbounded divisor may be anything.
  if (a.low == INT64_MAX) range.low = 0;
  if (a.high == INT64_MIN) range.high = INT64_MAX;
  return range;
}

int64_t Magnitude(int64_t value) {
  return value == INT64_MIN ? INT64_MAX : std::abs(value);
}

}  // namespace

DimRange DimTable::Impl::RangeOfAtom(const Atom& atom) const {
  if (atom.kind == AtomKind::kSymbol) {
    return symbols[atom.symbol.index()].range;
  }
  const DimRange a = RangeOf(poly(atom.a));
  const DimRange b = RangeOf(poly(atom.b));
  switch (atom.kind) {
    case AtomKind::kFloorDiv:
      return Quotient(a, b, false);
    case AtomKind::kCeilDiv:
      return Quotient(a, b, true);
    case AtomKind::kMod: {
      if (b.low < 0) return Everything();
      DimRange range{.low = 0, .high = b.high};
      if (range.high != INT64_MAX) --range.high;
      if (a.low >= 0) range.high = std::min(range.high, a.high);
      range.high = std::max<int64_t>(range.high, 0);
      return range;
    }
    case AtomKind::kMin:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case AtomKind::kMax:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case AtomKind::kSymbol:
      break;
  }
  return Everything();
}

DimRange DimTable::Impl::RangeOf(const Poly& terms) const {
  DimRange sum{.low = 0, .high = 0};
  for (const Term& term : terms) {
    DimRange product{.low = 1, .high = 1};
    for (const AtomId id : term.atoms) {
      product = ProductOf(product, RangeOfAtom(atom(id)));
    }
    const DimRange scale{.low = term.coefficient, .high = term.coefficient};
    sum = SumOf(sum, ProductOf(product, scale));
  }
  return sum;
}

int64_t DimTable::Impl::DivisorOfAtom(const Atom& atom) const {
  if (atom.kind == AtomKind::kSymbol) {
    return symbols[atom.symbol.index()].divisor;
  }
  const int64_t a = DivisorOf(poly(atom.a));
  switch (atom.kind) {
    case AtomKind::kFloorDiv:
    case AtomKind::kCeilDiv: {
      const auto by = Known(atom.b);
      return by.has_value() && a % *by == 0 ? std::max<int64_t>(a / *by, 1) : 1;
    }
    case AtomKind::kMod:
    case AtomKind::kMin:
    case AtomKind::kMax:
      return std::gcd(a, DivisorOf(poly(atom.b)));
    case AtomKind::kSymbol:
      break;
  }
  return 1;
}

int64_t DimTable::Impl::DivisorOfTerm(const Term& term) const {
  int64_t divisor = Magnitude(term.coefficient);
  for (const AtomId id : term.atoms) {
    // Where the product does not fit, one factor divides it all the same.
    int64_t product = 0;
    if (!__builtin_mul_overflow(divisor, DivisorOfAtom(atom(id)), &product)) {
      divisor = product;
    }
  }
  return divisor;
}

int64_t DimTable::Impl::DivisorOf(const Poly& terms) const {
  int64_t divisor = 0;
  for (const Term& term : terms) {
    divisor = std::gcd(divisor, DivisorOfTerm(term));
  }
  return divisor;
}

bool DimTable::Impl::LessEqual(Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return false;
  const auto difference = AddScaled(poly(b), poly(a), -1);
  return difference.has_value() && RangeOf(*difference).low >= 0;
}

std::optional<int64_t> DimTable::Impl::Evaluate(
    Dim dim, std::span<const std::optional<int64_t>> values) const {
  if (!dim.valid()) return std::nullopt;
  int64_t sum = 0;
  for (const Term& term : poly(dim)) {
    int64_t product = term.coefficient;
    for (const AtomId id : term.atoms) {
      const Atom& part = atom(id);
      std::optional<int64_t> value;
      if (part.kind == AtomKind::kSymbol) {
        const std::size_t index = part.symbol.index();
        if (index < values.size()) value = values[index];
      } else {
        const auto a = Evaluate(part.a, values);
        const auto b = Evaluate(part.b, values);
        if (!a.has_value() || !b.has_value()) return std::nullopt;
        const bool divides =
            part.kind != AtomKind::kMin && part.kind != AtomKind::kMax;
        if (divides && (*b == 0 || (*a == INT64_MIN && *b == -1))) {
          return std::nullopt;
        }
        const bool inexact = divides && *a % *b != 0;
        const bool below = (*a < 0) != (*b < 0);
        switch (part.kind) {
          case AtomKind::kFloorDiv:
            value = *a / *b - (inexact && below ? 1 : 0);
            break;
          case AtomKind::kCeilDiv:
            value = *a / *b + (inexact && !below ? 1 : 0);
            break;
          case AtomKind::kMod:
            value = *a % *b + (inexact && below ? *b : 0);
            break;
          case AtomKind::kMin:
            value = std::min(*a, *b);
            break;
          case AtomKind::kMax:
          case AtomKind::kSymbol:
            value = std::max(*a, *b);
            break;
        }
      }
      if (!value.has_value() ||
          __builtin_mul_overflow(product, *value, &product)) {
        return std::nullopt;
      }
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

}  // namespace ebb::ir
