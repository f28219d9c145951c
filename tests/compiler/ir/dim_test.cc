#include "compiler/ir/dim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace ebb::ir {
namespace {

class DimTest : public ::testing::Test {
 protected:
  Dim C(int64_t value) { return t.Constant(value); }
  SymbolId Id(Dim symbol) { return *t.AsSymbol(symbol); }

  DimTable t;
  Dim n = t.Symbol("n");
  Dim h = t.Symbol("h");
  Dim w = t.Symbol("w");
};

TEST_F(DimTest, EqualNormalFormsAreTheSameDim) {
  EXPECT_EQ(t.Add(n, n), t.Mul(C(2), n));
  EXPECT_EQ(t.Mul(t.Add(n, h), t.Sub(n, h)), t.Sub(t.Mul(n, n), t.Mul(h, h)));
  EXPECT_EQ(t.Sub(n, n), C(0));
  EXPECT_EQ(t.Symbol("n"), n);
  EXPECT_EQ(t.Mul(h, w), t.Mul(w, h));
  EXPECT_NE(t.FreshSymbol("n"), t.FreshSymbol("n"));
}

TEST_F(DimTest, PrintsByDegreeThenSpelling) {
  EXPECT_EQ(t.ToString(t.Add(t.Mul(h, w), t.Mul(C(2), n))), "2*n + h*w");
  EXPECT_EQ(t.ToString(t.Sub(C(4), n)), "4 - n");
  EXPECT_EQ(t.ToString(t.Sub(t.Sub(C(0), n), C(4))), "-n - 4");
  EXPECT_EQ(t.ToString(C(0)), "0");
  EXPECT_EQ(t.ToString(Dim()), "?");
  EXPECT_EQ(t.ToString(t.Symbol("batch size")), "\"batch size\"");
  EXPECT_EQ(t.ToString(t.Min(w, t.Min(n, h))), "min(h, n, w)");
  EXPECT_EQ(t.ToString(t.FloorDiv(t.Add(n, C(1)), C(2))), "floordiv(n + 1, 2)");
  EXPECT_EQ(t.ToString(C(INT64_MIN)), "-9223372036854775808");
}

TEST_F(DimTest, SpellingDoesNotDependOnTheOrderOfSymbols) {
  DimTable other;
  const Dim w2 = other.Symbol("w");
  const Dim n2 = other.Symbol("n");
  EXPECT_EQ(other.ToString(other.Add(w2, other.Min(w2, n2))),
            t.ToString(t.Add(w, t.Min(n, w))));
}

TEST_F(DimTest, QuotientsCancel) {
  EXPECT_EQ(t.FloorDiv(t.Mul(n, C(4)), C(4)), n);
  EXPECT_EQ(t.FloorDiv(t.Add(t.Mul(n, C(4)), C(3)), C(4)), n);
  EXPECT_EQ(t.FloorDiv(t.Mul(n, t.Mul(h, C(768))), t.Mul(n, h)), C(768));
  // (past + step) * 64 over past + step.
  const Dim total = t.Add(n, h);
  EXPECT_EQ(t.FloorDiv(t.Mul(total, C(64)), total), C(64));
  EXPECT_EQ(t.CeilDiv(t.Mul(n, C(4)), C(4)), n);
  EXPECT_EQ(t.CeilDiv(n, C(4)), t.FloorDiv(t.Add(n, C(3)), C(4)));
  EXPECT_EQ(t.Mod(t.Mul(n, C(4)), C(4)), C(0));
  EXPECT_EQ(t.FloorDiv(t.FloorDiv(n, C(2)), C(3)), t.FloorDiv(n, C(6)));
  EXPECT_EQ(t.FloorDiv(t.Mul(n, C(2)), C(4)), t.FloorDiv(n, C(2)));
  EXPECT_EQ(t.FloorDiv(t.Mul(n, h), t.Mul(n, w)), t.FloorDiv(h, w));
}

TEST_F(DimTest, QuotientAndRemainderAddUpAgain) {
  const Dim q = t.FloorDiv(n, C(4));
  EXPECT_EQ(t.Add(t.Mul(q, C(4)), t.Mod(n, C(4))), n);
}

TEST_F(DimTest, DivisorsOfSymbolsCancel) {
  t.SetDivisor(Id(n), 4);
  EXPECT_EQ(t.Mod(n, C(2)), C(0));
  EXPECT_EQ(t.Mul(t.FloorDiv(n, C(4)), C(4)), n);
  EXPECT_EQ(t.FloorDiv(t.Add(n, C(1)), C(2)), t.FloorDiv(n, C(2)));
  EXPECT_EQ(t.DivisorOf(t.Mul(n, C(6))), 24);
  EXPECT_EQ(t.DivisorOf(t.Add(t.Mul(n, h), C(2))), 2);
  EXPECT_EQ(t.DivisorOf(C(0)), 0);
}

TEST_F(DimTest, RangesDecideMinMaxModAndQuotient) {
  t.SetRange(Id(n), DimRange{.low = 1, .high = 8});
  EXPECT_EQ(t.Min(n, C(8)), n);
  EXPECT_EQ(t.Max(n, C(1)), n);
  EXPECT_EQ(t.Min(n, t.Add(n, h)), n);
  EXPECT_EQ(t.Mod(n, C(9)), n);
  EXPECT_EQ(t.FloorDiv(n, C(9)), C(0));
  EXPECT_EQ(t.CeilDiv(n, C(8)), C(1));
  EXPECT_TRUE(t.ProvablyLessEqual(n, C(8)));
  EXPECT_FALSE(t.ProvablyLessEqual(n, C(7)));
  EXPECT_TRUE(t.ProvablyLessEqual(h, t.Mul(h, C(2))));
  const DimRange range = t.RangeOf(t.Sub(C(10), t.Mul(n, C(2))));
  EXPECT_EQ(range.low, -6);
  EXPECT_EQ(range.high, 8);
}

TEST_F(DimTest, UnboundedRangesStayUnbounded) {
  EXPECT_EQ(t.RangeOf(t.Add(n, C(-5))).high, INT64_MAX);
  EXPECT_EQ(t.RangeOf(t.Sub(C(0), n)).low, INT64_MIN);
  EXPECT_EQ(t.RangeOf(t.FloorDiv(n, C(7))).high, INT64_MAX);
  EXPECT_EQ(t.RangeOf(t.Mul(n, h)).low, 0);
}

TEST_F(DimTest, OverflowAndDivisionByZeroGiveTheInvalidDim) {
  const Dim big = C(INT64_MAX);
  EXPECT_FALSE(t.Add(big, C(1)).valid());
  EXPECT_FALSE(t.Mul(t.Mul(big, n), C(2)).valid());
  EXPECT_FALSE(t.FloorDiv(n, C(0)).valid());
  EXPECT_FALSE(t.Mod(n, C(0)).valid());
  EXPECT_FALSE(t.Add(t.Add(big, C(1)), n).valid());
  EXPECT_FALSE(t.Min(Dim(), n).valid());
  EXPECT_FALSE(
      t.Evaluate(t.FloorDiv(n, h), std::vector<std::optional<int64_t>>{1, 0, 0})
          .has_value());
}

// A hostile model could square and halve a dim as often as it likes.
TEST_F(DimTest, GrowthEndsInTheInvalidDim) {
  Dim dim = n;
  for (int i = 0; i < 200 && dim.valid(); ++i) {
    dim = t.FloorDiv(t.Add(t.Mul(dim, dim), h), C(3));
  }
  EXPECT_FALSE(dim.valid());
  dim = n;
  for (int i = 0; i < 200 && dim.valid(); ++i) {
    dim = t.Max(t.Sub(C(i), dim), h);
  }
  EXPECT_FALSE(dim.valid());
}

TEST_F(DimTest, SubstitutesAndNormalisesAgain) {
  const Dim dim = t.FloorDiv(t.Add(n, C(1)), C(2));
  std::vector<Dim> by_symbol(t.symbol_count());
  by_symbol[Id(n).index()] = t.Sub(t.Mul(h, C(2)), C(1));
  EXPECT_EQ(t.Substitute(dim, by_symbol), h);
  EXPECT_EQ(t.Substitute(w, by_symbol), w);
}

TEST_F(DimTest, CollectsSymbolsOnce) {
  std::vector<SymbolId> symbols;
  t.CollectSymbols(t.Add(t.Min(n, h), n), symbols);
  EXPECT_EQ(symbols.size(), 2u);
}

// Random expressions, built as dims and computed as numbers side by side.
struct Both {
  Dim dim;
  std::vector<std::optional<int64_t>> values;  // Per assignment.
};

class DimPropertyTest : public DimTest {
 protected:
  static constexpr int kSymbols = 3;

