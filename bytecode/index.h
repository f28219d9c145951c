// Strong ids: 32-bit indexes into a vector that cannot be mixed up with each
// other. `using ValueId = Id<struct ValueTag>;` The default value is "none".
#ifndef EBB_BYTECODE_INDEX_H_
#define EBB_BYTECODE_INDEX_H_

#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace ebb {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t index)
      : index_(static_cast<uint32_t>(index)) {
    assert(index < kNone);
  }
  constexpr bool valid() const { return index_ != kNone; }
  constexpr uint32_t index() const { return index_; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  uint32_t index_ = kNone;
};

}  // namespace ebb

template <class Tag>
struct std::hash<ebb::Id<Tag>> {
  std::size_t operator()(ebb::Id<Tag> id) const noexcept {
    return std::hash<uint32_t>()(id.index());
  }
};

#endif  // EBB_BYTECODE_INDEX_H_
