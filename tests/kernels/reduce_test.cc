// Reductions and ArgMax over random shapes and axes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/kernels/operator_case.h"

namespace ebb::kernels {
namespace {

constexpr Number kNan = std::numeric_limits<Number>::quiet_NaN();
constexpr Number kInfinity = std::numeric_limits<Number>::infinity();

struct Site {
  OperatorCode code;
  Dims axes;
  bool has_axes = true;
  bool keepdims = true;
  bool noop = false;
};

std::vector<Numbers> Inputs(const Site& site, const Numbers& x) {
  if (!site.has_axes) return {x};
  return {x, List({site.axes.begin(), site.axes.end()})};
}

Numbers Reduce(const Site& site, const Numbers& x) {
  Attributes attributes;
  attributes.Set("keepdims", int64_t{site.keepdims});
  attributes.Set("noop_with_empty_axes", int64_t{site.noop});
  Number total = 0;
  for (const Number value : x.values) {
    if (std::isfinite(value)) total += std::fabs(value);
  }
  return Evaluate({.code = site.code,
                   .attributes = attributes,
                   .inputs = Inputs(site, x),
                   .layout_ulps = IsFloat(x.dtype) ? 1 : 0,
                   .layout_scale = total,
                   // It takes its time.
                   .reference = x.values.size() < 10000})[0];
}

uint32_t MaskOf(const Site& site, std::size_t rank) {
  if (site.axes.empty()) return site.noop ? 0 : (1U << rank) - 1;
  uint32_t mask = 0;
  for (const int64_t axis : site.axes) {
    mask |= 1U << (axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  }
  return mask;
}

// The elements that go into every output, in the order of the outputs.
std::vector<std::vector<Number>> Groups(const Numbers& x, uint32_t mask) {
  Dims kept;
  int64_t count = 1;
  for (std::size_t d = 0; d < x.dims.size(); ++d) {
    kept.push_back(((mask >> d) & 1U) != 0 ? 1 : x.dims[d]);
    count *= kept.back();
  }
  std::vector<std::vector<Number>> groups(count);
  ForEachIndex(x.dims, [&](int64_t i, std::span<const int64_t> index) {
    int64_t at = 0;
    for (std::size_t d = 0; d < kept.size(); ++d) {
      at = at * kept[d] + (kept[d] == 1 ? 0 : index[d]);
    }
    groups[at].push_back(x.values[i]);
  });
  return groups;
}

Number Wrapped(DType dtype, Number value) {
  return IsFloat(dtype) ? value : RoundTo(dtype, value);
}

Number ReduceGroup(const Site& site, DType dtype,
                   const std::vector<Number>& group) {
  Number sum = 0;
  for (const Number value : group) sum = Wrapped(dtype, sum + value);
  switch (site.code) {
    case OperatorCode::kReduceSum:
      return sum;
    case OperatorCode::kReduceMean:
      return group.empty() && !IsFloat(dtype)
                 ? 0
                 : sum / static_cast<Number>(group.size());
    case OperatorCode::kReduceMax:
      return *std::ranges::max_element(group);
    default:
      return *std::ranges::min_element(group);
  }
}

void Check(const Site& site, const Numbers& x) {
  const Numbers y = Reduce(site, x);
  const bool extreme = site.code == OperatorCode::kReduceMax ||
                       site.code == OperatorCode::kReduceMin;
  std::vector<Number> expected;
  Number scale = 0;
  for (const auto& group : Groups(x, MaskOf(site, x.dims.size()))) {
    if (extreme && group.empty()) return;
    expected.push_back(ReduceGroup(site, x.dtype, group));
    Number size = 0;
    for (const Number value : group) size += std::fabs(value);
    scale = std::max(scale, size);
  }
  if (site.code == OperatorCode::kReduceMean && !expected.empty()) {
    scale *= static_cast<Number>(expected.size());
    scale /= static_cast<Number>(std::max<std::size_t>(x.values.size(), 1));
  }
  ExpectNear(y, expected, IsFloat(x.dtype) ? 2 : 0,
             std::string(InfoOf(site.code).name), scale);
}

Dims RandomAxes(std::mt19937& random, int rank) {
  Dims axes;
  for (int64_t d = 0; d < rank; ++d) {
    if (random() % 2 == 0) axes.push_back(random() % 2 == 0 ? d : d - rank);
  }
  return axes;
}

constexpr OperatorCode kCodes[] = {
    OperatorCode::kReduceSum, OperatorCode::kReduceMean,
    OperatorCode::kReduceMax, OperatorCode::kReduceMin};

std::vector<DType> DTypesOf(OperatorCode code) {
  std::vector<DType> dtypes = {DType::kF32,  DType::kF64, DType::kF16,
                               DType::kBF16, DType::kI32, DType::kI64,
                               DType::kU32,  DType::kU64};
  if (code == OperatorCode::kReduceMax || code == OperatorCode::kReduceMin) {
    dtypes.insert(dtypes.end(), {DType::kI8, DType::kU8, DType::kBool});
  }
  return dtypes;
}

// u64 sums of the whole range do not fit a long double on the way.
Numbers Operands(DType dtype, const Dims& dims, std::mt19937& random) {
  Numbers x = Random(dtype, dims, random);
  if (DTypeBits(dtype) == 64 && !IsFloat(dtype)) {
    for (Number& value : x.values) {
      value = RoundTo(dtype, std::fmod(value, 1000));
    }
  }
  return x;
}

TEST(ReduceTest, RandomAxesOfAllDTypes) {
  std::mt19937 random(1);
  for (const OperatorCode code : kCodes) {
    for (const DType dtype : DTypesOf(code)) {
      for (int i = 0; i < 12; ++i) {
        const Dims dims = RandomDims(random, 5);
        const Numbers x = Operands(dtype, dims, random);
        Site site{.code = code};
        site.axes = RandomAxes(random, static_cast<int>(dims.size()));
        site.has_axes = !site.axes.empty() || random() % 2 == 0;
        site.keepdims = random() % 2 == 0;
        site.noop = random() % 2 == 0;
        Check(site, x);
      }
    }
  }
}

TEST(ReduceTest, LongRowsColumnsAndBoth) {
  std::mt19937 random(2);
  for (const OperatorCode code : kCodes) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kI64}) {
      std::vector<Dims> shapes = {{3, 1100}, {1100, 3}, {20, 300}};
      if (dtype == DType::kF32) {
        shapes.insert(shapes.end(), {{5000}, {2, 20, 1100}, {2, 40, 3, 50}});
      }
      for (const Dims& dims : shapes) {
        const Numbers x = Operands(dtype, dims, random);
        for (int64_t axis = 0; axis < static_cast<int64_t>(dims.size());
             ++axis) {
          Check({.code = code, .axes = {axis}}, x);
        }
        Check({.code = code, .axes = {}, .has_axes = false}, x);
        if (dims.size() == 4) Check({.code = code, .axes = {2, 3}}, x);
        if (dims.size() == 4) Check({.code = code, .axes = {0, 2}}, x);
      }
    }
  }
}

