// Packing and unpacking by blocking.
#include "vm/kernels/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "bytecode/shape_rules/geometry.h"

namespace ebb::kernels {
namespace {

std::vector<int32_t> Iota(int64_t n) {
  std::vector<int32_t> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<int32_t>(i + 1));
  return values;
}

std::vector<int32_t> Pack(const Packing& packing, const Dims& dims,
                          const std::vector<int32_t>& plain) {
  EXPECT_TRUE(CheckPacking(packing, dims).has_value());
  std::vector<int32_t> packed(*PackedBytes(packing, dims, 4) / 4, -1);
  PackConstant(packing, dims, 4, plain.data(), packed.data());
  return packed;
}

TEST(PackingTest, OrderAloneTransposes) {
  EXPECT_EQ(Pack({.outer_order = {1, 0}}, {2, 3}, Iota(6)),
            (std::vector<int32_t>{1, 4, 2, 5, 3, 6}));
}

TEST(PackingTest, BlocksArePaddedWithZeros) {
  // Rows in pairs: [outer 2][column 2][row of the pair 2].
  EXPECT_EQ(Pack({.outer_order = {0, 1}, .blocks = {{0, 2}}}, {3, 2}, Iota(6)),
            (std::vector<int32_t>{1, 3, 2, 4, 5, 0, 6, 0}));
}

TEST(PackingTest, TwoBlocksOfOneDimAreTwoDigits) {
  // The blocking of int8 products: 2@K 2@N 2@K of a 4 x 2 matrix.
  EXPECT_EQ(Pack({.outer_order = {1, 0}, .blocks = {{0, 2}, {1, 2}, {0, 2}}},
                 {4, 2}, Iota(8)),
            (std::vector<int32_t>{1, 3, 2, 4, 5, 7, 6, 8}));
}

TEST(PackingTest, UnpackingIsTheInverse) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    Dims dims(random() % 5);
    Packing packing;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      dims[d] = static_cast<int64_t>(random() % 6);
      packing.outer_order.push_back(static_cast<int32_t>(d));
    }
    std::ranges::shuffle(packing.outer_order, random);
    for (std::size_t b = dims.empty() ? 0 : random() % 4; b > 0; --b) {
      packing.blocks.push_back({static_cast<int32_t>(random() % dims.size()),
                                static_cast<int32_t>(1 + random() % 5)});
    }
    const int64_t count = *ElementCount(dims);
    for (const int64_t bytes : {1, 2, 4, 8, 16}) {
      std::vector<std::byte> plain(count * bytes), back(count * bytes);
      for (std::byte& byte : plain) byte = static_cast<std::byte>(random());
      std::vector<std::byte> packed(*PackedBytes(packing, dims, bytes));
      ASSERT_GE(packed.size(), plain.size());
      PackConstant(packing, dims, bytes, plain.data(), packed.data());
      UnpackConstant(packing, dims, bytes, packed.data(), back.data());
      EXPECT_EQ(plain, back);
    }
  }
}

TEST(PackingTest, HostilePackingsAreRefused) {
  const Dims dims = {4, 5};
  const auto message = [&](const Packing& packing) {
    const Status status = CheckPacking(packing, dims);
    return status.has_value() ? "" : status.error().message;
  };
  EXPECT_EQ(message({.outer_order = {0}}),
            "packing: order of 1 dims for a tensor of rank 2");
  EXPECT_EQ(message({.outer_order = {0, 0}}),
            "packing: dim 0 in the order is out of range or stands twice, "
            "rank 2");
  EXPECT_EQ(message({.outer_order = {0, 1}, .blocks = {{2, 8}}}),
            "packing: block of 8 at dim 2 does not fit rank 2");
  EXPECT_EQ(message({.outer_order = {0, 1}, .blocks = {{1, 0}}}),
            "packing: block of 0 at dim 1 does not fit rank 2");
  const Packing::Block huge{0, 2147483647};
  EXPECT_EQ(message({.outer_order = {0, 1}, .blocks = {huge, huge, huge}}),
            "packing: the padded dims hold more elements than 64 bits can "
            "count");
}

}  // namespace
}  // namespace ebb::kernels
