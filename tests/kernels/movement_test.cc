// The operators that move elements, against index arithmetic.
#include <algorithm>
#include <numeric>

#include "tests/kernels/movement_case.h"

namespace ebb::kernels {
namespace {

void CheckTranspose(const Numbers& x, const Dims& perm) {
  Attributes attributes;
  if (!perm.empty()) attributes.Set("perm", perm);
  const Numbers y = Evaluate({.code = OperatorCode::kTranspose,
                              .attributes = attributes,
                              .inputs = {x}})[0];
  Dims order = perm;
  if (order.empty()) {
    order.resize(x.dims.size());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  ExpectMapped(
      y, x,
      [&](std::span<const int64_t> index) {
        Dims from(index.size());
        for (std::size_t d = 0; d < order.size(); ++d) {
          from[order[d]] = index[d];
        }
        return from;
      },
      "transpose");
}

TEST(MovementTest, TransposeOfAnyPermutation) {
  std::mt19937 random(1);
  for (const DType dtype : kSizes) {
    for (int i = 0; i < 12; ++i) {
      const Dims dims = RandomDims(random, 5);
      Dims perm(dims.size());
      std::iota(perm.begin(), perm.end(), 0);
      std::ranges::shuffle(perm, random);
      CheckTranspose(Counted(dtype, dims), i == 0 ? Dims{} : perm);
    }
  }
}

// Sizes around those of the blocks, and both narrow sides.
TEST(MovementTest, TransposeOfMatrices) {
  for (const DType dtype : kSizes) {
    for (const Dims& dims :
         {Dims{1, 200, 300}, Dims{3, 128, 64}, Dims{2, 3, 1000}, Dims{1000, 3},
          Dims{17, 16}, Dims{65, 129}, Dims{2, 5}}) {
      Dims perm(dims.size());
      std::iota(perm.begin(), perm.end(), 0);
      std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
      CheckTranspose(Counted(dtype, dims), perm);
    }
  }
}

void CheckSameElements(OperatorCode code, const Attributes& attributes,
                       const std::vector<Numbers>& inputs, const Dims& dims) {
  const Numbers y =
      Evaluate({.code = code, .attributes = attributes, .inputs = inputs})[0];
  EXPECT_EQ(y.dims, dims);
  ExpectNear(y, inputs[0].values, 0, std::string(InfoOf(code).name));
}

TEST(MovementTest, OtherDimsForTheSameElements) {
  using enum OperatorCode;
  for (const DType dtype : kSizes) {
    const Numbers x = Counted(dtype, {2, 3, 4});
    CheckSameElements(kReshape, {}, {x, List({0, -1})}, {2, 12});
    CheckSameElements(kReshape, {}, {x, List({24})}, {24});
    CheckSameElements(kReshape, {}, {Counted(dtype, {}), List({1, 1})}, {1, 1});
    CheckSameElements(kFlatten, IntAttribute("axis", 2), {x}, {6, 4});
    CheckSameElements(kFlatten, IntAttribute("axis", -1), {x}, {6, 4});
    CheckSameElements(kUnsqueeze, {}, {x, List({0, -1})}, {1, 2, 3, 4, 1});
    CheckSameElements(kSqueeze, {}, {Counted(dtype, {1, 3, 1, 2}), List({-2})},
                      {1, 3, 2});
    CheckSameElements(kSqueeze, {}, {Counted(dtype, {1, 3, 1, 2})}, {3, 2});
    CheckSameElements(kIdentity, {}, {x}, {2, 3, 4});
    CheckSameElements(kIdentity, {}, {Counted(dtype, {2, 0})}, {2, 0});
    CheckSameElements(kIdentity, {}, {Counted(dtype, {40000})}, {40000});
  }
}

TEST(MovementTest, ExpandRepeatsDimsOfOne) {
  std::mt19937 random(2);
  for (const DType dtype : kSizes) {
    for (int i = 0; i < 10; ++i) {
      const Dims full = RandomDims(random, 4);
      Dims thin = full;
      for (int64_t& dim : thin) {
        if (random() % 2 == 0) dim = 1;
      }
      const Numbers x = Counted(dtype, thin);
      const Numbers y =
          Evaluate({.code = OperatorCode::kExpand,
                    .inputs = {x, List({full.begin(), full.end()})}})[0];
      EXPECT_EQ(y.dims, full);
      std::vector<Number> expected;
      ForEachIndex(y.dims, [&](int64_t, std::span<const int64_t> index) {
        expected.push_back(At(x, y.dims, index));
      });
      ExpectNear(y, expected, 0, "expand");
    }
    const Numbers y =
        Evaluate({.code = OperatorCode::kExpand,
                  .inputs = {Counted(dtype, {3, 1}), List({2, 1, 700})}})[0];
    EXPECT_EQ(y.dims, (Dims{2, 3, 700}));
  }
}

TEST(MovementTest, TileRepeatsTheWhole) {
  std::mt19937 random(3);
  for (const DType dtype : kSizes) {
    for (int i = 0; i < 10; ++i) {
      const Dims dims = RandomDims(random, 4);
      std::vector<Number> repeats;
      for (std::size_t d = 0; d < dims.size(); ++d) {
        repeats.push_back(static_cast<Number>(random() % 4));
      }
      const Numbers x = Counted(dtype, dims);
      const Numbers y = Evaluate(
          {.code = OperatorCode::kTile, .inputs = {x, List(repeats)}})[0];
      ExpectMapped(
          y, x,
          [&](std::span<const int64_t> index) {
            Dims from(index.begin(), index.end());
            for (std::size_t d = 0; d < from.size(); ++d) from[d] %= dims[d];
            return from;
          },
          "tile");
    }
  }
}

TEST(MovementTest, SliceWithAnySteps) {
  std::mt19937 random(4);
  for (const DType dtype : kSizes) {
    for (int i = 0; i < 30; ++i) {
      const Dims dims = RandomDims(random, 4, 9);
      std::vector<Number> starts, ends, axes, steps;
      for (std::size_t d = 0; d < dims.size(); ++d) {
        if (random() % 4 == 0) continue;
        const auto any = [&] {
          return static_cast<Number>(static_cast<int64_t>(random() % 30) - 15);
        };
        const int64_t step = static_cast<int64_t>(random() % 7) - 3;
        starts.push_back(any());
        ends.push_back(any());
        axes.push_back(static_cast<Number>(d));
        steps.push_back(static_cast<Number>(step == 0 ? 1 : step));
      }
      const Numbers x = Counted(dtype, dims);
      const Numbers y = Evaluate({.code = OperatorCode::kSlice,
                                  .inputs = {x, List(starts), List(ends),
                                             List(axes), List(steps)}})[0];
      ExpectMapped(
          y, x,
          [&](std::span<const int64_t> index) {
            Dims from(index.begin(), index.end());
            for (std::size_t a = 0; a < axes.size(); ++a) {
              const auto d = static_cast<std::size_t>(axes[a]);
              const auto step = static_cast<int64_t>(steps[a]);
              auto start = static_cast<int64_t>(starts[a]);
              if (start < 0) start += dims[d];
              start = std::clamp<int64_t>(start, 0,
                                          step < 0 ? dims[d] - 1 : dims[d]);
              from[d] = start + index[d] * step;
            }
            return from;
          },
          "slice");
    }
  }
}

TEST(MovementTest, SliceStepsThatOverflow) {
  const Number huge = 9223372036854775807.0L;
  const Numbers x = Data(DType::kI32, {4}, {1, 2, 3, 4});
  ExpectNear(Evaluate({.code = OperatorCode::kSlice,
                       .inputs = {x, List({1}), List({huge}), List({0}),
                                  List({huge})}})[0],
             {2}, 0, "slice");
  ExpectNear(Evaluate({.code = OperatorCode::kSlice,
                       .inputs = {x, List({huge}), List({-huge - 1}), List({0}),
                                  List({-2})}})[0],
             {4, 2}, 0, "slice");
}

TEST(MovementTest, ConcatAndSplitAreInverse) {
  std::mt19937 random(5);
  for (const DType dtype : kSizes) {
    for (int i = 0; i < 12; ++i) {
      Dims dims = RandomDims(random, 4);
      if (dims.empty()) dims = {3};
      const std::size_t axis = random() % dims.size();
      const auto rank = static_cast<int64_t>(dims.size());
      const Attributes attributes =
          IntAttribute("axis", static_cast<int64_t>(axis) - rank);
      std::vector<Numbers> parts;
      std::vector<Number> sizes;
      for (int part = 0; part < 3; ++part) {
        dims[axis] = static_cast<int64_t>(random() % 4);
        sizes.push_back(static_cast<Number>(dims[axis]));
        parts.push_back(Random(dtype, dims, random));
      }
      const Numbers whole = Evaluate({.code = OperatorCode::kConcat,
                                      .attributes = attributes,
                                      .inputs = parts})[0];
      const std::vector<Numbers> back =
          Evaluate({.code = OperatorCode::kSplit,
                    .attributes = attributes,
                    .inputs = {whole, List(sizes)},
                    .outputs = 3,
                    .absent_outputs = i % 2 == 0 ? 2U : 0U});
      for (std::size_t part = 0; part < 3; ++part) {
        if (back[part].dtype == DType::kInvalid) continue;
        EXPECT_EQ(back[part].dims, parts[part].dims);
        ExpectNear(back[part], parts[part].values, 0, "split");
      }
    }
  }
}

TEST(MovementTest, SplitWithoutSizes) {
  const std::vector<Numbers> parts =
      Evaluate({.code = OperatorCode::kSplit,
                .inputs = {Data(DType::kI8, {5}, {1, 2, 3, 4, 5})},
                .outputs = 3});
  ExpectNear(parts[0], {1, 2}, 0, "first");
  ExpectNear(parts[1], {3, 4}, 0, "second");
  ExpectNear(parts[2], {5}, 0, "third");
}

TEST(MovementTest, TypesOfLessThanAByteHaveNoKernel) {
  const auto prepared = [] {
    const int64_t dims[] = {2};
    const int64_t strides[] = {1};
    const Operand operands[] = {{.kind = OperandKind::kTensor,
                                 .dtype = DType::kI4,
                                 .dims = dims,
                                 .strides = strides}};
    const Attributes none;
    return Prepare(Request{.info = InfoOf(OperatorCode::kTranspose),
                           .attributes = none,
                           .inputs = operands,
                           .outputs = operands});
  }();
  ASSERT_FALSE(prepared.has_value());
  EXPECT_EQ(prepared.error().message,
            "transpose: no kernel for dtypes (i4) -> (i4)");
}

}  // namespace
}  // namespace ebb::kernels
