// The oneDNN kernels: which operands they take, packed constants, slices, and
// agreement with the portable kernels.
#include <gtest/gtest.h>

#include "bytecode/shape_rules/geometry.h"
#include "tests/kernels/conv_case.h"
#ifdef EBB_HAVE_ONEDNN
#include <sys/mman.h>

#include <cstring>

#include "vm/kernels/onednn/onednn.h"
#include "vm/kernels/packing.h"

namespace ebb::kernels {
namespace {

const std::vector<int> kLast = {0, 2, 3, 1};

Operand OperandOf(const TestTensor& tensor) {
  Operand operand{.kind = OperandKind::kTensor,
                  .dtype = tensor.dtype,
                  .dims = tensor.dims,
                  .strides = tensor.strides};
  if (tensor.packing.has_value()) {
    operand.constant_data = tensor.data();
    operand.packing = &*tensor.packing;
  }
  return operand;
}

// Calls f with a request for the operator over inputs and output.
template <class F>
auto WithRequest(const TestCase& test, const TestTensor& output, F f) {
  std::vector<Operand> inputs;
  for (const TestTensor& input : test.inputs) {
    inputs.push_back(OperandOf(input));
  }
  const std::vector<Operand> outputs = {OperandOf(output)};
  return f(Request{.info = InfoOf(test.code),
                   .attributes = test.attributes,
                   .inputs = inputs,
                   .outputs = outputs,
                   .backend = Backend::kOneDnn,
                   .threads = test.threads});
}

bool IsTaken(const TestCase& test, const TestTensor& output) {
  return WithRequest(test, output, [&](const Request& request) {
    return OneDnnKernel(test.code)->prepare(request).has_value();
  });
}

std::optional<Packing> Wanted(const TestCase& test, const TestTensor& output) {
  return WithRequest(test, output, [](const Request& request) {
    return OneDnnWantedPacking(request, 1);
  });
}

const ConvCase kConvs[] = {
    {.x = {1, 16, 28, 30}, .w = {24, 16, 3, 3}, .pads = {1, 1, 1, 1}},
    {.x = {1, 64, 20, 21},
     .w = {32, 64, 3, 3},
     .strides = {2, 2},
     .pads = {1, 1, 1, 1}},
    {.x = {1, 3, 33, 35},
     .w = {16, 3, 5, 5},
     .strides = {2, 2},
     .auto_pad = "SAME_UPPER"},
    {.x = {2, 32, 24, 24}, .w = {48, 32, 1, 1}},
    {.x = {1, 40, 17, 19},
     .w = {40, 1, 3, 3},
     .pads = {1, 1, 1, 1},
     .group = 40},
    {.x = {1, 32, 19, 18},
     .w = {32, 1, 5, 5},
     .strides = {2, 2},
     .pads = {2, 2, 2, 2},
     .group = 32},
    {.x = {1, 16, 22, 22},
     .w = {16, 16, 3, 3},
     .pads = {2, 2, 2, 2},
     .dilations = {2, 2}},
    {.x = {1, 16, 1, 400}, .w = {32, 16, 1, 3}, .pads = {0, 1, 0, 1}},
    {.x = {1, 20, 30, 31},
     .w = {16, 20, 2, 2},
     .strides = {3, 3},
     .pads = {1, 0, 0, 0}},
};

TEST(OneDnnConv, ChannelsLastWithPackedWeightsIsTakenAndRight) {
  for (const ConvCase& c : kConvs) {
    SCOPED_TRACE(ConvText(c));
    const TestTensor x = RandomTensor(DType::kF32, c.x, 1);
    const TestTensor w = RandomTensor(DType::kF32, c.w, 2);
    const TestTensor bias = RandomTensor(DType::kF32, {c.w[0]}, 3);
    const std::vector<double> expected = NaiveConv(c, x, w, bias, false);
    TestCase test{.code = OperatorCode::kConv,
                  .attributes = ConvAttributes(c),
                  .inputs = {Relaid(x, kLast), w, bias},
                  .backend = Backend::kOneDnn,
                  .output_order = kLast};
    const TestTensor y = RunCase(test)[0];
    const std::optional<Packing> wanted = Wanted(test, y);
    ASSERT_TRUE(wanted.has_value());
    ASSERT_TRUE(CheckPacking(*wanted, w.dims).has_value());
    test.inputs[1] = Packed(w, *wanted);
    for (const int threads : {1, 2, 3}) {
      test.threads = threads;
      EXPECT_TRUE(IsTaken(test, y));
      EXPECT_LE(Difference(RunCase(test)[0], expected),
                Tolerance(DType::kF32, ConvDepth(c)))
          << "threads " << threads;
    }
    // Another blocking than the wanted one is turned over in scratch.
    test.inputs[1] = Packed(w, {.outer_order = {3, 1, 0, 2}, .blocks = {}});
    EXPECT_TRUE(IsTaken(test, y));
    EXPECT_LE(Difference(RunCase(test)[0], expected),
              Tolerance(DType::kF32, ConvDepth(c)));
  }
}

TEST(OneDnnConv, OneSpatialAxisAndPackedWeights) {
  const ConvCase c{.x = {1, 16, 300}, .w = {32, 16, 5}, .pads = {2, 2}};
  const TestTensor x = RandomTensor(DType::kF32, c.x, 1);
  const TestTensor w = RandomTensor(DType::kF32, c.w, 2);
  TestCase test{.code = OperatorCode::kConv,
                .attributes = ConvAttributes(c),
                .inputs = {Relaid(x, {0, 2, 1}), w},
                .backend = Backend::kOneDnn,
                .output_order = {0, 2, 1}};
  const TestTensor y = RunCase(test)[0];
  const std::optional<Packing> wanted = Wanted(test, y);
  ASSERT_TRUE(wanted.has_value());
  test.inputs[1] = Packed(w, *wanted);
  EXPECT_TRUE(IsTaken(test, y));
  EXPECT_LE(Difference(RunCase(test)[0], NaiveConv(c, x, w, {}, false)),
            Tolerance(DType::kF32, ConvDepth(c)));
}

TEST(OneDnnConv, PlainTensorsAreTakenWhereThatPays) {
  struct Plain {
    ConvCase c;
    bool taken;
  };
  const Plain cases[] = {
      {{.x = {1, 32, 20, 20}, .w = {48, 32, 1, 1}}, true},
      {{.x = {1, 64, 7, 7}, .w = {96, 64, 3, 3}, .pads = {1, 1, 1, 1}}, true},
      {{.x = {1, 64, 40, 40}, .w = {64, 64, 3, 3}}, false},
      {{.x = {1, 16, 9, 9}, .w = {16, 1, 3, 3}, .group = 16}, false},
  };
  for (const auto& [c, taken] : cases) {
    SCOPED_TRACE(ConvText(c));
    const TestTensor x = RandomTensor(DType::kF32, c.x, 1);
    const TestTensor w = RandomTensor(DType::kF32, c.w, 2);
    const TestTensor bias = RandomTensor(DType::kF32, {c.w[0]}, 3);
    TestCase test{.code = OperatorCode::kConv,
                  .attributes = ConvAttributes(c),
                  .inputs = {x, w, bias},
                  .backend = Backend::kOneDnn};
    for (const int threads : {1, 2}) {
      test.threads = threads;
      const TestTensor y = RunCase(test)[0];
      EXPECT_EQ(IsTaken(test, y), taken);
      EXPECT_FALSE(Wanted(test, y).has_value());
      EXPECT_LE(Difference(y, NaiveConv(c, x, w, bias, false)),
                Tolerance(DType::kF32, ConvDepth(c)));
    }
  }
}

std::vector<double> PortableValues(TestCase test, const TestTensor& plain) {
  test.inputs[1] = plain;
  test.backend = Backend::kPortable;
  test.threads = 1;
  return Values(RunCase(test)[0]);
}

TEST(OneDnnMatMul, PackedWeightsServeAnyNumberOfRowsAndThreads) {
  const TestTensor b = RandomTensor(DType::kF32, {200, 300}, 2);
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{1, 200},
                                           {2, 200},
                                           {130, 200},
                                           {3, 50, 200},
                                           {200}}) {
    SCOPED_TRACE(DimsText(dims));
    TestCase test{.code = OperatorCode::kMatMul,
                  .inputs = {RandomTensor(DType::kF32, dims, 1), b},
                  .backend = Backend::kOneDnn};
    const TestTensor y = RunCase(test)[0];
    const std::optional<Packing> wanted = Wanted(test, y);
    ASSERT_TRUE(wanted.has_value());
    test.inputs[1] = Packed(b, *wanted);
    const std::vector<double> expected = PortableValues(test, b);
    for (const int threads : {1, 2, 3}) {
      test.threads = threads;
      EXPECT_TRUE(IsTaken(test, y));
      EXPECT_LE(Difference(RunCase(test)[0], expected),
                Tolerance(DType::kF32, 200));
    }
  }
}

