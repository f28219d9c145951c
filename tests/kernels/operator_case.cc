#include "tests/kernels/operator_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

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

}  // namespace ebb::kernels
