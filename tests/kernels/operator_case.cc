#include "tests/kernels/operator_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "bytecode/half.h"
#include "tests/reference/reference.h"

namespace ebb::kernels {
namespace {

constexpr std::byte kGuard{0xa5};

// Memory of one operand: `first` is where element 0 lies.
struct Storage {
  Dims strides;
  std::vector<std::byte> bytes;
  int64_t first = 0;
};

// Strides of `dims` in plain order, or permuted with gaps and one dim
// backwards.
Storage Allocate(const Numbers& tensor, bool plain, std::mt19937& random) {
  Storage storage;
  const std::size_t rank = tensor.dims.size();
  const int64_t bytes = DTypeBits(tensor.dtype) / 8;
  storage.strides = DenseStrides(tensor.dims);
  int64_t extent = 1;
  for (const int64_t dim : tensor.dims) extent *= dim;
  if (!plain && rank > 0 && extent > 0) {
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::shuffle(order, random);
    int64_t stride = random() % 2 == 0 ? 1 : 2;
    for (const std::size_t d : order) {
      storage.strides[d] = stride;
      stride = stride * tensor.dims[d] + (random() % 3 == 0 ? 3 : 0);
    }
    extent = stride;
    const std::size_t backwards = random() % (rank + 1);
    if (backwards < rank) {
      storage.first = storage.strides[backwards] * (tensor.dims[backwards] - 1);
      storage.strides[backwards] = -storage.strides[backwards];
    }
  }
  storage.bytes.assign(extent * bytes, kGuard);
  return storage;
}

int64_t OffsetOf(const Storage& storage, std::span<const int64_t> index) {
  int64_t offset = storage.first;
  for (std::size_t d = 0; d < index.size(); ++d) {
    offset += index[d] * storage.strides[d];
  }
  return offset;
}

void Fill(const Numbers& tensor, Storage& storage) {
  const int64_t bytes = DTypeBits(tensor.dtype) / 8;
  ForEachIndex(tensor.dims, [&](int64_t i, std::span<const int64_t> index) {
    StoreNumber(tensor.dtype, tensor.values[i],
                storage.bytes.data() + OffsetOf(storage, index) * bytes);
  });
}

Numbers Extract(DType dtype, const Dims& dims, const Storage& storage) {
  const int64_t bytes = DTypeBits(dtype) / 8;
  Numbers result{dtype, dims, {}};
  ForEachIndex(dims, [&](int64_t, std::span<const int64_t> index) {
    result.values.push_back(LoadNumber(
        dtype, storage.bytes.data() + OffsetOf(storage, index) * bytes));
  });
  return result;
}

// Bytes that no element of the tensor occupies must be as they were.
void ExpectGuardsUntouched(DType dtype, const Dims& dims, Storage storage) {
  const int64_t bytes = DTypeBits(dtype) / 8;
  ForEachIndex(dims, [&](int64_t, std::span<const int64_t> index) {
    std::memset(storage.bytes.data() + OffsetOf(storage, index) * bytes,
                static_cast<int>(kGuard), bytes);
  });
  EXPECT_TRUE(std::ranges::all_of(storage.bytes, [](std::byte b) {
    return b == kGuard;
  })) << "the kernel wrote outside its output";
}

struct Lists {
  std::vector<int64_t> ints;
  std::vector<double> floats;
};

class Site {
 public:
  explicit Site(const OperatorCase& test)
      : test_(test), info_(InfoOf(test.code)) {
    for (std::size_t i = 0; i < test.inputs.size(); ++i) {
      Lists lists;
      if (info_.ReadsValue(i)) {
        for (const Number value : test.inputs[i].values) {
          if (IsFloat(test.inputs[i].dtype)) {
            lists.floats.push_back(static_cast<double>(value));
          } else {
            lists.ints.push_back(static_cast<int64_t>(value));
          }
        }
      }
      lists_.push_back(lists);
    }
  }

  Status Infer() {
    std::vector<Shaped<int64_t>> inputs;
    std::vector<std::optional<Contents<int64_t>>> contents;
    for (std::size_t i = 0; i < test_.inputs.size(); ++i) {
      inputs.push_back({test_.inputs[i].dtype, true, test_.inputs[i].dims});
      contents.emplace_back();
      if (info_.ReadsValue(i) && !inputs.back().absent()) {
        contents.back() = Contents<int64_t>{lists_[i].ints, lists_[i].floats};
      }
    }
    IntArith arith;
    outputs_.resize(test_.outputs);
    RuleContext<IntArith> context{.arith = arith,
                                  .info = info_,
                                  .attributes = test_.attributes,
                                  .inputs = inputs,
                                  .contents = contents,
                                  .outputs = outputs_};
    return InferShapes(context);
  }