// A sum of f32 in one chain would stop growing at 2^24.
TEST(ReduceTest, SumsOfManyStayExact) {
  const int64_t n = 1 << 18;
  for (const bool columns : {false, true}) {
    Numbers x{DType::kF32, columns ? Dims{n, 2} : Dims{2, n},
              std::vector<Number>(2 * n, 1024.5L)};
    const Numbers y = Reduce({.code = OperatorCode::kReduceSum,
                              .axes = {columns ? 0 : 1},
                              .keepdims = false},
                             x);
    ExpectNear(y, std::vector<Number>(2, 1024.5L * n), 1, "long sum");
  }
}

TEST(ReduceTest, EmptyAxesGiveNeutralElements) {
  const Numbers x = Data(DType::kF32, {2, 0}, {});
  const auto reduce = [&](OperatorCode code, const Numbers& data) {
    return Reduce({.code = code, .axes = {1}, .keepdims = false}, data);
  };
  ExpectNear(reduce(OperatorCode::kReduceSum, x), {0, 0}, 0, "sum");
  ExpectNear(reduce(OperatorCode::kReduceMean, x), {kNan, kNan}, 0, "mean");
  ExpectNear(reduce(OperatorCode::kReduceMax, x), {-kInfinity, -kInfinity}, 0,
             "max");
  ExpectNear(reduce(OperatorCode::kReduceMin, x), {kInfinity, kInfinity}, 0,
             "min");
  const Numbers i = Data(DType::kI32, {1, 0}, {});
  ExpectNear(reduce(OperatorCode::kReduceMax, i), {-2147483648.0L}, 0, "max");
  ExpectNear(reduce(OperatorCode::kReduceMean, i), {0}, 0, "mean");
}

