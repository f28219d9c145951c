#include "tests/kernels/gemm_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "bytecode/half.h"
#include "bytecode/shape_rules/geometry.h"
#include "bytecode/shape_rules/rule.h"
#include "tests/reference/reference.h"
#include "vm/kernels/packing.h"

namespace ebb::kernels {
namespace {

int64_t BytesOf(DType dtype) { return DTypeBits(dtype) / 8; }

// Calls f(element index in storage) in row-major order of the dims.
template <class F>
void ForEachElement(const TestTensor& tensor, F f) {
  const int64_t count = *ElementCount(tensor.dims);
  std::vector<int64_t> index(tensor.dims.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = tensor.first;
    for (std::size_t d = 0; d < index.size(); ++d) {
      offset += index[d] * tensor.strides[d];
    }
    f(offset);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < tensor.dims[d]) break;
      index[d] = 0;
    }
  }
}

// Row-major index of storage to dims laid out in `order`.
std::vector<int64_t> StridesInOrder(const std::vector<int64_t>& dims,
                                    const std::vector<int>& order,
                                    int64_t gap) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = gap;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= std::max<int64_t>(dims[order[i]], 1) * gap;
  }
  return strides;
}

TestTensor Empty(DType dtype, std::vector<int64_t> dims,
                 std::vector<int64_t> strides) {
  TestTensor tensor{.dtype = dtype,
                    .dims = std::move(dims),
                    .strides = std::move(strides),
                    .bytes = {},
                    .packing = {}};
  int64_t last = 0;
  for (std::size_t d = 0; d < tensor.dims.size(); ++d) {
    if (tensor.dims[d] == 0) return tensor;
    last += (tensor.dims[d] - 1) * tensor.strides[d];
  }
  tensor.bytes.assign((last + 1) * BytesOf(dtype), std::byte{0x5a});
  return tensor;
}

struct Lists {
  std::vector<int64_t> ints;
  std::vector<double> floats;
};

}  // namespace

const void* TestTensor::data() const {
  return bytes.data() + first * BytesOf(dtype);
}
void* TestTensor::data() { return bytes.data() + first * BytesOf(dtype); }

double ElementAsDouble(DType dtype, const void* data, int64_t index) {
  const auto at = [&]<class T>(T) {
    return static_cast<const T*>(data)[index];
  };
  switch (dtype) {
    case DType::kF32:
      return at(float{});
    case DType::kF64:
      return at(double{});
    case DType::kF16:
      return F16ToF32(at(uint16_t{}));
    case DType::kBF16:
      return BF16ToF32(at(uint16_t{}));
    case DType::kI8:
      return at(int8_t{});
    case DType::kU8:
    case DType::kBool:
      return at(uint8_t{});
    case DType::kI16:
      return at(int16_t{});
    case DType::kU16:
      return at(uint16_t{});
    case DType::kI32:
      return at(int32_t{});
    case DType::kU32:
      return at(uint32_t{});
    case DType::kI64:
      return static_cast<double>(at(int64_t{}));
    case DType::kU64:
      return static_cast<double>(at(uint64_t{}));
    default:
      ADD_FAILURE() << "dtype " << DTypeName(dtype);
      return 0;
  }
}

void SetElement(DType dtype, void* data, int64_t index, double value) {
  const auto set = [&]<class T>(T x) { static_cast<T*>(data)[index] = x; };
  switch (dtype) {
    case DType::kF32:
      return set(static_cast<float>(value));
    case DType::kF64:
      return set(value);
    case DType::kF16:
      return set(F64ToF16(value));
    case DType::kBF16:
      return set(F64ToBF16(value));
    case DType::kI8:
      return set(static_cast<int8_t>(value));
    case DType::kU8:
    case DType::kBool:
      return set(static_cast<uint8_t>(value));
    case DType::kI16:
      return set(static_cast<int16_t>(value));
    case DType::kU16:
      return set(static_cast<uint16_t>(value));
    case DType::kI32:
      return set(static_cast<int32_t>(value));
    case DType::kU32:
      return set(static_cast<uint32_t>(value));
    case DType::kI64:
      return set(static_cast<int64_t>(value));
    case DType::kU64:
      return set(static_cast<uint64_t>(value));
    default:
      ADD_FAILURE() << "dtype " << DTypeName(dtype);
  }
}

std::vector<double> Values(const TestTensor& tensor) {
  std::vector<double> values;
  ForEachElement(tensor, [&](int64_t offset) {
    values.push_back(
        ElementAsDouble(tensor.dtype, tensor.bytes.data(), offset));
  });
  return values;
}

