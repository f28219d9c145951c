// Which symbols of dims have a value at a place of a function. A symbol is
// bound where a value whose type has it as a whole dim comes to be (a
// parameter, a match_cast, an operator whose shape depends on data, …), and
// for as long as the region lasts in which that happens.
#ifndef EBB_COMPILER_ANALYSIS_BOUND_SYMBOLS_H_
#define EBB_COMPILER_ANALYSIS_BOUND_SYMBOLS_H_

#include <cstddef>
#include <vector>

#include "compiler/ir/dim.h"
#include "compiler/ir/type.h"

namespace ebb::ir {

class BoundSymbols {
 public:
  explicit BoundSymbols(const DimTable& dims) : dims_(dims) {}

  void Bind(const Type& type) {
    if (!type.IsTensor()) return;
    for (const Dim dim : type.dims) {
      if (const auto symbol = dims_.AsSymbol(dim)) Bind(*symbol);
    }
  }

  bool IsBound(SymbolId symbol) const {
    return symbol.index() < bound_.size() && bound_[symbol.index()];
  }

  // Every symbol of the dims and strides is bound.
  bool AllBound(const Type& type) const {
    return AllBound(type.dims) && AllBound(type.strides);
  }
  bool AllBound(const std::vector<Dim>& dims) const {
    std::vector<SymbolId> symbols;
    for (const Dim dim : dims) dims_.CollectSymbols(dim, symbols);
    for (const SymbolId symbol : symbols) {
      if (!IsBound(symbol)) return false;
    }
    return true;
  }

  // A region begins; Leave with the same number ends it.
  std::size_t Enter() const { return order_.size(); }
  void Leave(std::size_t scope) {
    for (; order_.size() > scope; order_.pop_back()) {
      bound_[order_.back().index()] = false;
    }
  }

 private:
  void Bind(SymbolId symbol) {
    if (IsBound(symbol)) return;
    if (symbol.index() >= bound_.size()) bound_.resize(symbol.index() + 1);
    bound_[symbol.index()] = true;
    order_.push_back(symbol);
  }

  const DimTable& dims_;
  std::vector<bool> bound_;
  std::vector<SymbolId> order_;
};

}  // namespace ebb::ir

#endif  // EBB_COMPILER_ANALYSIS_BOUND_SYMBOLS_H_
