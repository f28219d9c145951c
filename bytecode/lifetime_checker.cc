// The idea: each register's state is a set of facts that are true on some path
// to this place, as bits. Paths are followed instruction by instruction; only
// at the targets of jumps is a state kept, the union over the paths that came
// there, and a path goes on from there only while it adds facts.
#include "bytecode/lifetime_checker.h"

#include <string>
#include <utility>
#include <vector>

#include "bytecode/operand_visitor.h"

namespace ebb::bytecode {
namespace {

using Facts = uint16_t;

constexpr Facts kMayBeEmpty = 1;
constexpr Facts kMayBeOwned = 2;
constexpr Facts kMayBeBorrowed = 4;
constexpr Facts kMayBeConstant = 8;
constexpr Facts kTensor = 16;
constexpr Facts kStorage = 32;
constexpr Facts kObject = 64;
constexpr Facts kAnyKind = 128;  // Only the run tells.

constexpr Facts kHeld = kMayBeOwned | kMayBeBorrowed | kMayBeConstant;
constexpr Facts kKinds = kTensor | kStorage | kObject | kAnyKind;

using State = std::vector<Facts>;  // By hold register.

Facts KindOf(const Type& type) {
  switch (type.kind) {
    case TypeKind::kTensor:
      return kTensor;
    case TypeKind::kStorage:
      return kStorage;
    case TypeKind::kTuple:
    case TypeKind::kSequence:
    case TypeKind::kOptional:
    case TypeKind::kClosure:
      return kObject;
    case TypeKind::kObject:
      return kAnyKind;
  }
  return kAnyKind;
}

// What a killing instruction ends; 0 for any other.
Facts KilledKind(Opcode opcode) {
  if (opcode == Opcode::kKillTensor) return kTensor;
  if (opcode == Opcode::kKillStorage) return kStorage;
  return opcode == Opcode::kKillObject ? kObject : Facts{0};
}

const char* KindName(Facts facts) {
  switch (facts & kKinds) {
    case kTensor:
      return "a tensor";
    case kStorage:
      return "a storage";
    case kObject:
      return "an object";
    default:
      return "a value";
  }
}

class FunctionChecker {
 public:
  FunctionChecker(const Module& module, const Function& function)
      : module_(module),
        function_(function),
        is_target_(function.code.size()),
        kept_(function.code.size()) {}

  Status Run() {
    FindTargets();
    state_.assign(function_.hold_register_count, kMayBeEmpty);
    for (std::size_t i = 0; i < function_.params.size(); ++i) {
      const Param& param = function_.params[i];
      state_[i] =
          static_cast<Facts>(KindOf(module_.types[param.type.index()]) |
                             (param.donated ? kMayBeOwned : kMayBeBorrowed));
    }
    RETURN_IF_ERROR(FollowFrom(0));
    while (!waiting_.empty()) {
      const std::size_t next = waiting_.back();
      waiting_.pop_back();
      is_waiting_[next] = false;
      state_ = kept_[next];
      RETURN_IF_ERROR(FollowFrom(next));
    }
    return {};
  }

 private:
  void FindTargets() {
    is_waiting_.resize(function_.code.size());
    for (const Instruction& instruction : function_.code) {
      ForEachOperand(function_, instruction, [&](const Operand& operand) {
        if (operand.role == Role::kLabel) {
          is_target_[static_cast<std::size_t>(operand.value)] = true;
        }
      });
    }
  }

  // Brings `state_` to a target. False: it adds nothing to what came before.
  bool Arrive(std::size_t target) {
    State& kept = kept_[target];
    if (kept.empty()) {
      kept = state_;
      return true;
    }
    bool grew = false;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const auto both = static_cast<Facts>(kept[i] | state_[i]);
      grew = grew || both != kept[i];
      kept[i] = both;
    }
    return grew;
  }
  void Queue(std::size_t target) {
    if (is_waiting_[target]) return;
    is_waiting_[target] = true;
    waiting_.push_back(target);
  }

  // Runs on from `at` with `state_` until the path ends or has been walked.
  Status FollowFrom(std::size_t at) {
    for (bool first = true;; ++at, first = false) {
      if (is_target_[at] && (!first || kept_[at].empty())) {
        if (!Arrive(at)) return {};
        state_ = kept_[at];
      }
      RunInstruction(at);
      if (!message_.empty()) return std::unexpected(ErrorAt(at));
      const OpcodeInfo& info = InfoOf(function_.code[at].opcode);
      ForEachOperand(
          function_, function_.code[at], [&](const Operand& operand) {
            if (operand.role != Role::kLabel) return;
            const auto target = static_cast<std::size_t>(operand.value);
            if (Arrive(target)) Queue(target);
          });
      if ((info.traits & kTerminator) != 0) return {};
    }
  }

  Error ErrorAt(std::size_t at) {
    return {ErrorCode::kInvalidFile, message_,
            "function " + module_.string(function_.name) + ", instruction " +
                std::to_string(at) + " (" +
                std::string(InfoOf(function_.code[at].opcode).mnemonic) + ")"};
  }

  void RunInstruction(std::size_t at) {
    const Instruction& instruction = function_.code[at];
    fills_.clear();
    std::size_t result_count = 0;
    ForEachOperand(function_, instruction, [&](const Operand& operand) {
      if (operand.role == Role::kFunctionRef) {
        callee_ = &module_.functions[static_cast<std::size_t>(operand.value)];
      }
      // A result that is not wanted takes a place all the same.
      const bool is_entry = operand.kind != OperandKind::kCount;
      const std::size_t place = result_count;
      if (operand.Fills() && is_entry) ++result_count;
      if (operand.kind != OperandKind::kHold) return;
      const auto hold = static_cast<std::size_t>(operand.value);
      if (operand.Fills()) {
        fills_.emplace_back(hold, place);
      } else if (operand.Kills()) {
        Kill(hold, KilledKind(instruction.opcode));
      } else if (operand.Empties()) {
        source_ = state_[hold];
        Move(hold);
      } else {
        source_ = state_[hold];
        Read(hold);
      }
    });
    for (const auto& [hold, place] : fills_) {
      Fill(hold, Made(instruction.opcode, place));
    }
    if (instruction.opcode == Opcode::kReturn) Leave();
  }