  // One run in memory of the given kinds; `by_slice` from last to first.
  Expected<std::vector<Numbers>> Run(bool plain_inputs, bool plain_outputs,
                                     bool by_slice, std::mt19937& random) {
    std::vector<Storage> input_storage, output_storage;
    std::vector<Operand> inputs, outputs;
    std::vector<const void*> input_pointers;
    std::vector<void*> output_pointers;
    const KernelRow& row = PortableKernel(test_.code);
    for (std::size_t i = 0; i < test_.inputs.size(); ++i) {
      const Numbers& x = test_.inputs[i];
      const Form form = i == 0 ? row.data_form : row.other_form;
      input_storage.push_back(
          Allocate(x, plain_inputs || form != Form::kAny, random));
      if (x.dtype != DType::kInvalid) Fill(x, input_storage.back());
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      output_storage.push_back(
          Allocate({outputs_[i].dtype, outputs_[i].dims, {}},
                   plain_outputs || row.output_form != Form::kAny, random));
    }
    for (std::size_t i = 0; i < test_.inputs.size(); ++i) {
      const Numbers& x = test_.inputs[i];
      Operand operand;
      if (x.dtype != DType::kInvalid) {
        operand = {.kind = info_.ReadsValue(i) ? OperandKind::kList
                                               : OperandKind::kTensor,
                   .dtype = x.dtype,
                   .dims = x.dims,
                   .strides = input_storage[i].strides,
                   .ints = lists_[i].ints,
                   .floats = lists_[i].floats};
      }
      inputs.push_back(operand);
      const bool tensor = operand.kind == OperandKind::kTensor;
      input_pointers.push_back(tensor ? input_storage[i].bytes.data() +
                                            input_storage[i].first *
                                                (DTypeBits(x.dtype) / 8)
                                      : nullptr);
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const bool absent = ((test_.absent_outputs >> i) & 1U) != 0;
      outputs.push_back(absent ? Operand{}
                               : Operand{.kind = OperandKind::kTensor,
                                         .dtype = outputs_[i].dtype,
                                         .dims = outputs_[i].dims,
                                         .strides = output_storage[i].strides});
      output_pointers.push_back(
          absent ? nullptr
                 : output_storage[i].bytes.data() +
                       output_storage[i].first *
                           (DTypeBits(outputs_[i].dtype) / 8));
    }
    TRY(const PreparedPtr prepared,
        Prepare(Request{.info = info_,
                        .attributes = test_.attributes,
                        .inputs = inputs,
                        .outputs = outputs,
                        .backend = Backend::kPortable,
                        .threads = 2}));
    std::vector<std::byte> scratch(prepared->scratch_bytes());
    RunStatus status;
    if (by_slice) {
      for (int64_t s = prepared->slice_count(); s-- > 0;) {
        const RunStatus slice =
            prepared->Run({.inputs = input_pointers.data(),
                           .outputs = output_pointers.data(),
                           .scratch = scratch.data(),
                           .slice_begin = s,
                           .slice_end = s + 1,
                           .worker = static_cast<int>(s % 2)});
        if (!slice.ok()) status = slice;
      }
    } else {
      status = RunAll(*prepared, input_pointers.data(), output_pointers.data(),
                      scratch.data());
    }
    if (!status.ok()) {
      return Fail(ErrorCode::kOutOfRange, std::to_string(status.value));
    }
    std::vector<Numbers> results;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const bool absent = ((test_.absent_outputs >> i) & 1U) != 0;
      results.push_back(absent ? Numbers{}
                               : Extract(outputs_[i].dtype, outputs_[i].dims,
                                         output_storage[i]));
      ExpectGuardsUntouched(outputs_[i].dtype,
                            absent ? Dims{0} : outputs_[i].dims,
                            output_storage[i]);
    }
    return results;
  }

 private:
  const OperatorCase& test_;
  const OperatorInfo& info_;
  std::vector<Lists> lists_;
  std::vector<Shaped<int64_t>> outputs_;
};

int MantissaBits(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 11;
    case DType::kBF16:
      return 8;
    case DType::kF32:
      return 24;
    case DType::kF64:
      return 53;
    default:
      return 64;
  }
}

int LowestExponent(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return -24;
    case DType::kBF16:
      return -133;
    case DType::kF32:
      return -149;
    case DType::kF64:
      return -1074;
    default:
      return 0;
  }
}

