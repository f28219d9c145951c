// Visits the operands of an instruction, flattened, in the order of its
// format: the one place that knows how roles lie in `Function::words`.
// Encoder, decoder, verifier, lifetime checker and the text forms are written
// over it, so that a new opcode is a row in a table and nothing here.
//
//   ForEachOperand(function, instruction, [&](const Operand& operand) {
//     if (operand.kind == OperandKind::kHold && operand.Empties()) …
//   });
//
// A list comes as a kCount operand and then its entries. `WalkOperands` is
// the same for words that nobody has checked: it reads no word outside the
// span and says whether they were well-formed.
#ifndef EBB_BYTECODE_OPERAND_VISITOR_H_
#define EBB_BYTECODE_OPERAND_VISITOR_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "bytecode/module.h"
#include "bytecode/opcodes.h"

namespace ebb::bytecode {

enum class OperandKind : uint8_t {
  kCount,   // Opens a list of `value` entries.
  kDefInt,  // Integer register `value`, written.
  kInt,     // Integer register `value` that is read, or an immediate.
  kHold,    // Hold register `value`; `role` and `moved` say what happens.
  kNone,    // An entry or operand that is absent.
  kNumber,  // Anything else: a number, code, label or index.
};

struct Operand {
  OperandKind kind = OperandKind::kNumber;
  Role role = Role::kImm;    // As in the format; entries have their list's.
  bool is_register = false;  // kInt.
  bool moved = false;        // kHold of a Pass: emptied, else shared.
  bool nested = false;       // A list of Int inside Ins: its count, its Ints.
  int64_t value = 0;
  std::size_t word = 0;  // Place in `Function::words`.

  // What the instruction does to a hold register.
  bool Fills() const {
    return role == Role::kDefHold || role == Role::kDefHolds;
  }
  bool Kills() const { return role == Role::kKills; }
  bool Empties() const { return Kills() || role == Role::kMoved || moved; }
  bool WritesThrough() const {
    return role == Role::kOut || role == Role::kOuts;
  }
};

// Is an operand of this role a list?
constexpr bool IsListRole(Role role) {
  switch (role) {
    case Role::kIntList:
    case Role::kDefHolds:
    case Role::kUses:
    case Role::kPasses:
    case Role::kKills:
    case Role::kOuts:
    case Role::kIns:
      return true;
    case Role::kDefInt:
    case Role::kInt:
    case Role::kDefHold:
    case Role::kUse:
    case Role::kPass:
    case Role::kMoved:
    case Role::kOut:
    case Role::kOptUse:
    case Role::kImm:
    case Role::kDTypeCode:
    case Role::kLabel:
    case Role::kFunctionRef:
    case Role::kConstantRef:
    case Role::kSiteRef:
    case Role::kStringRef:
      return false;
  }
  return false;
}

// May an operand or entry of this role be "none"?
constexpr bool MayBeNone(Role role) {
  return role == Role::kDefHolds || role == Role::kOut || role == Role::kOuts ||
         role == Role::kOptUse || role == Role::kIns;
}

// Does an operand or entry of this role name a hold register? (Entries of Ins
// may also be something else.)
constexpr bool IsHoldRole(Role role) {
  switch (role) {
    case Role::kDefHold:
    case Role::kDefHolds:
    case Role::kUse:
    case Role::kUses:
    case Role::kPass:
    case Role::kPasses:
    case Role::kKills:
    case Role::kMoved:
    case Role::kOut:
    case Role::kOuts:
    case Role::kIns:
    case Role::kOptUse:
      return true;
    case Role::kDefInt:
    case Role::kInt:
    case Role::kIntList:
    case Role::kImm:
    case Role::kDTypeCode:
    case Role::kLabel:
    case Role::kFunctionRef:
    case Role::kConstantRef:
    case Role::kSiteRef:
    case Role::kStringRef:
      return false;
  }
  return false;
}

namespace internal {

template <class Visitor>
class OperandWalk {
 public:
  OperandWalk(std::span<const int64_t> words, std::size_t at, Visitor& visitor)
      : words_(words), at_(at), visitor_(visitor) {}

