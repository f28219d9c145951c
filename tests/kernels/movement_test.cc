// The operators that move elements, against index arithmetic.
#include <algorithm>
#include <functional>
#include <numeric>

#include "tests/kernels/operator_case.h"

namespace ebb::kernels {
namespace {

// One dtype of every size of element.
const std::vector<DType> kSizes = {DType::kU8, DType::kF16, DType::kF32,
                                   DType::kI64};

Attributes IntAttribute(std::string_view name, int64_t value) {
  Attributes attributes;
  attributes.Set(name, value);
  return attributes;
}

Numbers Counted(DType dtype, const Dims& dims) {
  Numbers x{dtype, dims, {}};
  ForEachIndex(dims, [&](int64_t i, std::span<const int64_t>) {
    x.values.push_back(RoundTo(dtype, static_cast<Number>(i % 251)));
  });
  return x;
}

// Every output element is the input element that `map` names.
void ExpectMapped(const Numbers& y, const Numbers& x,
                  const std::function<Dims(std::span<const int64_t>)>& map,
                  const std::string& what) {
  std::vector<Number> expected;
  const Dims strides = DenseStrides(x.dims);
  ForEachIndex(y.dims, [&](int64_t, std::span<const int64_t> index) {
    const Dims from = map(index);
    expected.push_back(x.values[std::inner_product(
        from.begin(), from.end(), strides.begin(), int64_t{0})]);
  });
  ExpectNear(y, expected, 0, what);
}

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