// The step between numbers of the dtype around `magnitude`.
Number Ulp(DType dtype, Number magnitude) {
  if (!IsFloat(dtype)) return 1;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  return std::ldexp(Number{1}, std::max(exponent - MantissaBits(dtype),
                                        LowestExponent(dtype)));
}

void ExpectSame(const std::vector<Numbers>& a, const std::vector<Numbers>& b,
                int ulps, Number scale, const char* what) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].dims, b[i].dims);
    ExpectNear(a[i], b[i].values, ulps, what, scale);
  }
}

reference::ReferenceTensor ToReference(const Numbers& x) {
  if (x.dtype == DType::kInvalid) return {};
  reference::ReferenceTensor result = reference::MakeTensor(x.dtype, x.dims);
  const int64_t bytes = DTypeBits(x.dtype) / 8;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    StoreNumber(x.dtype, x.values[i], result.bytes.data() + i * bytes);
  }
  return result;
}

void ExpectAsReference(const OperatorCase& test,
                       const std::vector<Numbers>& results) {
  std::vector<reference::ReferenceTensor> inputs;
  for (const Numbers& x : test.inputs) inputs.push_back(ToReference(x));
  const auto expected =
      reference::Run(test.code, test.attributes, inputs, test.outputs);
  ASSERT_TRUE(expected.has_value()) << expected.error().ToString();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const DType dtype = results[i].dtype;
    if (dtype == DType::kInvalid) continue;
    // The reference adds in f64, so for f64 it is no better than the kernel.
    const double step =
        std::ldexp(dtype == DType::kF64 ? 32.0 : 1.0, -MantissaBits(dtype));
    const double scale = std::max(1.0, static_cast<double>(test.layout_scale));
    EXPECT_EQ(reference::Mismatch((*expected)[i], ToReference(results[i]),
                                  32 * step, 32 * step * scale),
              "")
        << InfoOf(test.code).name;
  }
}

}  // namespace

Numbers Data(DType dtype, Dims dims, std::vector<Number> values) {
  return {dtype, std::move(dims), std::move(values)};
}

Numbers List(std::vector<Number> values) {
  return {
      DType::kI64, {static_cast<int64_t>(values.size())}, std::move(values)};
}

Numbers Random(DType dtype, Dims dims, std::mt19937& random, double low,
               double high) {
  Numbers result{dtype, std::move(dims), {}};
  int64_t count = 1;
  for (const int64_t dim : result.dims) count *= dim;
  std::uniform_real_distribution<double> real(low, high);
  for (int64_t i = 0; i < count; ++i) {
    Number value = static_cast<Number>(real(random));
    if (dtype == DType::kBool) {
      value = random() % 2;
    } else if (!IsFloat(dtype)) {
      // Mostly small numbers, now and then the whole range.
      const uint64_t bits = (uint64_t{random()} << 32) | random();
      value = random() % 4 == 0 ? static_cast<Number>(bits) : std::floor(value);
    }
    result.values.push_back(RoundTo(dtype, value));
  }
  return result;
}

Dims RandomDims(std::mt19937& random, int max_rank, int64_t max_dim) {
  Dims dims(random() % (max_rank + 1));
  for (int64_t& dim : dims) {
    dim = random() % 20 == 0 ? 0 : 1 + static_cast<int64_t>(random() % max_dim);
  }
  return dims;
}

template <class T>
void StoreAs(T value, void* at) {
  std::memcpy(at, &value, sizeof(value));
}
template <class T>
Number LoadAs(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return static_cast<Number>(value);
}

void StoreNumber(DType dtype, Number value, void* at) {
  const auto bits = [&] {
    return value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value))
                     : static_cast<uint64_t>(value);
  };
  switch (dtype) {
    case DType::kF32:
      return StoreAs(static_cast<float>(value), at);
    case DType::kF64:
      return StoreAs(static_cast<double>(value), at);
    case DType::kF16:
      return StoreAs(F64ToF16(static_cast<double>(value)), at);
    case DType::kBF16:
      return StoreAs(F64ToBF16(static_cast<double>(value)), at);
    case DType::kBool:
      return StoreAs(static_cast<uint8_t>(value != 0), at);
    default:
      break;
  }
  const uint64_t wrapped = bits();
  std::memcpy(at, &wrapped, DTypeBits(dtype) / 8);
}

