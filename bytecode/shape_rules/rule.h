// Shape rules: from the dtypes and dims of an operator's inputs to those of
// its outputs. Each rule is written once, as a template over the arithmetic
// of dims: `IntArith` in the VM (dims are int64), symbolic polynomials in the
// compiler. A rule checks everything about its inputs that shapes and dtypes
// can tell (ranks, axes, matching dims, attribute values), so a run that
// passes it is safe for the kernel.
//
// An arithmetic `A` has
//   using Dim = …;                      // cheap to copy
//   Dim Constant(int64_t);
//   Dim Add(Dim, Dim); Sub; Mul;        // overflow makes it sticky-failed
//   Dim FloorDiv(Dim, Dim); CeilDiv; Min; Max;
//   std::optional<int64_t> Known(Dim);  // the value, when it is a constant
//   bool Same(Dim, Dim);                // provably equal
//   Dim Unknown();                      // a fresh dim, found out at run time
//   bool failed();                      // overflow on the way
//
// What a rule cannot prove it leaves open: the output dim is `Unknown()` and
// the run-time instance of the same rule decides. With IntArith nothing is
// open but what depends on data (`Unknown()` is -1 there).
#ifndef EBB_BYTECODE_SHAPE_RULES_RULE_H_
#define EBB_BYTECODE_SHAPE_RULES_RULE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bytecode/attributes.h"
#include "bytecode/dtype.h"
#include "bytecode/error.h"
#include "bytecode/operators.h"

namespace ebb {

// More dims than any exporter writes; a clear error beyond (kLimit).
inline constexpr int kMaxRank = 16;

// dtype and dims of one operand. dtype kInvalid: an optional operand that is
// absent. ranked == false: only the dtype is known (compiler only).
template <class Dim>
struct Shaped {
  DType dtype = DType::kInvalid;
  bool ranked = true;
  std::vector<Dim> dims;

  bool absent() const { return dtype == DType::kInvalid; }
  int rank() const { return static_cast<int>(dims.size()); }
};

// Contents of a value input, row-major: one of the two lists.
template <class Dim>
struct Contents {
  std::vector<Dim> ints;       // Of integer and bool tensors.
  std::vector<double> floats;  // Of float tensors.
};

template <class A>
struct RuleContext {
  using Dim = typename A::Dim;

  A& arith;
  const OperatorInfo& info;
  const Attributes& attributes;
  std::span<const Shaped<Dim>> inputs;
  // Per input; nullopt: not known (compiler), or not a value input.
  std::span<const std::optional<Contents<Dim>>> contents;
  // Sized by the caller to the number of outputs; the rule fills each in.
  // An output not wanted (absent optional) is filled in all the same.
  std::vector<Shaped<Dim>>& outputs;

  bool Has(std::size_t i) const {
    return i < inputs.size() && !inputs[i].absent();
  }
  // Known integer contents of input i, or nullptr.
  const std::vector<Dim>* Ints(std::size_t i) const {
    return i < contents.size() && contents[i].has_value() &&
                   !IsFloat(inputs[i].dtype)
               ? &contents[i]->ints
               : nullptr;
  }
  const std::vector<double>* Floats(std::size_t i) const {
    return i < contents.size() && contents[i].has_value() &&
                   IsFloat(inputs[i].dtype)
               ? &contents[i]->floats
               : nullptr;
  }
};

// int64 dims with overflow checks: the VM's arithmetic.
class IntArith {
 public:
  using Dim = int64_t;
  static constexpr int64_t kUnknown = -1;

  int64_t Constant(int64_t value) { return value; }
  int64_t Add(int64_t a, int64_t b) {
    int64_t r = 0;
    failed_ |= __builtin_add_overflow(a, b, &r);
    return r;
  }
  int64_t Sub(int64_t a, int64_t b) {
    int64_t r = 0;
    failed_ |= __builtin_sub_overflow(a, b, &r);
    return r;
  }
  int64_t Mul(int64_t a, int64_t b) {
    int64_t r = 0;
    failed_ |= __builtin_mul_overflow(a, b, &r);
    return r;
  }
  int64_t FloorDiv(int64_t a, int64_t b) {
    if (!Divides(a, b)) return 0;
    return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  }
  int64_t CeilDiv(int64_t a, int64_t b) {
    if (!Divides(a, b)) return 0;
    return a / b + ((a % b != 0 && (a < 0) == (b < 0)) ? 1 : 0);
  }
  int64_t Min(int64_t a, int64_t b) { return a < b ? a : b; }
  int64_t Max(int64_t a, int64_t b) { return a < b ? b : a; }
  std::optional<int64_t> Known(int64_t d) const { return d; }
  bool Same(int64_t a, int64_t b) const { return a == b; }
  int64_t Unknown() { return kUnknown; }
  bool failed() const { return failed_; }

 private:
  bool Divides(int64_t a, int64_t b) {
    if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1)) {
      failed_ = true;
      return false;
    }
    return true;
  }
  bool failed_ = false;
};

// Runs the rule of `context.info` at run time: dims of all outputs, with -1
// only where a dim depends on an operand's data.
Status InferShapes(RuleContext<IntArith>& context);

}  // namespace ebb

#endif  // EBB_BYTECODE_SHAPE_RULES_RULE_H_