TestTensor MakeTensor(DType dtype, std::vector<int64_t> dims,
                      const std::vector<double>& values) {
  std::vector<int64_t> strides = DenseStrides(dims);
  TestTensor tensor = Empty(dtype, std::move(dims), std::move(strides));
  EXPECT_EQ(*ElementCount(tensor.dims), static_cast<int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    SetElement(dtype, tensor.bytes.data(), static_cast<int64_t>(i), values[i]);
  }
  return tensor;
}

TestTensor RandomTensor(DType dtype, std::vector<int64_t> dims, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<double> values(*ElementCount(dims));
  for (double& value : values) {
    const auto bits = static_cast<uint32_t>(engine() >> 8);
    if (IsFloat(dtype)) {
      value = (static_cast<double>(bits % 256) - 128) / 64;
    } else if (IsUnsignedInteger(dtype)) {
      value = bits % 256;
    } else {
      value = static_cast<double>(bits % 256) - 128;
    }
  }
  return MakeTensor(dtype, std::move(dims), values);
}

TestTensor Relaid(const TestTensor& tensor, const std::vector<int>& order,
                  int64_t gap) {
  TestTensor result =
      Empty(tensor.dtype, tensor.dims, StridesInOrder(tensor.dims, order, gap));
  const std::vector<double> values = Values(tensor);
  std::size_t i = 0;
  ForEachElement(result, [&](int64_t offset) {
    SetElement(result.dtype, result.bytes.data(), offset, values[i++]);
  });
  return result;
}

TestTensor Packed(const TestTensor& tensor, const Packing& packing) {
  TestTensor result = tensor;
  result.packing = packing;
  const int64_t bytes = BytesOf(tensor.dtype);
  result.bytes.resize(*PackedBytes(packing, tensor.dims, bytes));
  PackConstant(packing, tensor.dims, bytes, tensor.bytes.data(),
               result.bytes.data());
  return result;
}

Expected<std::vector<TestTensor>> TryCase(const TestCase& test) {
  const OperatorInfo& info = InfoOf(test.code);
  std::vector<Shaped<int64_t>> shapes;
  std::vector<std::optional<Contents<int64_t>>> contents;
  std::vector<Lists> lists(test.inputs.size());
  for (std::size_t i = 0; i < test.inputs.size(); ++i) {
    const TestTensor& input = test.inputs[i];
    shapes.push_back({.dtype = input.dtype, .dims = input.dims});
    contents.emplace_back();
    if (input.dtype == DType::kInvalid || !info.ReadsValue(i)) continue;
    for (const double value : Values(input)) {
      lists[i].floats.push_back(value);
      if (IsFloat(input.dtype)) continue;
      lists[i].ints.push_back(static_cast<int64_t>(value));
    }
    if (!IsFloat(input.dtype)) lists[i].floats.clear();
    contents.back() = {.ints = lists[i].ints, .floats = lists[i].floats};
  }
  IntArith arith;
  std::vector<Shaped<int64_t>> out_shapes(test.outputs);
  RuleContext<IntArith> rule{.arith = arith,
                             .info = info,
                             .attributes = test.attributes,
                             .inputs = shapes,
                             .contents = contents,
                             .outputs = out_shapes};
  RETURN_IF_ERROR(InferShapes(rule));

  std::vector<TestTensor> outputs;
  for (const Shaped<int64_t>& shape : out_shapes) {
    std::vector<int> order = test.output_order;
    if (order.empty()) {
      order.resize(shape.dims.size());
      std::iota(order.begin(), order.end(), 0);
    }
    outputs.push_back(
        Empty(shape.dtype, shape.dims, StridesInOrder(shape.dims, order, 1)));
  }

  std::vector<Operand> in_operands(test.inputs.size());
  std::vector<const void*> in_pointers(test.inputs.size(), nullptr);
  for (std::size_t i = 0; i < test.inputs.size(); ++i) {
    const TestTensor& input = test.inputs[i];
    if (input.dtype == DType::kInvalid) continue;
    Operand& operand = in_operands[i];
    operand = {.kind = OperandKind::kTensor,
               .dtype = input.dtype,
               .dims = input.dims,
               .strides = input.strides};
    if (info.ReadsValue(i)) {
      operand.kind = OperandKind::kList;
      operand.ints = lists[i].ints;
      operand.floats = lists[i].floats;
      continue;
    }
    in_pointers[i] = input.data();
    if (input.packing.has_value()) {
      operand.constant_data = input.data();
      operand.packing = &*input.packing;
    }
  }
  std::vector<Operand> out_operands;
  std::vector<void*> out_pointers;
  for (TestTensor& output : outputs) {
    out_operands.push_back({.kind = OperandKind::kTensor,
                            .dtype = output.dtype,
                            .dims = output.dims,
                            .strides = output.strides});
    out_pointers.push_back(output.data());
  }
  const Request request{.info = info,
                        .attributes = test.attributes,
                        .inputs = in_operands,
                        .outputs = out_operands,
                        .backend = test.backend,
                        .threads = test.threads};
  TRY(const PreparedPtr prepared, Prepare(request));

  // 64-byte aligned, filled with a pattern that is a NaN in every float type.
  const int64_t scratch_bytes = prepared->scratch_bytes();
  void* scratch = std::aligned_alloc(64, (scratch_bytes + 63) / 64 * 64);
  std::memset(scratch, 0xff, scratch_bytes);
  RunStatus status;
  for (int64_t s = prepared->slice_count(); s-- > 0;) {
    const RunStatus one =
        prepared->Run({.inputs = in_pointers.data(),
                       .outputs = out_pointers.data(),
                       .scratch = static_cast<std::byte*>(scratch),
                       .slice_begin = s,
                       .slice_end = s + 1,
                       .worker = static_cast<int>(s % test.threads)});
    if (!one.ok()) status = one;
  }
  std::free(scratch);
  if (!status.ok()) {
    return Fail(ErrorCode::kOutOfRange,
                "run failed with code " +
                    std::to_string(static_cast<int>(status.code)));
  }
  return outputs;
}

