// The idea: forward data flow over basic blocks, in reverse postorder. Of each
// hold register the state says "may hold something" and "may be empty"; of each
// integer register "may be unwritten". Where paths meet the bits are or-ed, so
// states only grow, and an operation that is wrong in a state is wrong in every
// larger one: the first error found is an error of the result.
#include "bytecode/flow_verifier.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/code_verifier.h"
#include "bytecode/operand_visitor.h"

namespace ebb::bytecode {
namespace {

constexpr uint32_t kNoBlock = 0xffffffff;

class Bits {
 public:
  Bits() = default;
  explicit Bits(std::size_t count) : words_((count + 63) / 64) {}

  bool Has(std::size_t i) const {
    return ((words_[i / 64] >> (i % 64)) & 1) != 0;
  }
  void Set(std::size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void Clear(std::size_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  bool empty() const { return words_.empty(); }
  // True when bits were added.
  bool Merge(const Bits& other) {
    uint64_t added = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      added |= other.words_[i] & ~words_[i];
      words_[i] |= other.words_[i];
    }
    return added != 0;
  }

 private:
  std::vector<uint64_t> words_;
};

struct Block {
  std::size_t begin = 0;  // Instructions.
  std::size_t end = 0;
  uint32_t next[2] = {kNoBlock, kNoBlock};
  Bits entry;  // Empty until a path reaches it.
  bool dirty = false;
};

class FlowVerifier {
 public:
  FlowVerifier(const Module& module, const Function& function)
      : module_(module),
        function_(function),
        holds_(function.hold_register_count),
        bit_count_(2 * holds_ + function.int_register_count) {}

  Status Run() {
    FindBlocks();
    // One block more than there is a block: the state that is worked on.
    if (bit_count_ != 0 && (blocks_.size() + 1) > kMaxFlowBits / bit_count_) {
      return Fail(ErrorCode::kLimit,
                  std::to_string(blocks_.size()) + " blocks and " +
                      std::to_string(holds_ + function_.int_register_count) +
                      " registers are too many to verify",
                  "function " + module_.string(function_.name));
    }
    FindOrder();
    blocks_[0].entry = EntryState();
    blocks_[0].dirty = true;
    for (int round = 0; round < kMaxFlowRounds; ++round) {
      bool changed = false;
      for (const uint32_t index : order_) {
        if (!std::exchange(blocks_[index].dirty, false)) continue;
        changed = true;
        RETURN_IF_ERROR(RunBlock(blocks_[index]));
      }
      if (!changed) return {};
    }
    return Fail(ErrorCode::kLimit,
                "jumps are too tangled to verify in " +
                    std::to_string(kMaxFlowRounds) + " rounds",
                "function " + module_.string(function_.name));
  }

 private:
  std::size_t MayHold(int64_t hold) const {
    return static_cast<std::size_t>(hold);
  }
  std::size_t MayBeEmpty(int64_t hold) const {
    return holds_ + static_cast<std::size_t>(hold);
  }
  std::size_t MayBeUnwritten(int64_t integer) const {
    return 2 * holds_ + static_cast<std::size_t>(integer);
  }

  Bits EntryState() const {
    // One bit at the least: an empty set stands for "not reached".
    Bits state(bit_count_ + 1);
    for (std::size_t i = 0; i < holds_; ++i) {
      state.Set(i < function_.params.size() ? i : holds_ + i);
    }
    for (std::size_t i = 2 * holds_; i < bit_count_; ++i) state.Set(i);
    return state;
  }

  template <class Visitor>
  void ForEachLabel(std::size_t instruction, Visitor visit) const {
    ForEachOperand(function_, function_.code[instruction],
                   [&](const Operand& operand) {
                     if (operand.role == Role::kLabel) {
                       visit(static_cast<std::size_t>(operand.value));
                     }
                   });
  }

  bool MayJump(std::size_t instruction) const {
    return (InfoOf(function_.code[instruction].opcode).traits &
            (kTerminator | kControl)) != 0;
  }

