#include "compiler/passes/fold_constants.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bytecode/shape_rules/geometry.h"
#include "compiler/analysis/kernel_request.h"
#include "compiler/ir/aligned_bytes.h"
#include "compiler/ir/constant_text.h"

namespace ebb::passes {
namespace {

using ir::Constant;
using ir::ConstantId;
using ir::Dim;
using ir::Instr;
using ir::InstrId;
using ir::InstrKind;
using ir::ValueId;
using Bytes = std::vector<std::byte>;

// Operators that only move elements of input 0: the same value repeated.
bool MovesElements(OperatorCode code) {
  switch (code) {
    case OperatorCode::kIdentity:
    case OperatorCode::kReshape:
    case OperatorCode::kFlatten:
    case OperatorCode::kSqueeze:
    case OperatorCode::kUnsqueeze:
    case OperatorCode::kTranspose:
    case OperatorCode::kExpand:
    case OperatorCode::kTile:
    case OperatorCode::kSlice:
    case OperatorCode::kSplit:
      return true;
    default:
      return false;
  }
}

bool IsOneRepeated(const Bytes& bytes, std::size_t element) {
  return bytes.size() > element &&
         std::memcmp(bytes.data(), bytes.data() + element,
                     bytes.size() - element) == 0;
}

// Weights may lie anywhere in a model; kernels take elements that are aligned.
// Inner buffers of `copies` stay where they are when it grows.
const std::byte* Aligned(std::span<const std::byte> data,
                         std::vector<Bytes>& copies) {
  constexpr std::uintptr_t kAlignment = alignof(std::max_align_t);
  if (std::bit_cast<std::uintptr_t>(data.data()) % kAlignment == 0) {
    return data.data();
  }
  return copies.emplace_back(data.begin(), data.end()).data();
}

// The bytes of the one result; nullopt when no kernel takes it or it fails.
std::optional<Bytes> RunNow(const ir::KernelRequest& query,
                            const std::vector<const void*>& inputs,
                            int64_t result_bytes) {
  auto prepared = kernels::Prepare(query.Get(kernels::Backend::kPortable, 1));
  if (!prepared.has_value()) return std::nullopt;
  Bytes bytes(static_cast<std::size_t>(result_bytes));
  ir::AlignedBytes scratch(
      static_cast<std::size_t>((*prepared)->scratch_bytes()));
  if (scratch.data() == nullptr) return std::nullopt;
  void* output = bytes.data();
  if (!kernels::RunAll(**prepared, inputs.data(), &output, scratch.data())
           .ok()) {
    return std::nullopt;
  }
  return bytes;
}

class Folder {
 public:
  Folder(ir::Module& module, ir::Function& function)
      : module_(module), function_(function) {}

  // Regions are made after the one around them, so in the order of their ids
  // the constants of outer regions come first.
  void Run() {
    for (std::size_t r = 0; r < function_.regions.size(); ++r) {
      for (const InstrId id : function_.regions[r].instrs) Fold(id);
    }
  }

 private:
  void Fold(InstrId id);
  bool FoldContents(InstrId id);
  bool FoldRepeat(InstrId id);
  bool FoldByRunning(InstrId id);
  // Turns the instruction into the definition of a constant.
  void Become(InstrId id, Constant constant);
  Constant Make(ValueId value, Bytes bytes);
  std::optional<std::vector<int64_t>> KnownDims(ValueId value) const;
  const Constant* InputConstant(const Instr& instr, std::size_t i) const {
    return ir::ConstantOf(module_, function_, instr.operands[i].value);
  }

