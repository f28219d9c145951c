// Operands that no compiler writes but a file may hold: whatever the inputs,
// attributes and contents are, a rule answers with an error or with dims that
// fit. The sanitizers watch the arithmetic.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "bytecode/shape_rules/geometry.h"
#include "bytecode/shape_rules/rule.h"
#include "bytecode/shape_rules/window.h"

namespace ebb {
namespace {

class Generator {
 public:
  explicit Generator(uint64_t seed) : rng_(seed) {}

  int64_t Below(int64_t n) {
    return std::uniform_int_distribution<int64_t>(0, n - 1)(rng_);
  }
  // Mostly small, now and then at an end of int64.
  int64_t Number() {
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    constexpr std::array<int64_t, 8> kExtremes = {
        kMax,    -kMax - 1,         kMax - 1,
        -kMax,   int64_t{1} << 32,  -(int64_t{1} << 32),
        1 << 20, (int64_t{1} << 62)};
    if (Below(8) == 0) return kExtremes[static_cast<std::size_t>(Below(8))];
    return Below(9) - 3;
  }
  std::vector<int64_t> Numbers() {
    std::vector<int64_t> list(static_cast<std::size_t>(Below(5)));
    for (int64_t& number : list) number = Number();
    return list;
  }
  DType Type() {
    constexpr std::array<DType, 6> kTypes = {DType::kF32,  DType::kF32,
                                             DType::kF32,  DType::kI64,
                                             DType::kBool, DType::kString};
    return kTypes[static_cast<std::size_t>(Below(6))];
  }
  Shaped<int64_t> Operand(bool value) {
    Shaped<int64_t> operand{
        .dtype = value ? DType::kI64 : Type(), .ranked = true, .dims = {}};
    if (Below(20) == 0) return {};
    for (int64_t i = Below(value ? 2 : 6); i > 0; --i) {
      operand.dims.push_back(Below(4) == 0 ? Number() : 1 + Below(3));
    }
    return operand;
  }
  AttributeValue Value(const AttributeInfo& info) {
    switch (info.kind) {
      case AttributeKind::kInt:
        return Number();
      case AttributeKind::kFloat:
        return static_cast<float>(Number());
      case AttributeKind::kString:
        return std::string(Below(2) == 0 ? info.default_text : "SAME_UPPER");
      case AttributeKind::kInts:
        return Numbers();
      case AttributeKind::kFloats:
        return std::vector<float>{1};
      default:
        return std::vector<std::string>{"a"};
    }
  }

 private:
  std::mt19937_64 rng_;
};

void CheckOutputDims(const OperatorInfo& info,
                     const std::vector<Shaped<int64_t>>& outputs) {
  for (const Shaped<int64_t>& output : outputs) {
    EXPECT_FALSE(output.absent()) << info.name;
    EXPECT_LE(output.rank(), kMaxRank) << info.name;
    Dims known;
    for (const int64_t dim : output.dims) {
      EXPECT_GE(dim, -1) << info.name;
      if (dim >= 0) known.push_back(dim);
    }
    EXPECT_TRUE(ElementCount(known).has_value()) << info.name;
  }
}

TEST(ShapeRules, AnswerToAnythingWithAnErrorOrWithDimsThatFit) {
  Generator generator(1);
  int64_t accepted = 0;
  for (const OperatorInfo& info : AllOperators()) {
    for (int round = 0; round < 400; ++round) {
      Attributes attributes;
      for (const AttributeInfo& attribute : info.attributes) {
        if (generator.Below(2) == 0 || attribute.required) {
          attributes.Set(attribute.name, generator.Value(attribute));
        }
      }
      std::vector<Shaped<int64_t>> inputs;
      std::vector<std::optional<Contents<int64_t>>> contents;
      const int64_t most = std::min(info.max_inputs, 5);
      const int64_t count =
          info.min_inputs + generator.Below(most - info.min_inputs + 1);
      for (int64_t i = 0; i < count; ++i) {
        const bool value = info.ReadsValue(static_cast<std::size_t>(i)) &&
                           info.code != OperatorCode::kResize;
        inputs.push_back(generator.Operand(value));
        contents.emplace_back();
        if (!value || generator.Below(8) == 0) continue;
        contents.back().emplace().ints = generator.Numbers();
        contents.back()->floats = {0.5, 1e30};
      }
      std::vector<Shaped<int64_t>> outputs(static_cast<std::size_t>(
          1 + generator.Below(std::min(info.max_outputs, 3))));
      IntArith arith;
      RuleContext<IntArith> context{arith,  info,     attributes,
                                    inputs, contents, outputs};
      const Status status = InferShapes(context);
      if (status.has_value()) {
        ++accepted;
        CheckOutputDims(info, outputs);
      } else {
        EXPECT_FALSE(status.error().message.empty());
      }
    }
  }
  // The generator has to reach beyond the first checks.
  EXPECT_GT(accepted, 1000);
}

TEST(WindowGeometry, AnswersToAnything) {
  Generator generator(2);
  const OperatorInfo& info = InfoOf(OperatorCode::kConvTranspose);
  int64_t accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    Attributes attributes;
    for (const AttributeInfo& attribute : info.attributes) {
      if (generator.Below(4) == 0) {
        attributes.Set(attribute.name, generator.Value(attribute));
      }
    }
    const int64_t size = 1 + generator.Below(9);
    const Dims x = {1, 2, size, 5};
    const Dims w = {2, 2, 1 + generator.Below(3), 2};
    for (const bool transposed : {false, true}) {
      const auto g = transposed ? ConvTransposeGeometry(attributes, x, w)
                                : ConvGeometry(attributes, x, w);
      if (!g.has_value()) continue;
      ++accepted;
      for (const WindowAxis& axis : g->axes) {
        EXPECT_GE(axis.output, 0);
        EXPECT_GE(axis.pad_begin, 0);
        EXPECT_GE(axis.pad_end, 0);
        EXPECT_GT(axis.kernel, 0);
      }
    }
  }
  EXPECT_GT(accepted, 500);
}

}  // namespace
}  // namespace ebb