  void Say(std::size_t hold, const std::string& what) {
    if (!message_.empty()) return;
    message_ = "register " + std::to_string(hold) + " " + what;
  }
  // "", or what tells that it is so on some paths only.
  std::string OnSomePath(std::size_t hold) const {
    return (state_[hold] & kHeld) != 0 ? " on some path" : "";
  }
  void Read(std::size_t hold) {
    if ((state_[hold] & kMayBeEmpty) != 0) {
      Say(hold, "is read after its kill or move" + OnSomePath(hold));
    }
  }
  void Move(std::size_t hold) {
    if ((state_[hold] & kMayBeEmpty) != 0) {
      Say(hold, "is moved after its kill or move" + OnSomePath(hold));
    }
    if ((state_[hold] & kMayBeBorrowed) != 0) {
      Say(hold, "is moved but is borrowed");
    }
    state_[hold] = kMayBeEmpty;
  }
  void Kill(std::size_t hold, Facts kind) {
    if ((state_[hold] & kMayBeEmpty) != 0) {
      Say(hold, "is killed a second time" + OnSomePath(hold));
    }
    if ((state_[hold] & kMayBeBorrowed) != 0) {
      Say(hold, "is killed but is borrowed");
    }
    if ((state_[hold] & kKinds & ~(kind | kAnyKind)) != 0) {
      Say(hold, std::string("holds ") + KindName(state_[hold]) +
                    ", the kill is for " + KindName(kind));
    }
    state_[hold] = kMayBeEmpty;
  }
  void Fill(std::size_t hold, Facts made) {
    if ((state_[hold] & kHeld) != 0) {
      Say(hold, std::string("is filled while it still holds ") +
                    KindName(state_[hold]) +
                    ((state_[hold] & kMayBeEmpty) != 0 ? " on some path" : ""));
    }
    state_[hold] = made;
  }
  void Leave() {
    for (std::size_t i = 0; i < state_.size(); ++i) {
      if ((state_[i] & kMayBeOwned) == 0) continue;
      Say(i, std::string("still holds ") + KindName(state_[i]) +
                 ((state_[i] & kMayBeEmpty) != 0 ? " on some path" : ""));
    }
  }

  // What the result at a place of the list is. `source_` is the state that
  // the value it works on had.
  Facts Made(Opcode opcode, std::size_t place) const {
    switch (opcode) {
      case Opcode::kAllocStorage:
        return kMayBeOwned | kStorage;
      case Opcode::kAllocTensor:
      case Opcode::kView:
      case Opcode::kOpAlloc:
        return kMayBeOwned | kTensor;
      case Opcode::kConstant:
        return kMayBeConstant | kTensor;
      case Opcode::kMakeClosure:
      case Opcode::kMakeTuple:
      case Opcode::kMakeSequence:
      case Opcode::kMakeOptional:
      case Opcode::kSequenceInsert:
      case Opcode::kSequenceErase:
        return kMayBeOwned | kObject;
      case Opcode::kCallExternal:
      case Opcode::kCallClosure:
      case Opcode::kGetField:
        return kMayBeOwned | kAnyKind;
      case Opcode::kCall:
        return static_cast<Facts>(
            kMayBeOwned |
            KindOf(module_.types[callee_->results[place].type.index()]));
      case Opcode::kShare:
      case Opcode::kMove:
        // A second hold on a borrowed value is the function's own.
        return static_cast<Facts>(
            (source_ & (kKinds | kMayBeConstant | kMayBeOwned)) |
            ((source_ & kMayBeBorrowed) != 0 ? kMayBeOwned : 0));
      case Opcode::kJump:
      case Opcode::kBranchIfZero:
      case Opcode::kReturn:
      case Opcode::kIntMove:
      case Opcode::kIntAdd:
      case Opcode::kIntSub:
      case Opcode::kIntMul:
      case Opcode::kIntFloorDiv:
      case Opcode::kIntCeilDiv:
      case Opcode::kIntMod:
      case Opcode::kIntMin:
      case Opcode::kIntMax:
      case Opcode::kIntLess:
      case Opcode::kDimOf:
      case Opcode::kLoadInt:
      case Opcode::kStoreInts:
      case Opcode::kScratchBytes:
      case Opcode::kAssertEqual:
      case Opcode::kAssertRange:
      case Opcode::kAssertTensor:
      case Opcode::kLengthOf:
      case Opcode::kKillTensor:
      case Opcode::kKillStorage:
      case Opcode::kKillObject:
      case Opcode::kOp:
        break;
    }
    return kMayBeOwned | kAnyKind;
  }

  const Module& module_;
  const Function& function_;
  std::vector<bool> is_target_;
  std::vector<State> kept_;  // At targets that a path has reached.
  std::vector<std::size_t> waiting_;
  std::vector<bool> is_waiting_;
  State state_;
  // Of the current instruction: registers filled and the place in its list.
  std::vector<std::pair<std::size_t, std::size_t>> fills_;
  const Function* callee_ = nullptr;
  Facts source_ = 0;
  std::string message_;
};

}  // namespace

Status CheckLifetimes(const Module& module) {
  for (const Function& function : module.functions) {
    RETURN_IF_ERROR(FunctionChecker(module, function).Run());
  }
  return {};
}

}  // namespace ebb::bytecode