TEST(OneDnnMatMul, PlainOperandsByRowsAndByColumns) {
  const TestTensor a = RandomTensor(DType::kF32, {2, 64, 70}, 1);
  const TestTensor b = RandomTensor(DType::kF32, {2, 70, 80}, 2);
  for (const std::vector<int>& order : {std::vector{0, 1, 2}, {0, 2, 1}}) {
    TestCase test{.code = OperatorCode::kMatMul,
                  .inputs = {a, Relaid(b, order)},
                  .backend = Backend::kOneDnn};
    const std::vector<double> expected = PortableValues(test, b);
    for (const int threads : {1, 3}) {
      test.threads = threads;
      const TestTensor y = RunCase(test)[0];
      EXPECT_TRUE(IsTaken(test, y));
      EXPECT_LE(Difference(y, expected), Tolerance(DType::kF32, 70));
    }
  }
}

TEST(OneDnnGemm, TransposedPackedWeightsWithBias) {
  for (const int64_t trans_b : {0, 1}) {
    for (const int64_t rows : {1, 9}) {
      const TestTensor b =
          RandomTensor(DType::kF32,
                       trans_b != 0 ? std::vector<int64_t>{190, 120}
                                    : std::vector<int64_t>{120, 190},
                       2);
      TestCase test{.code = OperatorCode::kGemm,
                    .inputs = {RandomTensor(DType::kF32, {rows, 120}, 1), b,
                               RandomTensor(DType::kF32, {190}, 3)},
                    .backend = Backend::kOneDnn};
      test.attributes.Set("transB", trans_b);
      const TestTensor y = RunCase(test)[0];
      const std::optional<Packing> wanted = Wanted(test, y);
      ASSERT_TRUE(wanted.has_value());
      test.inputs[1] = Packed(b, *wanted);
      const std::vector<double> expected = PortableValues(test, b);
      for (const int threads : {1, 2}) {
        test.threads = threads;
        EXPECT_TRUE(IsTaken(test, y));
        EXPECT_LE(Difference(RunCase(test)[0], expected),
                  Tolerance(DType::kF32, 120));
      }
    }
  }
}