  ir::Module& module_;
  ir::Function& function_;
};

std::optional<std::vector<int64_t>> Folder::KnownDims(ValueId value) const {
  const ir::Type& type = function_.value(value).type;
  if (!type.IsTensor() || !type.ranked || DTypeBits(type.dtype) < 8) {
    return std::nullopt;
  }
  std::vector<int64_t> dims;
  for (const Dim dim : type.dims) {
    const auto known = module_.dims.Known(dim);
    if (!known.has_value()) return std::nullopt;
    dims.push_back(*known);
  }
  if (!ElementCount(dims).has_value()) return std::nullopt;
  return dims;
}

Constant Folder::Make(ValueId value, Bytes bytes) {
  Constant constant;
  constant.name = function_.value(value).name;
  constant.dtype = function_.value(value).type.dtype;
  constant.dims = *KnownDims(value);
  const auto element = static_cast<std::size_t>(DTypeBits(constant.dtype) / 8);
  if (IsOneRepeated(bytes, element)) {
    bytes.resize(element);
    constant.repeat = true;
  }
  constant.data = ir::KeepBytes(module_, bytes);
  return constant;
}

void Folder::Become(InstrId id, Constant constant) {
  module_.constants.push_back(std::move(constant));
  Instr& instr = function_.instr(id);
  instr.kind = InstrKind::kConstant;
  instr.constant = ConstantId(module_.constants.size() - 1);
  instr.operands.clear();
  instr.attributes = {};
}

// Contents that inference knows as plain numbers, such as the shape of a
// tensor of fixed size.
bool Folder::FoldContents(InstrId id) {
  const ValueId result = function_.instr(id).results[0];
  const ir::Value& value = function_.value(result);
  const auto dims = KnownDims(result);
  if (!value.contents.has_value() || !dims.has_value()) return false;
  const DType dtype = value.type.dtype;
  const auto element = static_cast<std::size_t>(DTypeBits(dtype) / 8);
  Bytes bytes;
  for (const Dim dim : *value.contents) {
    const auto number = module_.dims.Known(dim);
    if (!number.has_value()) return false;
    // Little-endian: the low bytes of the number are the narrower integer.
    const auto* at = reinterpret_cast<const std::byte*>(&*number);
    bytes.insert(bytes.end(), at, at + element);
  }
  if (static_cast<std::size_t>(*ElementCount(*dims)) * element !=
      bytes.size()) {
    return false;
  }
  Become(id, Make(result, std::move(bytes)));
  return true;
}

// A repeated value stays a value and a shape.
bool Folder::FoldRepeat(InstrId id) {
  const Instr& instr = function_.instr(id);
  const ValueId result = instr.results[0];
  const OperatorInfo& info = InfoOf(instr.code);
  const auto dims = KnownDims(result);
  if (!dims.has_value() || *ElementCount(*dims) <= 1) return false;
  const Constant* source = nullptr;
  if (instr.code == OperatorCode::kFull) {
    source = InputConstant(instr, 1);
    if (source == nullptr || source->data.empty()) return false;
  } else if (MovesElements(instr.code)) {
    source = InputConstant(instr, 0);
    if (source == nullptr || !source->repeat) return false;
  }
  if (source != nullptr) {
    Constant constant;
    constant.name = function_.value(result).name;
    constant.dtype = source->dtype;
    constant.dims = *dims;
    constant.repeat = true;
    constant.data = source->data.first(
        static_cast<std::size_t>(DTypeBits(source->dtype) / 8));
    Become(id, std::move(constant));
    return true;
  }
  // Elementwise operators on repeated values repeat their result on one.
  if (!info.Is(kElementwise)) return false;
  auto query = ir::MakeKernelRequest(module_, function_, instr);
  if (!query.has_value()) return false;
  std::vector<const void*> inputs;
  std::vector<Bytes> copies;
  const std::vector<int64_t> ones(dims->size(), 1);
  const std::span<const int64_t> one_strides(ones);
  for (std::size_t i = 0; i < instr.operands.size(); ++i) {
    inputs.push_back(nullptr);
    if (!instr.operands[i].value.valid()) continue;
    const Constant* constant = InputConstant(instr, i);
    if (constant == nullptr || constant->data.empty()) return false;
    const auto count = ElementCount(constant->dims);
    if (!constant->repeat && count != 1) return false;
    if (constant->dims.size() > ones.size()) return false;
    inputs[i] = Aligned(constant->data, copies);
    query->inputs[i].dims = one_strides.first(constant->dims.size());
    query->inputs[i].strides = query->inputs[i].dims;
    query->inputs[i].constant_data = nullptr;
  }
  query->outputs[0].dims = ones;
  query->outputs[0].strides = ones;
  const DType dtype = function_.value(result).type.dtype;
  auto bytes = RunNow(*query, inputs, DTypeBits(dtype) / 8);
  if (!bytes.has_value()) return false;
  Constant constant = Make(result, std::move(*bytes));
  constant.repeat = true;
  Become(id, std::move(constant));
  return true;
}

bool Folder::FoldByRunning(InstrId id) {
  const Instr& instr = function_.instr(id);
  const ValueId result = instr.results[0];
  const auto dims = KnownDims(result);
  if (!dims.has_value()) return false;
  const auto bytes_of = [](DType dtype, std::span<const int64_t> some) {
    return DTypeBytes(dtype, *ElementCount(some));
  };
  const DType dtype = function_.value(result).type.dtype;
  const auto result_bytes = bytes_of(dtype, *dims);
  if (!result_bytes.has_value()) return false;
  std::vector<const void*> inputs;
  std::vector<Bytes> copies;
  int64_t input_bytes = 0;
  for (std::size_t i = 0; i < instr.operands.size(); ++i) {
    inputs.push_back(nullptr);
    const ValueId operand = instr.operands[i].value;
    if (!operand.valid()) continue;
    if (function_.value(operand).type.kind == ir::TypeKind::kShape) continue;
    const Constant* constant = InputConstant(instr, i);
    if (constant == nullptr || constant->declared_only ||
        constant->packing.has_value() || DTypeBits(constant->dtype) < 8 ||
        !ElementCount(constant->dims).has_value()) {
      return false;
    }
    input_bytes += static_cast<int64_t>(constant->data.size());
    inputs[i] = constant->data.data();
  }
  if (*result_bytes > std::max(kFoldedBytes, input_bytes)) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Constant* constant =
        inputs[i] == nullptr ? nullptr : InputConstant(instr, i);
    if (constant == nullptr) continue;
    if (!constant->repeat) {
      inputs[i] = Aligned(constant->data, copies);
      continue;
    }
    const auto whole = bytes_of(constant->dtype, constant->dims);
    // A large repeated input would be written out just to be folded away.
    if (!whole.has_value() || *whole > (int64_t{16} << 20)) return false;
    Bytes& all = copies.emplace_back(static_cast<std::size_t>(*whole));
    for (std::size_t at = 0; at < all.size(); at += constant->data.size()) {
      std::memcpy(all.data() + at, constant->data.data(),
                  constant->data.size());
    }
    inputs[i] = all.data();
  }
  const auto query = ir::MakeKernelRequest(module_, function_, instr);
  if (!query.has_value()) return false;
  auto bytes = RunNow(*query, inputs, *result_bytes);
  if (!bytes.has_value()) return false;
  Become(id, Make(result, std::move(*bytes)));
  return true;
}

void Folder::Fold(InstrId id) {
  const Instr& instr = function_.instr(id);
  if (instr.kind != InstrKind::kOperator || !instr.outs.empty() ||
      instr.results.size() != 1 || !instr.results[0].valid()) {
    return;
  }
  if (!FoldContents(id) && !FoldRepeat(id)) FoldByRunning(id);
}

}  // namespace

void FoldConstants(ir::Module& module) {
  for (ir::Function& function : module.functions) {
    if (function.body.valid()) Folder(module, function).Run();
  }
}

}  // namespace ebb::passes
