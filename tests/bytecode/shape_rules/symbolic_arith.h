// A small symbolic arithmetic to test shape rules with: linear polynomials
// over named symbols and over quotients, products, minima and maxima, which
// are kept as atoms. Symbols stand for dims, so they are >= 0. Enough to see
// what a rule asks for; the compiler's own does much more.
#ifndef EBB_TESTS_BYTECODE_SHAPE_RULES_SYMBOLIC_ARITH_H_
#define EBB_TESTS_BYTECODE_SHAPE_RULES_SYMBOLIC_ARITH_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>

namespace ebb {

struct SymbolicDim {
  std::map<std::string, int64_t> terms;  // Atom to coefficient, none is 0.
  int64_t constant = 0;

  friend bool operator==(const SymbolicDim&, const SymbolicDim&) = default;

  std::string Text() const {
    std::string text;
    for (const auto& [atom, factor] : terms) {
      if (!text.empty() && factor > 0) text += '+';
      if (factor == -1) {
        text += '-';
      } else if (factor != 1) {
        text += std::to_string(factor) + '*';
      }
      text += atom;
    }
    if (text.empty()) return std::to_string(constant);
    if (constant > 0) text += '+';
    return constant == 0 ? text : text + std::to_string(constant);
  }
};

class SymbolicArith {
 public:
  using Dim = SymbolicDim;

  static Dim Symbol(const std::string& name) {
    return {.terms = {{name, 1}}, .constant = 0};
  }
  Dim Constant(int64_t value) { return {.terms = {}, .constant = value}; }
  Dim Add(const Dim& a, const Dim& b) { return Sum(a, b, 1); }
  Dim Sub(const Dim& a, const Dim& b) { return Sum(a, b, -1); }
  Dim Mul(const Dim& a, const Dim& b) {
    if (a.terms.empty()) return Scale(b, a.constant);
    if (b.terms.empty()) return Scale(a, b.constant);
    return Atom("(" + std::min(a.Text(), b.Text()) + ")*(" +
                std::max(a.Text(), b.Text()) + ")");
  }
  Dim FloorDiv(const Dim& a, const Dim& b) { return Div(a, b, "floor"); }
  Dim CeilDiv(const Dim& a, const Dim& b) { return Div(a, b, "ceil"); }
  Dim Min(const Dim& a, const Dim& b) {
    if (NotNegative(Sub(b, a))) return a;
    if (NotNegative(Sub(a, b))) return b;
    return Atom("min(" + a.Text() + "," + b.Text() + ")");
  }
  Dim Max(const Dim& a, const Dim& b) {
    if (NotNegative(Sub(b, a))) return b;
    if (NotNegative(Sub(a, b))) return a;
    return Atom("max(" + a.Text() + "," + b.Text() + ")");
  }
  std::optional<int64_t> Known(const Dim& d) const {
    return d.terms.empty() ? std::optional(d.constant) : std::nullopt;
  }
  bool Same(const Dim& a, const Dim& b) const { return a == b; }
  Dim Unknown() { return Symbol("?"); }
  bool failed() const { return failed_; }

 private:
  // Atoms that start with "s" or are maxima with something negative would
  // not be; "free" marks a symbol of unknown sign.
  static bool NotNegative(const Dim& d) {
    return d.constant >= 0 &&
           std::ranges::all_of(d.terms, [](const auto& term) {
             return term.second > 0 && !term.first.starts_with("free") &&
                    !term.first.starts_with("min(");
           });
  }
  static Dim Atom(std::string text) { return Symbol(text); }
  Dim Sum(const Dim& a, const Dim& b, int64_t sign) {
    Dim result = a;
    failed_ |=
        __builtin_add_overflow(a.constant, sign * b.constant, &result.constant);
    for (const auto& [atom, factor] : b.terms) {
      int64_t& at = result.terms[atom];
      at += sign * factor;
      if (at == 0) result.terms.erase(atom);
    }
    return result;
  }
  Dim Scale(const Dim& a, int64_t factor) {
    Dim result;
    if (factor == 0) return result;
    failed_ |= __builtin_mul_overflow(a.constant, factor, &result.constant);
    for (const auto& [atom, f] : a.terms) result.terms[atom] = f * factor;
    return result;
  }
  Dim Div(const Dim& a, const Dim& b, const std::string& name) {
    if (b.terms.empty() && b.constant > 0) {
      const int64_t by = b.constant;
      bool divides = a.constant % by == 0;
      for (const auto& [atom, f] : a.terms) divides &= f % by == 0;
      if (divides) {
        Dim result{.terms = a.terms, .constant = a.constant / by};
        for (auto& [atom, f] : result.terms) f /= by;
        return result;
      }
      if (a.terms.empty()) {
        const int64_t down =
            a.constant >= 0 ? a.constant / by : -((-a.constant + by - 1) / by);
        return Constant(name == "floor" ? down : down + 1);
      }
    }
    return Atom(name + "((" + a.Text() + ")/" + b.Text() + ")");
  }

  bool failed_ = false;
};

}  // namespace ebb

#endif  // EBB_TESTS_BYTECODE_SHAPE_RULES_SYMBOLIC_ARITH_H_