TEST(OneDnnPacking, ANarrowMatrixStaysPlain) {
  const TestCase test{.code = OperatorCode::kMatMul,
                      .inputs = {RandomTensor(DType::kF32, {8, 500}, 1),
                                 RandomTensor(DType::kF32, {500, 3}, 2)}};
  EXPECT_FALSE(Wanted(test, RunCase(test)[0]).has_value());
}

TEST(OneDnnPacking, ConstantsAreOnlyRead) {
  // Constants lie in a read-only map of the file; dims that are padded would
  // tempt a library to write the zeros itself.
  const ConvCase c{.x = {1, 16, 20, 20}, .w = {24, 16, 3, 3}};
  const TestTensor x = Relaid(RandomTensor(DType::kF32, c.x, 1), kLast);
  const TestTensor w = RandomTensor(DType::kF32, c.w, 2);
  TestCase test{.code = OperatorCode::kConv,
                .attributes = ConvAttributes(c),
                .inputs = {x, w},
                .backend = Backend::kOneDnn,
                .output_order = kLast};
  TestTensor y = RunCase(test)[0];
  const TestTensor packed = Packed(w, *Wanted(test, y));
  ASSERT_GT(packed.bytes.size(), w.bytes.size());
  void* map = mmap(nullptr, packed.bytes.size(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(map, MAP_FAILED);
  std::memcpy(map, packed.bytes.data(), packed.bytes.size());
  ASSERT_EQ(mprotect(map, packed.bytes.size(), PROT_READ), 0);
  Operand weights = OperandOf(packed);
  weights.constant_data = map;
  const std::vector<Operand> inputs = {OperandOf(x), weights};
  const std::vector<Operand> outputs = {OperandOf(y)};
  const auto prepared = OneDnnKernel(OperatorCode::kConv)
                            ->prepare({.info = InfoOf(OperatorCode::kConv),
                                       .attributes = test.attributes,
                                       .inputs = inputs,
                                       .outputs = outputs,
                                       .backend = Backend::kOneDnn});
  ASSERT_TRUE(prepared.has_value());
  std::vector<std::byte> scratch((*prepared)->scratch_bytes() + 64);
  const auto address = reinterpret_cast<uintptr_t>(scratch.data());
  const void* const in[] = {x.data(), map};
  void* const out[] = {y.data()};
  const RunStatus status =
      RunAll(**prepared, in, out, scratch.data() + (64 - address % 64) % 64);
  EXPECT_TRUE(status.ok());
  munmap(map, packed.bytes.size());
  EXPECT_EQ(Values(y), Values(RunCase(test)[0]));
}

}  // namespace
}  // namespace ebb::kernels
#endif  // EBB_HAVE_ONEDNN