TEST(ReduceTest, ExtremesHandNansOn) {
  Numbers x{DType::kF32, {3, 50}, std::vector<Number>(150, 1)};
  x.values[60] = kNan;
  for (const OperatorCode code :
       {OperatorCode::kReduceMax, OperatorCode::kReduceMin}) {
    ExpectNear(Reduce({.code = code, .axes = {1}}, x), {1, kNan, 1}, 0, "rows");
    std::vector<Number> columns(50, 1);
    columns[10] = kNan;
    ExpectNear(Reduce({.code = code, .axes = {0}}, x), columns, 0, "columns");
  }
}

Number ArgMaxOf(const std::vector<Number>& group, bool last) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < group.size(); ++i) {
    if (group[i] > group[best] || (last && group[i] == group[best])) best = i;
  }
  return static_cast<Number>(best);
}

TEST(ArgMaxTest, RandomAxesOfAllDTypes) {
  std::mt19937 random(3);
  for (const DType dtype : NumericDTypes()) {
    for (int i = 0; i < 16; ++i) {
      Dims dims = RandomDims(random, 4);
      if (i == 0) dims = {3, 1500};
      if (i == 1) dims = {40, 1500};
      if (std::ranges::find(dims, 0) != dims.end()) continue;
      const int rank = static_cast<int>(dims.size());
      const int64_t axis =
          rank == 0 ? 0 : static_cast<int64_t>(random() % (2 * rank)) - rank;
      const bool last = random() % 2 == 0;
      const Numbers x = Random(dtype, dims, random);
      Attributes attributes;
      attributes.Set("axis", axis);
      attributes.Set("keepdims", int64_t{random() % 2 == 0});
      attributes.Set("select_last_index", int64_t{last});
      auto y = TryEvaluate({.code = OperatorCode::kArgMax,
                            .attributes = attributes,
                            .inputs = {x}});
      if (rank == 0 && !y.has_value()) continue;
      ASSERT_TRUE(y.has_value()) << y.error().ToString();
      const uint32_t mask =
          rank == 0 ? 0 : 1U << (axis < 0 ? axis + rank : axis);
      std::vector<Number> expected;
      for (const auto& group : Groups(x, mask)) {
        expected.push_back(ArgMaxOf(group, last));
      }
      ExpectNear((*y)[0], expected, 0, "ArgMax");
    }
  }
}

TEST(ArgMaxTest, TheFirstNanIsTheLargest) {
  const Numbers x = Data(DType::kF32, {2, 4}, {1, kNan, 9, kNan, 1, 2, 9, 9});
  for (const int64_t last : {0, 1}) {
    Attributes attributes;
    attributes.Set("axis", int64_t{1});
    attributes.Set("select_last_index", last);
    const Numbers y = Evaluate({.code = OperatorCode::kArgMax,
                                .attributes = attributes,
                                .inputs = {x}})[0];
    ExpectNear(
        y, last == 0 ? std::vector<Number>{1, 2} : std::vector<Number>{3, 3}, 0,
        "ArgMax");
  }
}

TEST(ArgMaxTest, AnEmptyAxisIsAnError) {
  Attributes attributes;
  attributes.Set("axis", int64_t{1});
  EXPECT_FALSE(TryEvaluate({.code = OperatorCode::kArgMax,
                            .attributes = attributes,
                            .inputs = {Data(DType::kF32, {2, 0}, {})}})
                   .has_value());
}

}  // namespace
}  // namespace ebb::kernels
