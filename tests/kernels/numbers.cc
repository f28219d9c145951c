#include "tests/kernels/numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bytecode/half.h"

namespace ebb::kernels {
namespace {

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

}  // namespace

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
