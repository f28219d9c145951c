// Inputs of a session: what may be set, and what the entry function gets.
#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "bytecode/shape_rules/geometry.h"
#include "vm/interpreter.h"
#include "vm/session.h"

namespace ebb::vm {
namespace {

template <class List>
Expected<std::size_t> FindName(const bytecode::Module& module, const List& list,
                               std::string_view name, const char* what) {
  std::string names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string& candidate = module.string(list[i].name);
    if (candidate == name) return i;
    names += (i == 0 ? "\"" : ", \"") + candidate + "\"";
  }
  return Fail(ErrorCode::kNotFound, "no " + std::string(what) + " \"" +
                                        std::string(name) +
                                        "\"; there are: " + names);
}

// Kernels read whole elements, so these must be where the processor's
// instructions expect them.
bool IsAligned(const TensorView& view) {
  const auto align =
      static_cast<uintptr_t>(view.dtype == DType::kString
                                 ? 8
                                 : std::clamp(DTypeBits(view.dtype) / 8, 1, 8));
  return std::bit_cast<uintptr_t>(view.data) % align == 0;
}

}  // namespace

Expected<std::size_t> Session::InputIndex(std::string_view name) const {
  return FindName(program_->module(), program_->entry().params, name, "input");
}

Expected<std::size_t> Session::OutputIndex(std::string_view name) const {
  return FindName(program_->module(), program_->entry().results, name,
                  "output");
}

std::string Session::InputText(std::size_t index) const {
  const bytecode::Param& param = program_->entry().params[index];
  return "input \"" + program_->module().string(param.name) + "\"";
}

const bytecode::Type& Session::InputType(std::size_t index) const {
  return program_->module().types[program_->entry().params[index].type.index()];
}

std::string Session::TypeText(const bytecode::Type& type) const {
  std::string text = type.dtype == DType::kInvalid
                         ? "any"
                         : std::string(DTypeName(type.dtype));
  if (!type.ranked) return text + " of any rank";
  text += '[';
  for (std::size_t i = 0; i < type.dims.size(); ++i) {
    if (i != 0) text += ',';
    const bytecode::DimSpec& dim = type.dims[i];
    const std::string& symbol = program_->module().string(dim.symbol);
    text += dim.size >= 0 ? std::to_string(dim.size)
                          : (symbol.empty() ? "?" : symbol);
  }
  return text += ']';
}

Status Session::CheckInputIndex(std::size_t index) const {
  if (index < inputs_.size()) return {};
  return Fail(ErrorCode::kInvalidArgument, "input " + std::to_string(index) +
                                               " of " +
                                               std::to_string(inputs_.size()));
}

Status Session::CheckInput(std::size_t index, DType dtype,
                           std::span<const int64_t> dims) const {
  const bytecode::Type& type = InputType(index);
  if (type.kind == bytecode::TypeKind::kObject) return {};
  bool fits = type.kind == bytecode::TypeKind::kTensor &&
              (type.dtype == DType::kInvalid || type.dtype == dtype) &&
              (!type.ranked || type.dims.size() == dims.size());
  if (fits && type.ranked) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      fits = fits && (type.dims[i].size < 0 || type.dims[i].size == dims[i]);
    }
  }
  if (fits) return {};
  if (type.kind != bytecode::TypeKind::kTensor) {
    return Fail(ErrorCode::kShapeMismatch,
                InputText(index) +
                    " is a tensor, the program needs another "
                    "kind of value");
  }
  return Fail(ErrorCode::kShapeMismatch,
              InputText(index) + " is " + ShapeText(dtype, dims) +
                  ", the program needs " + TypeText(type));
}

Status Session::CheckInputKind(std::size_t index, const Value& value) const {
  if (const Tensor* tensor = AsTensor(&value); tensor != nullptr) {
    return CheckInput(index, tensor->dtype, tensor->Dims());
  }
  const bytecode::TypeKind wanted = InputType(index).kind;
  const bool fits = wanted == bytecode::TypeKind::kObject ||
                    (wanted == bytecode::TypeKind::kTuple &&
                     value.kind == ValueKind::kTuple) ||
                    (wanted == bytecode::TypeKind::kSequence &&
                     value.kind == ValueKind::kSequence) ||
                    (wanted == bytecode::TypeKind::kOptional &&
                     value.kind == ValueKind::kOptional);
  if (fits) return {};
  return Fail(ErrorCode::kShapeMismatch, InputText(index) + " is of kind " +
                                             ValueKindName(value.kind) +
                                             ", the program needs another");
}

