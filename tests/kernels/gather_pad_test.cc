// Gather and Pad, against index arithmetic.
#include <algorithm>

#include "tests/kernels/movement_case.h"

namespace ebb::kernels {
namespace {

TEST(GatherTest, RandomIndices) {
  std::mt19937 random(6);
  for (const DType dtype : kSizes) {
    for (int i = 0; i < 16; ++i) {
      Dims dims = RandomDims(random, 4);
      if (i == 0) dims = {50, 1000};
      if (dims.empty()) dims = {4};
      const std::size_t axis = i == 0 ? 0 : random() % dims.size();
      if (dims[axis] == 0) dims[axis] = 2;
      Numbers indices{random() % 2 == 0 ? DType::kI64 : DType::kI32,
                      RandomDims(random, 2),
                      {}};
      ForEachIndex(indices.dims, [&](int64_t, std::span<const int64_t>) {
        indices.values.push_back(static_cast<Number>(
            static_cast<int64_t>(random() % (2 * dims[axis])) - dims[axis]));
      });
      const Numbers x = Counted(dtype, dims);
      const Numbers y = Evaluate(
          {.code = OperatorCode::kGather,
           .attributes = IntAttribute("axis", static_cast<int64_t>(axis)),
           .inputs = {x, indices}})[0];
      const std::size_t index_rank = indices.dims.size();
      ExpectMapped(
          y, x,
          [&](std::span<const int64_t> index) {
            Dims from(index.begin(), index.begin() + axis);
            auto at = static_cast<int64_t>(
                At(indices, indices.dims, index.subspan(axis, index_rank)));
            from.push_back(at < 0 ? at + dims[axis] : at);
            from.insert(from.end(), index.begin() + axis + index_rank,
                        index.end());
            return from;
          },
          "gather");
    }
  }
}

TEST(GatherTest, IndicesOutOfRangeAreReported) {
  const Numbers x = Data(DType::kF32, {3}, {1, 2, 3});
  for (const Number bad : {3.0L, -4.0L, 9223372036854775807.0L}) {
    const auto result =
        TryEvaluate({.code = OperatorCode::kGather,
                     .attributes = IntAttribute("axis", 0),
                     .inputs = {x, Data(DType::kI64, {2}, {0, bad})}});
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::kOutOfRange);
  }
}

// Source index on one axis, worked out from the definition; -1: the constant.
int64_t PadSource(const std::string& mode, int64_t size, int64_t at) {
  if (at >= 0 && at < size) return at;
  if (mode == "constant") return -1;
  if (mode == "edge") return at < 0 ? 0 : size - 1;
  if (mode == "wrap") return ((at % size) + size) % size;
  while (at < 0 || at >= size) {
    if (size == 1) return 0;
    at = at < 0 ? -at : 2 * (size - 1) - at;
  }
  return at;
}

TEST(PadTest, AllModes) {
  std::mt19937 random(7);
  for (const std::string mode : {"constant", "edge", "reflect", "wrap"}) {
    Attributes attributes;
    attributes.Set("mode", mode);
    for (const DType dtype : kSizes) {
      for (int i = 0; i < 16; ++i) {
        Dims dims = RandomDims(random, 4);
        std::vector<Number> begins, ends;
        Dims starts, sizes;
        for (int64_t& dim : dims) {
          if (mode != "constant" && dim == 0) dim = 1;
          const bool crop = dim > 2 && random() % 4 == 0;
          const int64_t begin = crop ? -1 : static_cast<int64_t>(random() % 4);
          const int64_t end = static_cast<int64_t>(random() % 4);
          begins.push_back(static_cast<Number>(begin));
          ends.push_back(static_cast<Number>(end));
          starts.push_back(begin);
          sizes.push_back(crop ? dim - 1 : dim);
        }
        std::vector<Number> pads = begins;
        pads.insert(pads.end(), ends.begin(), ends.end());
        const Numbers x = Counted(dtype, dims);
        const bool has_value = random() % 2 == 0;
        const Numbers value = has_value ? Data(dtype, {}, {7}) : Numbers{};
        const Numbers y = Evaluate({.code = OperatorCode::kPad,
                                    .attributes = attributes,
                                    .inputs = {x, List(pads), value}})[0];
        std::vector<Number> expected;
        const Dims strides = DenseStrides(dims);
        ForEachIndex(y.dims, [&](int64_t, std::span<const int64_t> index) {
          int64_t offset = 0;
          for (std::size_t d = 0; d < dims.size(); ++d) {
            const int64_t crop = starts[d] < 0 ? -starts[d] : 0;
            const int64_t at = PadSource(
                mode, sizes[d], index[d] - std::max<int64_t>(starts[d], 0));
            offset =
                at < 0 || offset < 0 ? -1 : offset + (at + crop) * strides[d];
          }
          expected.push_back(offset >= 0 ? x.values[offset]
                             : has_value ? 7
                                         : 0);
        });
        ExpectNear(y, expected, 0, "pad " + mode);
      }
    }
  }
}

TEST(PadTest, AxesAreNamed) {
  const Numbers x = Data(DType::kF32, {1, 2}, {1, 2});
  const Numbers y = Evaluate({.code = OperatorCode::kPad,
                              .inputs = {x, List({1, 2}), {}, List({-1})}})[0];
  EXPECT_EQ(y.dims, (Dims{1, 5}));
  ExpectNear(y, {0, 1, 2, 0, 0}, 0, "pad");
}

}  // namespace
}  // namespace ebb::kernels