std::vector<TestTensor> RunCase(const TestCase& test) {
  Expected<std::vector<TestTensor>> outputs = TryCase(test);
  if (!outputs.has_value()) {
    ADD_FAILURE() << outputs.error().ToString();
    return std::vector<TestTensor>(test.outputs);
  }
  return *std::move(outputs);
}

std::vector<std::vector<double>> ReferenceValues(const TestCase& test) {
  std::vector<reference::ReferenceTensor> inputs;
  for (const TestTensor& input : test.inputs) {
    if (input.dtype == DType::kInvalid) {
      inputs.emplace_back();
      continue;
    }
    const TestTensor dense = MakeTensor(input.dtype, input.dims, Values(input));
    inputs.push_back({input.dtype, input.dims, dense.bytes});
  }
  const auto outputs =
      reference::Run(test.code, test.attributes, inputs, test.outputs);
  if (!outputs.has_value()) {
    ADD_FAILURE() << outputs.error().ToString();
    return std::vector<std::vector<double>>(test.outputs);
  }
  std::vector<std::vector<double>> values;
  for (const reference::ReferenceTensor& output : *outputs) {
    values.emplace_back();
    for (int64_t i = 0; i < output.count(); ++i) {
      values.back().push_back(reference::GetFloat(output, i));
    }
  }
  return values;
}

double Difference(const TestTensor& actual,
                  const std::vector<double>& expected) {
  const std::vector<double> values = Values(actual);
  if (values.size() != expected.size()) {
    return std::numeric_limits<double>::infinity();
  }
  double largest = 1;
  for (const double value : expected) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  double difference = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == expected[i]) continue;
    if (std::isnan(values[i]) && std::isnan(expected[i])) continue;
    const double one = std::fabs(values[i] - expected[i]) / largest;
    if (!(one < std::numeric_limits<double>::infinity())) {
      return std::numeric_limits<double>::infinity();
    }
    difference = std::max(difference, one);
  }
  return difference;
}

double Tolerance(DType dtype, int64_t depth) {
  const double unit = dtype == DType::kF16    ? 0x1p-11
                      : dtype == DType::kBF16 ? 0x1p-8
                      : dtype == DType::kF32  ? 0x1p-24
                      : dtype == DType::kF64  ? 0x1p-53
                                              : 0;
  // 16-bit floats are rounded once; sums are made in f32.
  if (IsFloat(dtype) && DTypeBits(dtype) == 16) return 1.01 * unit;
  return unit * (4 + static_cast<double>(depth) / 4);
}

std::string DTypeTestName(const testing::TestParamInfo<DType>& param) {
  return std::string(DTypeName(param.param));
}

}  // namespace ebb::kernels