// The storage of a session's output that holds these bytes, if any.
Storage* Session::FindOutputStorage(const std::byte* low,
                                    const std::byte* high) const {
  for (const OutputSlot& slot : outputs_) {
    const Tensor* tensor = AsTensor(slot.value);
    if (tensor == nullptr || tensor->storage->origin != Origin::kSession) {
      continue;
    }
    Storage* storage = tensor->storage;
    if (storage->data <= low && high <= storage->data + storage->bytes) {
      return storage;
    }
  }
  return nullptr;
}

// A tensor value over the caller's memory, or over the session's own when that
// is where it lies; then it stays alive by the hold.
Expected<Tensor*> Session::Borrow(const TensorView& view) {
  if (view.dims.size() > static_cast<std::size_t>(kMaxRank)) {
    return Fail(ErrorCode::kLimit,
                std::to_string(view.dims.size()) + " dims, at most " +
                    std::to_string(kMaxRank) + " are possible");
  }
  if (!view.strides.empty() && view.strides.size() != view.dims.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                std::to_string(view.strides.size()) + " strides for " +
                    std::to_string(view.dims.size()) + " dims");
  }
  int64_t strides[kMaxRank];
  if (view.strides.empty()) {
    DenseStrides(view.dims, strides);
  } else {
    std::ranges::copy(view.strides, strides);
  }
  const std::span<const int64_t> stride_span(strides, view.dims.size());
  const std::optional<int64_t> count = ElementCount(view.dims);
  auto extent = ExtentOf(view.dtype, view.dims, stride_span);
  const auto* data = static_cast<const std::byte*>(view.data);
  if (view.dtype == DType::kString && count.has_value()) {
    if (data == nullptr || !IsDense(view.dims, stride_span)) {
      return Fail(ErrorCode::kInvalidArgument,
                  "strings need a block and no strides");
    }
    TRY(const int64_t block_bytes,
        CheckStringBlock(data, view.byte_size, *count));
    extent = Extent{0, block_bytes};
  }
  if (!count.has_value() || !extent.has_value()) {
    return Fail(ErrorCode::kInvalidArgument,
                ShapeText(view.dtype, view.dims) + " has no size in bytes");
  }
  if (data == nullptr && extent->high != 0) {
    return Fail(ErrorCode::kInvalidArgument,
                ShapeText(view.dtype, view.dims) + " has no data");
  }
  if (view.byte_size != 0 && extent->high > view.byte_size) {
    return Fail(ErrorCode::kInvalidArgument,
                ShapeText(view.dtype, view.dims) + " needs " +
                    std::to_string(extent->high) + " bytes, the buffer has " +
                    std::to_string(view.byte_size));
  }
  if (view.dtype != DType::kString &&
      (!IsDense(view.dims, stride_span) || !IsAligned(view))) {
    Tensor* copy = memory_->AllocateTensor(view.dtype, view.dims, {});
    if (copy == nullptr) {
      return std::unexpected(memory_->OutOfMemory(extent->high, {}));
    }
    ++copied_input_count_;
    CopyToDense(view.dtype, view.dims, stride_span, data, copy->data);
    copy->writable = false;
    return copy;
  }
  const std::byte* low = data + extent->low;
  const std::byte* high = data + extent->high;
  Storage* storage = low < high ? FindOutputStorage(low, high) : nullptr;
  if (storage != nullptr) {
    Memory::Hold(storage);
  } else {
    storage = memory_->NewStorage(Origin::kInput, low, high - low);
  }
  Tensor* tensor = storage != nullptr ? memory_->NewTensor(storage) : nullptr;
  if (storage != nullptr) memory_->Release(storage);
  if (tensor == nullptr) {
    return std::unexpected(memory_->OutOfMemory(sizeof(Tensor), {}));
  }
  tensor->dtype = view.dtype;
  tensor->writable = false;
  tensor->rank = static_cast<uint8_t>(view.dims.size());
  tensor->data = const_cast<std::byte*>(data);
  std::ranges::copy(view.dims, tensor->dims);
  std::copy_n(strides, view.dims.size(), tensor->strides);
  return tensor;
}

Status Session::SetInput(std::size_t index, const TensorView& view) {
  RETURN_IF_ERROR(CheckInputIndex(index));
  RETURN_IF_ERROR(CheckInput(index, view.dtype, view.dims));
  Expected<Tensor*> tensor = Borrow(view);
  if (!tensor.has_value()) {
    Error error = std::move(tensor).error();
    error.where = InputText(index);
    return std::unexpected(std::move(error));
  }
  (*tensor)->name = program_->entry().params[index].name;
  InputSlot& slot = inputs_[index];
  if (slot.value != nullptr) memory_->Release(slot.value);
  slot.value = *tensor;
  return {};
}