Number LoadNumber(DType dtype, const void* at) {
  switch (dtype) {
    case DType::kF32:
      return LoadAs<float>(at);
    case DType::kF64:
      return LoadAs<double>(at);
    case DType::kF16:
    case DType::kBF16: {
      uint16_t bits = 0;
      std::memcpy(&bits, at, sizeof(bits));
      return static_cast<Number>(dtype == DType::kF16 ? F16ToF32(bits)
                                                      : BF16ToF32(bits));
    }
    case DType::kI8:
      return LoadAs<int8_t>(at);
    case DType::kI16:
      return LoadAs<int16_t>(at);
    case DType::kI32:
      return LoadAs<int32_t>(at);
    case DType::kI64:
      return LoadAs<int64_t>(at);
    case DType::kBool:
    case DType::kU8:
      return LoadAs<uint8_t>(at);
    case DType::kU16:
      return LoadAs<uint16_t>(at);
    case DType::kU32:
      return LoadAs<uint32_t>(at);
    case DType::kU64:
      return LoadAs<uint64_t>(at);
    default:
      ADD_FAILURE() << "no numbers of " << DTypeName(dtype);
      return 0;
  }
}

Number RoundTo(DType dtype, Number value) {
  uint64_t place = 0;
  if (!IsFloat(dtype) && dtype != DType::kBool) {
    // Wraps beyond 64 bits as well.
    value = std::fmod(std::trunc(value), 18446744073709551616.0L);
    if (value < -9223372036854775808.0L) value += 18446744073709551616.0L;
  }
  StoreNumber(dtype, value, &place);
  return LoadNumber(dtype, &place);
}

Expected<std::vector<Numbers>> TryEvaluate(const OperatorCase& test) {
  std::mt19937 random(7);
  Site site(test);
  RETURN_IF_ERROR(site.Infer());
  TRY(std::vector<Numbers> whole, site.Run(true, true, false, random));
  TRY(const std::vector<Numbers> sliced, site.Run(true, true, true, random));
  ExpectSame(sliced, whole, 0, 0, "slice by slice");
  TRY(const std::vector<Numbers> strided, site.Run(false, true, false, random));
  ExpectSame(strided, whole, test.layout_ulps, test.layout_scale,
             "strided inputs");
  TRY(const std::vector<Numbers> both, site.Run(false, false, true, random));
  ExpectSame(both, whole, test.layout_ulps, test.layout_scale,
             "strided inputs and outputs");
  if (test.reference) ExpectAsReference(test, whole);
  return whole;
}

std::vector<Numbers> Evaluate(const OperatorCase& test) {
  auto result = TryEvaluate(test);
  if (!result.has_value()) {
    ADD_FAILURE() << InfoOf(test.code).name << ": "
                  << result.error().ToString();
    return std::vector<Numbers>(test.outputs);
  }
  return *result;
}

Number At(const Numbers& x, DimSpan dims, std::span<const int64_t> index) {
  const std::size_t missing = dims.size() - x.dims.size();
  int64_t at = 0;
  for (std::size_t d = 0; d < x.dims.size(); ++d) {
    at = at * x.dims[d] + (x.dims[d] == 1 ? 0 : index[missing + d]);
  }
  return x.values[at];
}

void ForEachIndex(
    DimSpan dims,
    const std::function<void(int64_t, std::span<const int64_t>)>& f) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  Dims index(dims.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    f(i, index);
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
}

void ExpectNear(const Numbers& actual, const std::vector<Number>& expected,
                double ulps, const std::string& what, Number scale) {
  ASSERT_EQ(actual.values.size(), expected.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Number a = actual.values[i];
    const Number e = RoundTo(actual.dtype, expected[i]);
    if (std::isnan(a) && std::isnan(e)) continue;
    if (a == e) continue;
    const Number magnitude = std::max({std::fabs(a), std::fabs(e), scale});
    const Number difference = std::fabs(a - e);
    ASSERT_TRUE(!std::isinf(magnitude) &&
                difference <=
                    static_cast<Number>(ulps) * Ulp(actual.dtype, magnitude))
        << what << ", " << DTypeName(actual.dtype) << " element " << i << " of "
        << DimsText(actual.dims) << ": " << a << ", expected " << e;
  }
}

std::vector<DType> NumericDTypes() {
  std::vector<DType> all = kFloatDTypes;
  all.insert(all.end(), kIntegerDTypes.begin(), kIntegerDTypes.end());
  return all;
}

std::vector<DType> AllDTypes() {
  std::vector<DType> all = NumericDTypes();
  all.push_back(DType::kBool);
  return all;
}

}  // namespace ebb::kernels
