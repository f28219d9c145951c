// Dims: sizes that may be unknown at compile time. A dim is a normalised
// polynomial with int64 coefficients over symbols and the atoms floordiv,
// ceildiv, mod, min and max (whose operands are dims again), hash-consed in a
// `DimTable`: equal normal forms are the same `Dim`, so equality is a compare
// of two integers. Arithmetic is overflow-checked: a result that does not fit
// is the invalid `Dim()`, and so is all that is computed from it.
//
// Symbols have a name, a range (default [0, int64 max]) and a divisor, from
// which ranges of whole dims follow (conservative intervals).
//
//   DimTable t;
//   Dim n = t.Symbol("n");
//   t.Add(n, n) == t.Mul(t.Constant(2), n)      // true
//   t.FloorDiv(t.Mul(n, t.Constant(4)), t.Constant(4)) == n
//
// A table is owned by one ir::Module; not thread-safe.
#ifndef EBB_COMPILER_IR_DIM_H_
#define EBB_COMPILER_IR_DIM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/index.h"

namespace ebb::ir {

using Dim = Id<struct DimTag>;
using SymbolId = Id<struct SymbolTag>;

enum class AtomKind : uint8_t {
  kSymbol,
  kFloorDiv,
  kCeilDiv,
  kMod,  // a - b * floordiv(a, b)
  kMin,
  kMax,
};

struct Atom {
  AtomKind kind = AtomKind::kSymbol;
  SymbolId symbol;  // kSymbol
  Dim a, b;         // the others
};
using AtomId = Id<struct AtomTag>;

// coefficient * product of atoms; an atom stands once per power.
struct Term {
  int64_t coefficient = 0;
  std::vector<AtomId> atoms;  // Sorted; empty: the constant term.
};

struct DimRange {
  int64_t low = 0;
  int64_t high = INT64_MAX;
};

class DimTable {
 public:
  DimTable();
  ~DimTable();
  DimTable(DimTable&&) noexcept;
  DimTable& operator=(DimTable&&) noexcept;

  Dim Constant(int64_t value);
  // The symbol of this name, made at first sight.
  Dim Symbol(std::string_view name);
  // A symbol whose name, `hint` with a number, no other has.
  Dim FreshSymbol(std::string_view hint);

  Dim Add(Dim a, Dim b);
  Dim Sub(Dim a, Dim b);
  Dim Mul(Dim a, Dim b);
  Dim FloorDiv(Dim a, Dim b);
  Dim CeilDiv(Dim a, Dim b);
  Dim Mod(Dim a, Dim b);
  Dim Min(Dim a, Dim b);
  Dim Max(Dim a, Dim b);
  Dim Product(std::span<const Dim> dims);  // 1 for none

  std::optional<int64_t> Known(Dim dim) const;      // a constant's value
  std::optional<SymbolId> AsSymbol(Dim dim) const;  // a lone symbol
  std::span<const Term> Terms(Dim dim) const;       // constant 0: none
  const Atom& atom(AtomId id) const;
  const std::string& SymbolName(SymbolId id) const;
  std::size_t symbol_count() const;
  // Appends each symbol of `dim` once, in order of first appearance.
  void CollectSymbols(Dim dim, std::vector<SymbolId>& symbols) const;

  void SetRange(SymbolId symbol, DimRange range);
  void SetDivisor(SymbolId symbol, int64_t divisor);
  DimRange RangeOfSymbol(SymbolId symbol) const;
  int64_t DivisorOfSymbol(SymbolId symbol) const;
  DimRange RangeOf(Dim dim) const;
  // A number that certainly divides the dim's value (0 for the constant 0).
  int64_t DivisorOf(Dim dim) const;
  bool ProvablyLessEqual(Dim a, Dim b);

  // nullopt when a symbol has no value, or on overflow or division by zero.
  // `values` is indexed by symbol.
  std::optional<int64_t> Evaluate(
      Dim dim, std::span<const std::optional<int64_t>> values) const;
  // Symbols replaced by dims (invalid: kept), normalised again.
  Dim Substitute(Dim dim, std::span<const Dim> by_symbol);

  // "n", "4", "2*n + h*w", "floordiv(n + 1, 2)"; deterministic.
  std::string ToString(Dim dim) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_DIM_H_
