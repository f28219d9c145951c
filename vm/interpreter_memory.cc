// Storages, tensors in them, views, kills and constants.
#include <algorithm>
#include <bit>
#include <string>

#include "bytecode/shape_rules/geometry.h"
#include "vm/interpreter.h"
#include "vm/tensor_view.h"

namespace ebb::vm {
namespace {

constexpr int64_t kMaxAlignment = 4096;

// The alignment that elements need; complex numbers that of their parts.
int64_t ElementAlignment(DType dtype) {
  const int64_t bytes = std::max(1, DTypeBits(dtype) / 8);
  return std::min<int64_t>(bytes, 8);
}

}  // namespace

Status Interpreter::AllocStorage(bytecode::OperandReader& in,
                                 const int64_t* ints, Value** holds) {
  const int64_t dst = in.Word();
  const int64_t bytes = in.Int(ints);
  const int64_t align = in.Word();
  if (bytes < 0) {
    return FailHere(ErrorCode::kInvalidFile,
                    "a storage of " + std::to_string(bytes) + " bytes");
  }
  if (align < 1 || align > kMaxAlignment ||
      !std::has_single_bit(static_cast<uint64_t>(align))) {
    return FailHere(ErrorCode::kInvalidFile,
                    "alignment " + std::to_string(align) +
                        " is not a power of two up to " +
                        std::to_string(kMaxAlignment));
  }
  Storage* storage = memory_.Allocate(bytes, align, NameHere());
  if (storage == nullptr) return NoMemory(bytes);
  Define(holds, dst, storage);
  return {};
}

// Reads a dtype, dims and strides into a tensor that has no data yet.
Status Interpreter::ReadShape(bytecode::OperandReader& in, const int64_t* ints,
                              Tensor& shape) {
  shape.dtype = static_cast<DType>(in.Word());
  const int64_t rank = in.Word();
  if (rank > kMaxRank) {
    return FailHere(ErrorCode::kLimit,
                    std::to_string(rank) + " dims, at most " +
                        std::to_string(kMaxRank) + " are possible");
  }
  shape.rank = static_cast<uint8_t>(rank);
  for (int64_t i = 0; i < rank; ++i) shape.dims[i] = in.Int(ints);
  const int64_t stride_count = in.Word();
  if (stride_count == 0) {
    DenseStrides(shape.Dims(), shape.strides);
    return {};
  }
  if (stride_count != rank) {
    return FailHere(ErrorCode::kInvalidFile,
                    std::to_string(stride_count) + " strides for " +
                        std::to_string(rank) + " dims");
  }
  for (int64_t i = 0; i < rank; ++i) shape.strides[i] = in.Int(ints);
  return {};
}

// Everything that dims and strides reach from `offset` of the storage on must
// lie in it.
Status Interpreter::CheckPlaced(const Tensor& tensor, int64_t offset) const {
  const Storage& storage = *tensor.storage;
  const auto extent = ExtentOf(tensor.dtype, tensor.Dims(), tensor.Strides());
  int64_t low = 0;
  int64_t high = 0;
  if (!extent.has_value() ||
      __builtin_add_overflow(offset, extent->low, &low) ||
      __builtin_add_overflow(offset, extent->high, &high)) {
    return FailHere(ErrorCode::kInvalidFile,
                    ShapeText(tensor.dtype, tensor.Dims()) + " of strides " +
                        DimsText(tensor.Strides()) + " has no size in bytes");
  }
  if (low < 0 || high > storage.bytes) {
    return FailHere(ErrorCode::kInvalidFile,
                    ShapeText(tensor.dtype, tensor.Dims()) +
                        " reaches bytes [" + std::to_string(low) + ", " +
                        std::to_string(high) + ") of a storage of " +
                        std::to_string(storage.bytes));
  }
  const int64_t align = ElementAlignment(tensor.dtype);
  if (std::bit_cast<intptr_t>(storage.data + offset) % align != 0) {
    return FailHere(ErrorCode::kInvalidFile,
                    "offset " + std::to_string(offset) +
                        " is not aligned for " +
                        std::string(DTypeName(tensor.dtype)));
  }
  return {};
}

Status Interpreter::AllocTensor(bytecode::OperandReader& in,
                                const int64_t* ints, Value** holds) {
  const int64_t dst = in.Word();
  Value* value = holds[in.Word()];
  Storage* storage = AsStorage(value);
  if (storage == nullptr) return WrongKind(value, "a storage");
  const int64_t offset = in.Int(ints);
  Tensor* tensor = memory_.NewTensor(storage);
  if (tensor == nullptr) return NoMemory(sizeof(Tensor));
  // Defined at once, so that an error below leaves nothing behind.
  tensor->name = NameHere();
  Define(holds, dst, tensor);
  RETURN_IF_ERROR(ReadShape(in, ints, *tensor));
  RETURN_IF_ERROR(CheckPlaced(*tensor, offset));
  tensor->data = storage->data + offset;
  if (!storage->name.valid()) storage->name = tensor->name;
  return {};
}

Status Interpreter::View(bytecode::OperandReader& in, const int64_t* ints,
                         Value** holds) {
  const int64_t dst = in.Word();
  Value* value = holds[in.Word()];
  Tensor* source = AsTensor(value);
  if (source == nullptr) return WrongKind(value, "a tensor");
  // The offset counts from the source's first element.
  int64_t offset = in.Int(ints);
  Tensor* plain = nullptr;
  if (source->form == ConstantForm::kPacked) {
    TRY(plain, Plain(*source));
    source = plain;
  }
  Tensor* tensor = memory_.NewTensor(source->storage);
  if (tensor != nullptr) {
    tensor->name = NameHere();
    tensor->writable = source->writable;
    tensor->form = source->form;
    tensor->constant = source->constant;
  }
  const DType dtype = source->dtype;
  const std::byte* base = source->data;
  if (plain != nullptr) memory_.Release(plain);
  if (tensor == nullptr) return NoMemory(sizeof(Tensor));
  Define(holds, dst, tensor);
  RETURN_IF_ERROR(ReadShape(in, ints, *tensor));
  if (tensor->form == ConstantForm::kRepeat) {
    // One value looks the same wherever it is looked at; a view of it only has
    // other dims.
    if (tensor->dtype != dtype || !ElementCount(tensor->Dims()).has_value()) {
      return FailHere(ErrorCode::kInvalidFile,
                      ShapeText(tensor->dtype, tensor->Dims()) +
                          " is no view of a repeated " +
                          std::string(DTypeName(dtype)));
    }
    std::fill_n(tensor->strides, tensor->rank, 0);
    tensor->data = const_cast<std::byte*>(base);
    return {};
  }
  if (tensor->form == ConstantForm::kPlain) tensor->constant = {};
  if (__builtin_add_overflow(offset, base - tensor->storage->data, &offset)) {
    return FailHere(ErrorCode::kInvalidFile, "the offset overflows");
  }
  RETURN_IF_ERROR(CheckPlaced(*tensor, offset));
  tensor->data = tensor->storage->data + offset;
  return {};
}

void Interpreter::Kill(bytecode::OperandReader& in, Value** holds) {
  for (int64_t count = in.Word(); count > 0; --count) {
    Value*& hold = holds[in.Word()];
    if (hold == nullptr) continue;
    if (observer_ != nullptr) [[unlikely]]
      memory_.ReportKill(*hold);
    memory_.Release(hold);
    hold = nullptr;
  }
}

Status Interpreter::LoadConstant(bytecode::OperandReader& in, Value** holds) {
  const int64_t dst = in.Word();
  const bytecode::ConstantId id(static_cast<std::size_t>(in.Word()));
  TRY(Tensor * tensor, Constant(id));
  Define(holds, dst, Memory::Hold(tensor));
  return {};
}

Expected<Tensor*> Interpreter::Constant(bytecode::ConstantId id) {
  Tensor*& made = constants_[id.index()];
  if (made != nullptr) return made;
  const bytecode::Constant& constant = module_.constants[id.index()];
  const std::span<const std::byte> bytes = program_.constant_bytes(id);
  Storage* storage = memory_.NewStorage(Origin::kConstant, bytes.data(),
                                        static_cast<int64_t>(bytes.size()));
  if (storage == nullptr) {
    return std::unexpected(memory_.OutOfMemory(sizeof(Storage), {}));
  }
  storage->name = constant.name;
  Tensor* tensor = memory_.NewTensor(storage);
  memory_.Release(storage);
  if (tensor == nullptr) {
    return std::unexpected(memory_.OutOfMemory(sizeof(Tensor), {}));
  }
  tensor->name = constant.name;
  tensor->dtype = constant.dtype;
  tensor->constant = id;
  tensor->rank = static_cast<uint8_t>(constant.dims.size());
  std::ranges::copy(constant.dims, tensor->dims);
  if (constant.kind == bytecode::ConstantKind::kRepeat) {
    tensor->form = ConstantForm::kRepeat;
    std::fill_n(tensor->strides, tensor->rank, 0);
  } else {
    tensor->form = constant.packing.has_value() ? ConstantForm::kPacked
                                                : ConstantForm::kPlain;
    DenseStrides(tensor->Dims(), tensor->strides);
  }
  made = tensor;
  return made;
}

Expected<Tensor*> Interpreter::Plain(Tensor& tensor) {
  if (tensor.form != ConstantForm::kPacked &&
      tensor.form != ConstantForm::kRepeat) {
    return static_cast<Tensor*>(Memory::Hold(&tensor));
  }
  const bytecode::Constant& constant =
      module_.constants[tensor.constant.index()];
  const std::optional<int64_t> count = ElementCount(tensor.Dims());
  const std::optional<int64_t> bytes =
      count.has_value() ? DTypeBytes(tensor.dtype, *count) : std::nullopt;
  if (!bytes.has_value() || *bytes > PlainBytes(constant).value_or(0)) {
    return Fail(ErrorCode::kInvalidFile,
                "view " + ShapeText(tensor.dtype, tensor.Dims()) +
                    " is larger than its constant " +
                    ShapeText(constant.dtype, constant.dims));
  }
  TRY(const std::byte* data, program_.PlainConstant(tensor.constant));
  Storage* storage = memory_.NewStorage(Origin::kConstant, data, *bytes);
  if (storage == nullptr) {
    return std::unexpected(memory_.OutOfMemory(sizeof(Storage), {}));
  }
  Tensor* plain = memory_.NewTensor(storage);
  memory_.Release(storage);
  if (plain == nullptr) {
    return std::unexpected(memory_.OutOfMemory(sizeof(Tensor), {}));
  }
  plain->name = tensor.name;
  plain->dtype = tensor.dtype;
  plain->form = ConstantForm::kPlain;
  plain->rank = tensor.rank;
  std::ranges::copy(tensor.Dims(), plain->dims);
  DenseStrides(plain->Dims(), plain->strides);
  return plain;
}

}  // namespace ebb::vm
