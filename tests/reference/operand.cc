#include "tests/reference/operand.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "bytecode/half.h"

namespace ebb::reference {
namespace {

template <class T>
T Load(const ReferenceTensor& tensor, int64_t i) {
  T value;
  const auto at = static_cast<std::size_t>(i) * sizeof(T);
  assert(at + sizeof(T) <= tensor.bytes.size());
  std::memcpy(&value, tensor.bytes.data() + at, sizeof(T));
  return value;
}

template <class T>
void Store(ReferenceTensor& tensor, int64_t i, T value) {
  const auto at = static_cast<std::size_t>(i) * sizeof(T);
  assert(at + sizeof(T) <= tensor.bytes.size());
  std::memcpy(tensor.bytes.data() + at, &value, sizeof(T));
}

}  // namespace

int64_t ReferenceTensor::count() const { return Count(dims); }

double GetFloat(const ReferenceTensor& tensor, int64_t i) {
  switch (tensor.dtype) {
    case DType::kF32:
      return static_cast<double>(Load<float>(tensor, i));
    case DType::kF64:
      return Load<double>(tensor, i);
    case DType::kF16:
      return static_cast<double>(F16ToF32(Load<uint16_t>(tensor, i)));
    case DType::kBF16:
      return static_cast<double>(BF16ToF32(Load<uint16_t>(tensor, i)));
    default:
      return static_cast<double>(GetInt(tensor, i));
  }
}

Wide GetInt(const ReferenceTensor& tensor, int64_t i) {
  switch (tensor.dtype) {
    case DType::kBool:
      return Load<uint8_t>(tensor, i) != 0 ? 1 : 0;
    case DType::kU8:
      return Load<uint8_t>(tensor, i);
    case DType::kI8:
      return Load<int8_t>(tensor, i);
    case DType::kU16:
      return Load<uint16_t>(tensor, i);
    case DType::kI16:
      return Load<int16_t>(tensor, i);
    case DType::kU32:
      return Load<uint32_t>(tensor, i);
    case DType::kI32:
      return Load<int32_t>(tensor, i);
    case DType::kU64:
      return Load<uint64_t>(tensor, i);
    case DType::kI64:
      return Load<int64_t>(tensor, i);
    default:
      assert(false);
      return 0;
  }
}

void SetFloat(ReferenceTensor& tensor, int64_t i, double value) {
  switch (tensor.dtype) {
    case DType::kF32:
      return Store(tensor, i, static_cast<float>(value));
    case DType::kF64:
      return Store(tensor, i, value);
    case DType::kF16:
      return Store(tensor, i, F64ToF16(value));
    case DType::kBF16:
      return Store(tensor, i, F64ToBF16(value));
    default:
      assert(false);
  }
}

void SetInt(ReferenceTensor& tensor, int64_t i, Wide value) {
  switch (DTypeBits(tensor.dtype)) {
    case 8:
      if (tensor.dtype == DType::kBool) value = value != 0 ? 1 : 0;
      return Store(tensor, i, static_cast<uint8_t>(value));
    case 16:
      return Store(tensor, i, static_cast<uint16_t>(value));
    case 32:
      return Store(tensor, i, static_cast<uint32_t>(value));
    default:
      return Store(tensor, i, static_cast<uint64_t>(value));
  }
}

void CopyElement(const ReferenceTensor& from, int64_t from_i,
                 ReferenceTensor& to, int64_t to_i) {
  assert(from.dtype == to.dtype);
  const int64_t size = DTypeBits(from.dtype) / 8;
  std::memcpy(to.bytes.data() + to_i * size, from.bytes.data() + from_i * size,
              static_cast<std::size_t>(size));
}

int64_t Count(const Index& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

int64_t Flat(const Index& dims, const Index& index) {
  int64_t flat = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    assert(index[i] >= 0 && index[i] < dims[i]);
    flat = flat * dims[i] + index[i];
  }
  return flat;
}

int64_t BroadcastFlat(const Index& dims, const Index& index) {
  int64_t flat = 0;
  const std::size_t offset = index.size() - dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    flat = flat * dims[i] + (dims[i] == 1 ? 0 : index[i + offset]);
  }
  return flat;
}

void ForEach(const Index& dims, const std::function<void(const Index&)>& f) {
  if (std::ranges::find(dims, 0) != dims.end()) return;
  Index index(dims.size(), 0);
  while (true) {
    f(index);
    std::size_t axis = dims.size();
    while (axis > 0 && ++index[axis - 1] == dims[axis - 1]) {
      index[--axis] = 0;
    }
    if (axis == 0) return;
  }
}

Index Call::Ints(std::size_t i) const {
  Index list;
  for (int64_t k = 0; k < inputs[i].count(); ++k) {
    list.push_back(static_cast<int64_t>(GetInt(inputs[i], k)));
  }
  return list;
}

ReferenceTensor MakeTensor(DType dtype, std::vector<int64_t> dims) {
  ReferenceTensor tensor{.dtype = dtype, .dims = std::move(dims), .bytes = {}};
  const auto bytes = DTypeBytes(dtype, tensor.count());
  tensor.bytes.resize(static_cast<std::size_t>(bytes.value_or(0)));
  return tensor;
}

ReferenceTensor FloatTensor(DType dtype, std::vector<int64_t> dims,
                            const std::vector<double>& values) {
  ReferenceTensor tensor = MakeTensor(dtype, std::move(dims));
  assert(tensor.count() == static_cast<int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    SetFloat(tensor, static_cast<int64_t>(i), values[i]);
  }
  return tensor;
}

ReferenceTensor IntTensor(DType dtype, std::vector<int64_t> dims,
                          const std::vector<int64_t>& values) {
  ReferenceTensor tensor = MakeTensor(dtype, std::move(dims));
  assert(tensor.count() == static_cast<int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    SetInt(tensor, static_cast<int64_t>(i), values[i]);
  }
  return tensor;
}

ReferenceTensor RandomTensor(std::mt19937_64& rng, DType dtype,
                             std::vector<int64_t> dims) {
  ReferenceTensor tensor = MakeTensor(dtype, std::move(dims));
  std::uniform_real_distribution<double> real(-2, 2);
  std::uniform_int_distribution<int64_t> integer(0, 18);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    if (IsFloat(dtype)) {
      SetFloat(tensor, i, real(rng));
    } else if (dtype == DType::kBool) {
      SetInt(tensor, i, integer(rng) % 2);
    } else {
      SetInt(tensor, i, integer(rng) - (IsSignedInteger(dtype) ? 9 : 0));
    }
  }
  return tensor;
}

}  // namespace ebb::reference
