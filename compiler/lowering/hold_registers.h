// Assigns hold registers: the lowest free one is taken, and is free again once
// its value is killed or moved away. Where two paths meet, a register is free
// only if it is free on both: what one path still holds is not rewritten.
#ifndef EBB_COMPILER_LOWERING_HOLD_REGISTERS_H_
#define EBB_COMPILER_LOWERING_HOLD_REGISTERS_H_

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

namespace ebb::lowering {

class HoldRegisters {
 public:
  // What is held at one place; compares and copies in the size of it.
  struct State {
    std::set<int64_t> free;  // Below `count`.
    int64_t count = 0;       // Registers from here on were never used.
  };

  int64_t Take() {
    if (state_.free.empty()) return state_.count++;
    return state_.free.extract(state_.free.begin()).value();
  }
  // Takes a certain one, unless it is taken already.
  void TakeThis(int64_t hold) {
    assert(hold < state_.count);
    state_.free.erase(hold);
  }
  void Release(int64_t hold) {
    assert(hold < state_.count);
    [[maybe_unused]] const bool fresh = state_.free.insert(hold).second;
    assert(fresh);
  }
  bool IsFree(int64_t hold) const {
    return hold >= state_.count || state_.free.contains(hold);
  }

  const State& state() const { return state_; }
  void Restore(State state) { state_ = std::move(state); }

  // The state after two paths, this one and `other`, have met.
  void Meet(const State& other) {
    State met;
    met.count = std::max(state_.count, other.count);
    for (int64_t hold = 0; hold < met.count; ++hold) {
      const auto free_in = [hold](const State& s) {
        return hold >= s.count || s.free.contains(hold);
      };
      if (free_in(state_) && free_in(other)) met.free.insert(hold);
    }
    state_ = std::move(met);
  }

 private:
  State state_;
};

}  // namespace ebb::lowering

#endif  // EBB_COMPILER_LOWERING_HOLD_REGISTERS_H_