  bool Operands(Role role) {
    if (!IsListRole(role)) return Entry(role);
    int64_t count = 0;
    if (!Count(role, false, &count)) return false;
    for (int64_t i = 0; i < count; ++i) {
      if (!Entry(role)) return false;
    }
    return true;
  }
  std::size_t position() const { return at_; }

 private:
  bool Take(int64_t* word) {
    if (at_ >= words_.size()) return false;
    *word = words_[at_++];
    return true;
  }

  // Every entry has a word at least, so a count past the end is wrong.
  bool Count(Role role, bool nested, int64_t* count) {
    const std::size_t word = at_;
    if (!Take(count) || *count < 0 ||
        static_cast<uint64_t>(*count) > words_.size() - at_) {
      return false;
    }
    visitor_(Operand{.kind = OperandKind::kCount,
                     .role = role,
                     .nested = nested,
                     .value = *count,
                     .word = word});
    return true;
  }

  bool Int(Role role, bool nested) {
    const std::size_t word = at_;
    int64_t is_register = 0;
    int64_t value = 0;
    if (!Take(&is_register) || !Take(&value) || is_register < 0 ||
        is_register > 1) {
      return false;
    }
    visitor_(Operand{.kind = OperandKind::kInt,
                     .role = role,
                     .is_register = is_register == 1,
                     .nested = nested,
                     .value = value,
                     .word = word});
    return true;
  }

  bool In() {
    const std::size_t word = at_;
    int64_t kind = 0;
    int64_t value = 0;
    if (!Take(&kind)) return false;
    if (kind == kInNone) {
      visitor_(Operand{
          .kind = OperandKind::kNone, .role = Role::kIns, .word = word});
      return true;
    }
    if (kind == kInHold) {
      if (!Take(&value)) return false;
      visitor_(Operand{.kind = OperandKind::kHold,
                       .role = Role::kIns,
                       .value = value,
                       .word = word});
      return true;
    }
    if (kind != kInInts || !Count(Role::kIns, true, &value)) return false;
    for (int64_t i = 0; i < value; ++i) {
      if (!Int(Role::kIns, true)) return false;
    }
    return true;
  }

  bool Entry(Role role) {
    if (role == Role::kIns) return In();
    if (role == Role::kInt || role == Role::kIntList) return Int(role, false);
    Operand operand{.role = role, .word = at_};
    if (!Take(&operand.value)) return false;
    if (role == Role::kDefInt) {
      operand.kind = OperandKind::kDefInt;
    } else if (role == Role::kPass || role == Role::kPasses) {
      if (operand.value < 0) return false;
      operand.kind = OperandKind::kHold;
      operand.moved = (operand.value & 1) != 0;
      operand.value >>= 1;
    } else if (IsHoldRole(role)) {
      const bool none = MayBeNone(role) && operand.value == kNoRegister;
      operand.kind = none ? OperandKind::kNone : OperandKind::kHold;
    }
    visitor_(static_cast<const Operand&>(operand));
    return true;
  }

  std::span<const int64_t> words_;
  std::size_t at_;
  Visitor& visitor_;
};

}  // namespace internal

inline constexpr std::size_t kMalformedOperands =
    std::numeric_limits<std::size_t>::max();

// Place of the word after the operands, or kMalformedOperands. Operands before
// the malformed one have been visited then.
template <class Visitor>
std::size_t WalkOperands(std::span<const Role> roles,
                         std::span<const int64_t> words, std::size_t first_word,
                         Visitor&& visitor) {
  internal::OperandWalk<Visitor> walk(words, first_word, visitor);
  for (const Role role : roles) {
    if (!walk.Operands(role)) return kMalformedOperands;
  }
  return walk.position();
}

// For functions whose words are known to be well-formed.
template <class Visitor>
void ForEachOperand(const Function& function, const Instruction& instruction,
                    Visitor&& visitor) {
  [[maybe_unused]] const std::size_t end =
      WalkOperands(InfoOf(instruction.opcode).roles, function.words,
                   instruction.first_word, visitor);
  assert(end != kMalformedOperands);
}

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_OPERAND_VISITOR_H_