  std::optional<int64_t> Apply(int op, std::optional<int64_t> a,
                               std::optional<int64_t> b) {
    if (!a.has_value() || !b.has_value()) return std::nullopt;
    const auto floor = [](int64_t x, int64_t y) {
      return x / y - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0);
    };
    if (op >= 3 && op <= 5 && *b == 0) return std::nullopt;
    switch (op) {
      case 0:
        return *a + *b;
      case 1:
        return *a - *b;
      case 2:
        return *a * *b;
      case 3:
        return floor(*a, *b);
      case 4:
        return -floor(-*a, *b);
      case 5:
        return *a - *b * floor(*a, *b);
      case 6:
        return std::min(*a, *b);
      default:
        return std::max(*a, *b);
    }
  }

  Dim Build(int op, Dim a, Dim b) {
    switch (op) {
      case 0:
        return t.Add(a, b);
      case 1:
        return t.Sub(a, b);
      case 2:
        return t.Mul(a, b);
      case 3:
        return t.FloorDiv(a, b);
      case 4:
        return t.CeilDiv(a, b);
      case 5:
        return t.Mod(a, b);
      case 6:
        return t.Min(a, b);
      default:
        return t.Max(a, b);
    }
  }
};

TEST_F(DimPropertyTest, NormalFormEvaluatesToTheSameNumber) {
  const std::vector<Dim> symbols = {n, h, w};
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    t = DimTable();
    const std::vector<Dim> names = {t.Symbol("n"), t.Symbol("h"),
                                    t.Symbol("w")};
    // Ranges and divisors in half of the tables.
    std::vector<std::vector<std::optional<int64_t>>> assignments(12);
    std::vector<int64_t> low(kSymbols, 0), high(kSymbols, 40), by(kSymbols, 1);
    for (int s = 0; s < kSymbols && seed % 2 == 1; ++s) {
      low[s] = static_cast<int64_t>(random() % 9) - 2;
      high[s] = low[s] + static_cast<int64_t>(random() % 12) + 4;
      by[s] = 1 + static_cast<int64_t>(random() % 4);
      t.SetRange(Id(names[s]), DimRange{.low = low[s], .high = high[s]});
      t.SetDivisor(Id(names[s]), by[s]);
    }
    for (auto& assignment : assignments) {
      for (int s = 0; s < kSymbols; ++s) {
        int64_t value =
            low[s] + static_cast<int64_t>(random() % (high[s] - low[s] + 1));
        // A multiple lies within every five numbers.
        while (value % by[s] != 0) value = value < high[s] ? value + 1 : low[s];
        assignment.push_back(value);
      }
    }
    std::vector<Both> pool;
    for (int s = 0; s < kSymbols; ++s) {
      Both both{names[s], {}};
      for (const auto& assignment : assignments) {
        both.values.push_back(assignment[s]);
      }
      pool.push_back(both);
    }
    for (const int64_t c : {1, 2, 3, 4, 6, -2, 12}) {
      pool.push_back(Both{t.Constant(c), std::vector<std::optional<int64_t>>(
                                             assignments.size(), c)});
    }
    for (int step = 0; step < 40; ++step) {
      const int op = static_cast<int>(random() % 8);
      const Both a = pool[random() % pool.size()];
      const Both b = pool[random() % pool.size()];
      Both result{Build(op, a.dim, b.dim), {}};
      if (!result.dim.valid()) continue;
      const DimRange range = t.RangeOf(result.dim);
      const int64_t divisor = t.DivisorOf(result.dim);
      bool small = true;
      for (std::size_t i = 0; i < assignments.size(); ++i) {
        const auto direct = Apply(op, a.values[i], b.values[i]);
        result.values.push_back(direct);
        if (!direct.has_value()) continue;
        small = small && std::abs(*direct) < 10'000'000;
        const auto value = t.Evaluate(result.dim, assignments[i]);
        ASSERT_TRUE(value.has_value()) << t.ToString(result.dim);
        ASSERT_EQ(*value, *direct)
            << "seed " << seed << ": " << t.ToString(a.dim) << " op " << op
            << " " << t.ToString(b.dim) << " = " << t.ToString(result.dim);
        ASSERT_GE(*value, range.low) << t.ToString(result.dim);
        ASSERT_LE(*value, range.high) << t.ToString(result.dim);
        if (divisor > 1) {
          ASSERT_EQ(*value % divisor, 0) << t.ToString(result.dim);
        }
      }
      if (small) pool.push_back(std::move(result));
    }
  }
}

}  // namespace
}  // namespace ebb::ir