Status Session::SetInputValue(std::size_t index, const TakenValue& value) {
  RETURN_IF_ERROR(CheckInputIndex(index));
  if (!value.valid()) {
    return Fail(ErrorCode::kInvalidArgument, InputText(index) + " is empty");
  }
  RETURN_IF_ERROR(CheckInputKind(index, *value.value()));
  if (value.get()->memory != memory_) {
    const std::optional<TensorView> view = value.tensor();
    if (view.has_value()) return SetInput(index, *view);
    return Fail(ErrorCode::kInvalidArgument,
                InputText(index) +
                    " belongs to another session; only "
                    "tensors may be passed on");
  }
  InputSlot& slot = inputs_[index];
  if (slot.value != nullptr) memory_->Release(slot.value);
  slot.value = Memory::Hold(value.get()->value);
  return {};
}

Status Session::DonateInput(std::size_t index, TakenValue value) {
  if (value.valid() && value.get()->memory != memory_) {
    return Fail(ErrorCode::kInvalidArgument,
                "a value of another session cannot be donated");
  }
  RETURN_IF_ERROR(SetInputValue(index, value));
  value = TakenValue();
  return {};
}

void Session::ClearInputs() {
  for (InputSlot& slot : inputs_) {
    if (slot.value != nullptr) {
      memory_->Release(std::exchange(slot.value, nullptr));
    }
  }
}

Status Session::CheckOneInputsSymbols(std::size_t index,
                                      std::span<const int64_t> dims) {
  const bytecode::Type& type = InputType(index);
  if (!type.ranked || type.dims.size() != dims.size()) return {};
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const bytecode::StringId symbol = type.dims[d].symbol;
    if (!symbol.valid() || type.dims[d].size >= 0) continue;
    SymbolSize& known = symbols_[symbol.index()];
    if (known.run != run_count_) {
      known = {run_count_, dims[d], static_cast<uint32_t>(index)};
    } else if (known.size != dims[d]) {
      return Fail(ErrorCode::kShapeMismatch,
                  InputText(index) + " is " + ShapeText(type.dtype, dims) +
                      " where the program needs " + TypeText(type) + ", but " +
                      program_->module().string(symbol) + " is " +
                      std::to_string(known.size) + " in " +
                      InputText(known.input));
    }
  }
  return {};
}

Status Session::CheckSymbols() {
  const bytecode::Function& entry = program_->entry();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (const Tensor* tensor = AsTensor(inputs_[i].value); tensor != nullptr) {
      RETURN_IF_ERROR(CheckOneInputsSymbols(i, tensor->Dims()));
    } else if (inputs_[i].value == nullptr && entry.params[i].optional_feed) {
      const bytecode::ConstantId id = entry.params[i].default_value;
      RETURN_IF_ERROR(CheckOneInputsSymbols(
          i, program_->module().constants[id.index()].dims));
    }
  }
  return {};
}

// What the entry function gets for a parameter, with a hold. A borrowed one
// may not be written, whoever's it is; a donated one is the callee's alone.
Expected<Value*> Session::Argument(std::size_t index) {
  const bytecode::Param& param = program_->entry().params[index];
  Value* value = std::exchange(inputs_[index].value, nullptr);
  if (value == nullptr) {
    TRY(Tensor * constant, interpreter_->Constant(param.default_value));
    value = Memory::Hold(constant);
  }
  Tensor* tensor = AsTensor(value);
  if (tensor == nullptr) return value;
  if (param.donated) {
    if (tensor->holds == 1 && tensor->storage->holds == 1 &&
        tensor->storage->origin == Origin::kSession) {
      tensor->writable = true;
      return value;
    }
    ++copied_input_count_;
    Expected<Tensor*> copy = CopyTensor(*tensor);
    memory_->Release(value);
    return copy;
  }
  if (!tensor->writable) return value;
  Tensor* borrowed = memory_->NewTensor(tensor->storage);
  if (borrowed != nullptr) {
    borrowed->name = param.name;
    borrowed->dtype = tensor->dtype;
    borrowed->writable = false;
    borrowed->rank = tensor->rank;
    borrowed->data = tensor->data;
    std::ranges::copy(tensor->Dims(), borrowed->dims);
    std::ranges::copy(tensor->Strides(), borrowed->strides);
  }
  memory_->Release(value);
  if (borrowed == nullptr) {
    return std::unexpected(memory_->OutOfMemory(sizeof(Tensor), param.name));
  }
  return borrowed;
}

Status Session::GatherArguments() {
  const bytecode::Function& entry = program_->entry();
  std::string missing;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].value != nullptr || entry.params[i].optional_feed) continue;
    missing += (missing.empty() ? "\"" : ", \"") +
               program_->module().string(entry.params[i].name) + "\"";
  }
  if (!missing.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "inputs are not set: " + missing);
  }
  RETURN_IF_ERROR(CheckSymbols());
  arguments_.reserve(inputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    TRY(Value * argument, Argument(i));
    arguments_.push_back(argument);
  }
  return {};
}

}  // namespace ebb::vm
