// The arithmetic of shape rules over symbolic dims (see shape_rules/rule.h).
// The invalid dim stands for "not known before the run" and spreads through
// whatever is computed from it; the caller names it by a fresh symbol.
#ifndef EBB_COMPILER_ANALYSIS_SYMBOLIC_ARITH_H_
#define EBB_COMPILER_ANALYSIS_SYMBOLIC_ARITH_H_

#include <cstdint>
#include <optional>

#include "compiler/ir/dim.h"

namespace ebb::ir {

class SymbolicArith {
 public:
  using Dim = ir::Dim;

  explicit SymbolicArith(DimTable& table) : table_(table) {}

  Dim Constant(int64_t value) { return table_.Constant(value); }
  Dim Add(Dim a, Dim b) { return Checked(a, b, table_.Add(a, b)); }
  Dim Sub(Dim a, Dim b) { return Checked(a, b, table_.Sub(a, b)); }
  Dim Mul(Dim a, Dim b) { return Checked(a, b, table_.Mul(a, b)); }
  Dim FloorDiv(Dim a, Dim b) { return Checked(a, b, table_.FloorDiv(a, b)); }
  Dim CeilDiv(Dim a, Dim b) { return Checked(a, b, table_.CeilDiv(a, b)); }
  Dim Min(Dim a, Dim b) { return Checked(a, b, table_.Min(a, b)); }
  Dim Max(Dim a, Dim b) { return Checked(a, b, table_.Max(a, b)); }
  std::optional<int64_t> Known(Dim dim) const {
    return dim.valid() ? table_.Known(dim) : std::nullopt;
  }
  bool Same(Dim a, Dim b) const { return a.valid() && a == b; }
  Dim Unknown() { return Dim(); }
  bool failed() const { return failed_; }

 private:
  // Two known dims whose result is not a dim: it overflowed.
  Dim Checked(Dim a, Dim b, Dim result) {
    failed_ |= a.valid() && b.valid() && !result.valid();
    return result;
  }

  DimTable& table_;
  bool failed_ = false;
};

}  // namespace ebb::ir

#endif  // EBB_COMPILER_ANALYSIS_SYMBOLIC_ARITH_H_
