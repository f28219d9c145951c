// The pool against a model: random requests, of which a plain list knows what
// is live, how large it is and what was written into it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "allocator/pool.h"

namespace ebb::allocator {
namespace {

struct Buffer {
  unsigned char* memory;
  std::size_t bytes;
  unsigned char pattern;
};

class Model {
 public:
  Model(Pool& pool, uint32_t seed, uint64_t limit)
      : pool_(pool), random_(seed), limit_bytes_(limit) {}

  void Step() {
    const auto choice = random_() % 100;
    if (choice < 50) {
      Allocate();
    } else if (choice < 97) {
      FreeOne(random_() % std::max<std::size_t>(1, live_.size()));
    } else if (choice == 97) {
      pool_.Trim();
    } else if (choice == 98) {
      pool_.Tick();
    } else {
      pool_.ResetHighWater();
      live_mark_ = live_bytes_;
      requested_mark_ = requested_bytes_;
    }
  }

  void FreeAll() {
    while (!live_.empty()) FreeOne(0);
  }

  void CheckCounters() const {
    const Stats stats = pool_.stats();
    EXPECT_EQ(stats.live_bytes, live_bytes_);
    EXPECT_EQ(stats.requested_bytes, requested_bytes_);
    EXPECT_EQ(stats.live_high_water, live_mark_);
    EXPECT_EQ(stats.requested_high_water, requested_mark_);
    EXPECT_EQ(stats.live_block_count, live_.size());
    EXPECT_EQ(stats.allocate_count, allocate_count_);
    EXPECT_EQ(stats.free_count, allocate_count_ - live_.size());
    EXPECT_EQ(stats.failed_count, failed_count_);
    EXPECT_EQ(stats.reserved_bytes, stats.live_bytes + stats.cached_bytes);
    EXPECT_GE(stats.reserved_high_water, stats.reserved_bytes);
    if (limit_bytes_ != 0) {
      EXPECT_LE(stats.reserved_high_water, limit_bytes_);
    }
    EXPECT_TRUE(pool_.CheckInvariants());
  }

 private:
  void Allocate() {
    const double exponent =
        std::uniform_real_distribution<double>(0, 19)(random_);
    const auto bytes = static_cast<std::size_t>(std::exp2(exponent));
    auto* memory = static_cast<unsigned char*>(pool_.Allocate(bytes));
    if (memory == nullptr) {
      ASSERT_NE(limit_bytes_, 0u);
      ++failed_count_;
      return;
    }
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
    const auto above = by_address_.lower_bound(memory);
    if (above != by_address_.end()) {
      ASSERT_LE(memory + bytes, above->first);
    }
    if (above != by_address_.begin()) {
      const auto below = std::prev(above);
      ASSERT_LE(below->first + below->second, memory);
    }
    by_address_[memory] = bytes;
    const auto pattern = static_cast<unsigned char>(random_());
    std::memset(memory, pattern, bytes);
    live_.push_back({memory, bytes, pattern});
    ++allocate_count_;
    live_bytes_ += (bytes + 63) / 64 * 64;
    requested_bytes_ += bytes;
    live_mark_ = std::max(live_mark_, live_bytes_);
    requested_mark_ = std::max(requested_mark_, requested_bytes_);
  }

  void FreeOne(std::size_t index) {
    if (live_.empty()) return;
    const Buffer buffer = live_[index];
    const bool is_kept =
        std::all_of(buffer.memory, buffer.memory + buffer.bytes,
                    [&](unsigned char byte) { return byte == buffer.pattern; });
    EXPECT_TRUE(is_kept) << "contents changed while live";
    pool_.Free(buffer.memory, buffer.bytes);
    by_address_.erase(buffer.memory);
    live_[index] = live_.back();
    live_.pop_back();
    live_bytes_ -= (buffer.bytes + 63) / 64 * 64;
    requested_bytes_ -= buffer.bytes;
  }

  Pool& pool_;
  std::mt19937 random_;
  const uint64_t limit_bytes_;
  std::vector<Buffer> live_;
  std::map<unsigned char*, std::size_t> by_address_;
  uint64_t live_bytes_ = 0;
  uint64_t requested_bytes_ = 0;
  uint64_t live_mark_ = 0;
  uint64_t requested_mark_ = 0;
  uint64_t allocate_count_ = 0;
  uint64_t failed_count_ = 0;
};

enum class On { kRange, kChunks };

class PoolProperty : public testing::TestWithParam<std::tuple<On, uint64_t>> {};

TEST_P(PoolProperty, AgreesWithTheModel) {
  const auto [on, limit] = GetParam();
  MmapBacking pages;
  MallocBacking blocks;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    Backing& backing = on == On::kRange ? static_cast<Backing&>(pages) : blocks;
    Pool pool(backing, {.limit_bytes = limit, .tick_free_count = 200});
    Model model(pool, seed, limit);
    for (int step = 0; step < 2000; ++step) {
      model.Step();
      if (HasFatalFailure()) return;
      if (step % 16 == 0) model.CheckCounters();
    }
    model.FreeAll();
    model.CheckCounters();
    pool.Trim();
    EXPECT_EQ(pool.stats().reserved_bytes, 0u);
  }
}

std::string NameOf(
    const testing::TestParamInfo<std::tuple<On, uint64_t>>& parameter) {
  const auto [on, limit] = parameter.param;
  return std::string(on == On::kRange ? "Range" : "Chunks") +
         std::to_string(limit);
}

INSTANTIATE_TEST_SUITE_P(
    Backings, PoolProperty,
    testing::Combine(testing::Values(On::kRange, On::kChunks),
                     testing::Values(0, 300'000, 2'000'000)),
    NameOf);

}  // namespace
}  // namespace ebb::allocator