  void FindBlocks() {
    const std::size_t count = function_.code.size();
    std::vector<bool> is_leader(count + 1);
    is_leader[0] = true;
    for (std::size_t i = 0; i < count; ++i) {
      if (!MayJump(i)) continue;
      bool jumps = (InfoOf(function_.code[i].opcode).traits & kTerminator) != 0;
      ForEachLabel(i, [&](std::size_t target) {
        is_leader[target] = true;
        jumps = true;
      });
      // Calls come back to the next instruction and end no block.
      if (jumps) is_leader[i + 1] = true;
    }
    std::vector<uint32_t> block_of(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (is_leader[i]) blocks_.push_back({.begin = i});
      blocks_.back().end = i + 1;
      block_of[i] = static_cast<uint32_t>(blocks_.size() - 1);
    }
    for (Block& block : blocks_) {
      const std::size_t last = block.end - 1;
      const uint32_t traits = InfoOf(function_.code[last].opcode).traits;
      if ((traits & kTerminator) == 0) block.next[0] = block_of[block.end];
      if (!MayJump(last)) continue;
      ForEachLabel(
          last, [&](std::size_t target) { block.next[1] = block_of[target]; });
    }
  }

  // Reverse postorder of the blocks that can be reached.
  void FindOrder() {
    std::vector<bool> seen(blocks_.size());
    std::vector<std::pair<uint32_t, int>> stack = {{0, 0}};
    seen[0] = true;
    while (!stack.empty()) {
      auto& [block, edge] = stack.back();
      if (edge == 2) {
        order_.push_back(block);
        stack.pop_back();
        continue;
      }
      const uint32_t next = blocks_[block].next[edge++];
      if (next == kNoBlock || seen[next]) continue;
      seen[next] = true;
      stack.emplace_back(next, 0);
    }
    std::reverse(order_.begin(), order_.end());
  }

  Status RunBlock(const Block& block) {
    state_ = block.entry;
    for (std::size_t i = block.begin; i < block.end; ++i) {
      RunInstruction(function_.code[i]);
      if (!message_.empty()) {
        return Fail(ErrorCode::kInvalidFile, message_,
                    WhereInCode(module_, function_, i));
      }
    }
    for (const uint32_t next : block.next) {
      if (next == kNoBlock) continue;
      Block& successor = blocks_[next];
      if (successor.entry.empty()) {
        successor.entry = state_;
        successor.dirty = true;
      } else if (successor.entry.Merge(state_)) {
        successor.dirty = true;
      }
    }
    return {};
  }

  void RunInstruction(const Instruction& instruction) {
    filled_.clear();
    int64_t written = -1;
    ForEachOperand(function_, instruction, [&](const Operand& operand) {
      if (operand.kind == OperandKind::kDefInt) {
        written = operand.value;
      } else if (operand.kind == OperandKind::kInt && operand.is_register) {
        CheckWritten(operand.value);
      } else if (operand.kind == OperandKind::kHold) {
        if (operand.Fills()) {
          filled_.push_back(operand.value);
        } else {
          CheckHeld(operand.value);
          if (operand.Empties()) SetHeld(operand.value, false);
        }
      }
    });
    // Last: a result may take the register of a value that was moved.
    for (const int64_t hold : filled_) {
      CheckEmpty(hold);
      SetHeld(hold, true);
    }
    if (written >= 0) state_.Clear(MayBeUnwritten(written));
  }

  void SetHeld(int64_t hold, bool held) {
    state_.Set(held ? MayHold(hold) : MayBeEmpty(hold));
    state_.Clear(held ? MayBeEmpty(hold) : MayHold(hold));
  }
  void CheckHeld(int64_t hold) {
    if (!state_.Has(MayBeEmpty(hold))) return;
    Say(hold, state_.Has(MayHold(hold))
                  ? "may hold nothing: the paths that lead here differ"
                  : "holds nothing");
  }
  void CheckEmpty(int64_t hold) {
    if (!state_.Has(MayHold(hold))) return;
    Say(hold, state_.Has(MayBeEmpty(hold))
                  ? "may hold a value: the paths that lead here differ"
                  : "already holds a value");
  }
  void CheckWritten(int64_t integer) {
    if (!state_.Has(MayBeUnwritten(integer)) || !message_.empty()) return;
    message_ = "integer register " + std::to_string(integer) +
               " is read before it is written";
  }
  void Say(int64_t hold, const char* what) {
    if (!message_.empty()) return;
    message_ = "register " + std::to_string(hold) + " " + what;
  }

  const Module& module_;
  const Function& function_;
  const std::size_t holds_;
  const std::size_t bit_count_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> order_;
  Bits state_;  // While a block is run.
  std::vector<int64_t> filled_;
  std::string message_;
};

}  // namespace

Status VerifyFlow(const Module& module, const Function& function) {
  return FlowVerifier(module, function).Run();
}

}  // namespace ebb::bytecode
