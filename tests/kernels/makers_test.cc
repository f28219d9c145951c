// Shape, Size, Full and Range.
#include <optional>
#include <utility>

#include "tests/kernels/operator_case.h"

namespace ebb::kernels {
namespace {

TEST(MakersTest, ShapeIsCutByStartAndEnd) {
  const Numbers x{DType::kU8, {2, 3, 4}, std::vector<Number>(24, 1)};
  const auto shape = [&](std::optional<int64_t> start,
                         std::optional<int64_t> end) {
    Attributes attributes;
    if (start.has_value()) attributes.Set("start", *start);
    if (end.has_value()) attributes.Set("end", *end);
    return Evaluate({.code = OperatorCode::kShape,
                     .attributes = attributes,
                     .inputs = {x}})[0];
  };
  ExpectNear(shape({}, {}), {2, 3, 4}, 0, "shape");
  ExpectNear(shape(1, {}), {3, 4}, 0, "shape");
  ExpectNear(shape(-2, -1), {3}, 0, "shape");
  ExpectNear(shape(2, 1), {}, 0, "shape");
}

TEST(MakersTest, Size) {
  for (const auto& [dims, count] :
       {std::pair<Dims, int64_t>{{}, 1}, {{3, 0}, 0}, {{3, 5}, 15}}) {
    const Numbers x{DType::kF16, dims, std::vector<Number>(count, 0)};
    ExpectNear(Evaluate({.code = OperatorCode::kSize, .inputs = {x}})[0],
               {static_cast<Number>(count)}, 0, "size");
  }
}

TEST(MakersTest, FullRepeatsAnyDType) {
  for (const DType dtype : AllDTypes()) {
    const Numbers value = Data(dtype, {1}, {1});
    for (const std::vector<Number>& shape :
         {std::vector<Number>{}, {0, 2}, {3, 7}, {200, 100}}) {
      const Numbers y = Evaluate(
          {.code = OperatorCode::kFull, .inputs = {List(shape), value}})[0];
      EXPECT_EQ(y.dims, (Dims(shape.begin(), shape.end())));
      ExpectNear(y, std::vector<Number>(y.values.size(), 1), 0, "full");
    }
  }
}

TEST(MakersTest, RangeUpAndDown) {
  for (const DType dtype : {DType::kI16, DType::kI32, DType::kI64, DType::kF32,
                            DType::kF64, DType::kF16, DType::kBF16}) {
    const auto range = [&](Number start, Number limit, Number delta) {
      return Evaluate(
          {.code = OperatorCode::kRange,
           .inputs = {Data(dtype, {}, {start}), Data(dtype, {}, {limit}),
                      Data(dtype, {}, {delta})}})[0];
    };
    ExpectNear(range(1, 8, 3), {1, 4, 7}, 0, "range");
    ExpectNear(range(3, -2, -2), {3, 1, -1}, 0, "range");
    ExpectNear(range(3, 3, 1), {}, 0, "range");
    const Number limit = RoundTo(dtype, 20000);
    const Numbers y = range(0, limit, 1);
    std::vector<Number> expected;
    for (Number i = 0; i < limit; ++i) expected.push_back(i);
    ExpectNear(y, expected, 0, "long range");
    if (IsFloat(dtype)) {
      ExpectNear(range(0.5L, 2, 0.5L), {0.5L, 1, 1.5L}, 0, "range");
    }
  }
}

}  // namespace
}  // namespace ebb::kernels
