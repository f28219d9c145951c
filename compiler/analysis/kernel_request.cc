#include "compiler/analysis/kernel_request.h"

#include <algorithm>
#include <utility>

#include "compiler/analysis/contents.h"

namespace ebb::ir {
namespace {

using Numbers = std::vector<int64_t>;

Numbers DenseStridesOf(const Numbers& dims) {
  Numbers strides(dims.size());
  int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

Numbers ChannelsLastStridesOf(const Numbers& dims) {
  Numbers strides(dims.size());
  int64_t stride = 1;
  const auto place = [&](std::size_t i) {
    strides[i] = stride;
    stride *= dims[i];
  };
  place(1);
  for (std::size_t i = dims.size(); i-- > 2;) place(i);
  place(0);
  return strides;
}

}  // namespace

const Constant* ConstantOf(const Module& module, const Function& function,
                           ValueId value) {
  if (!value.valid()) return nullptr;
  const InstrId def = function.value(value).def;
  if (!def.valid()) return nullptr;
  const Instr& instr = function.instr(def);
  if (instr.kind != InstrKind::kConstant) return nullptr;
  return &module.constants[instr.constant.index()];
}

class RequestMaker {
 public:
  // `guess`: sizes of symbols that are not known; nullptr: then there is no
  // request.
  RequestMaker(const Module& module, const Function& function,
               const LikelySizes* guess)
      : module_(module), function_(function), guess_(guess) {}

  std::optional<KernelRequest> Make(const Instr& instr) {
    request_.info = &InfoOf(instr.code);
    request_.attributes = &instr.attributes;
    for (std::size_t i = 0; i < instr.operands.size(); ++i) {
      const ValueId id = instr.operands[i].value;
      kernels::Operand& operand = request_.inputs.emplace_back();
      if (!id.valid()) continue;
      const bool made = request_.info->ReadsValue(i) ? FillList(id, operand)
                                                     : FillTensor(id, operand);
      if (!made) return std::nullopt;
    }
    const auto& outputs = instr.outs.empty() ? instr.results : instr.outs;
    for (const ValueId id : outputs) {
      kernels::Operand& operand = request_.outputs.emplace_back();
      if (id.valid() && !FillTensor(id, operand)) return std::nullopt;
    }
    return std::move(request_);
  }

 private:
  std::optional<Numbers> Sizes(const std::vector<Dim>& dims) const {
    Numbers numbers;
    for (const Dim dim : dims) {
      auto number = module_.dims.Known(dim);
      if (!number.has_value() && guess_ != nullptr) {
        number = module_.dims.Evaluate(dim, *guess_);
      }
      if (!number.has_value()) return std::nullopt;
      numbers.push_back(*number);
    }
    return numbers;
  }

  std::optional<Numbers> StridesOf(const Type& type,
                                   const Numbers& dims) const {
    switch (type.layout) {
      case Layout::kRowMajor:
        return DenseStridesOf(dims);
      case Layout::kChannelsLast:
        return dims.size() < 2 ? DenseStridesOf(dims)
                               : ChannelsLastStridesOf(dims);
      case Layout::kStrided:
        return Sizes(type.strides);
    }
    return std::nullopt;
  }

  std::span<const int64_t> Keep(Numbers numbers) {
    request_.lists_.push_back(std::move(numbers));
    return request_.lists_.back();
  }

  bool FillTensor(ValueId id, kernels::Operand& operand) {
    const Type& type = function_.value(id).type;
    if (!type.IsTensor() || !type.ranked) return false;
    auto dims = Sizes(type.dims);
    if (!dims.has_value()) return false;
    auto strides = StridesOf(type, *dims);
    if (!strides.has_value()) return false;
    operand.kind = kernels::OperandKind::kTensor;
    operand.dtype = type.dtype;
    operand.dims = Keep(std::move(*dims));
    operand.strides = Keep(std::move(*strides));
    const Constant* constant = ConstantOf(module_, function_, id);
    if (constant != nullptr && !constant->repeat) {
      operand.constant_data = constant->data.data();
      operand.packing =
          constant->packing.has_value() ? &*constant->packing : nullptr;
    }
    return true;
  }

  bool FillList(ValueId id, kernels::Operand& operand) {
    const Value& value = function_.value(id);
    operand.kind = kernels::OperandKind::kList;
    operand.dtype = value.type.IsTensor() ? value.type.dtype : DType::kI64;
    if (value.contents.has_value()) {
      auto ints = Sizes(*value.contents);
      if (!ints.has_value()) return false;
      operand.ints = Keep(std::move(*ints));
    } else {
      const Constant* constant = ConstantOf(module_, function_, id);
      if (constant == nullptr) return false;
      auto floats = FloatsOfConstant(*constant);
      if (!floats.has_value()) return false;
      request_.float_lists_.push_back(std::move(*floats));
      operand.floats = request_.float_lists_.back();
    }
    // The shape of the list itself, for kernels that care about the rank.
    if (value.type.IsTensor() && value.type.ranked) {
      auto dims = Sizes(value.type.dims);
      if (dims.has_value()) operand.dims = Keep(std::move(*dims));
    }
    return true;
  }

  const Module& module_;
  const Function& function_;
  const LikelySizes* guess_;
  KernelRequest request_;
};

std::optional<KernelRequest> MakeKernelRequest(const Module& module,
                                               const Function& function,
                                               const Instr& instr) {
  return RequestMaker(module, function, nullptr).Make(instr);
}

LikelySizes MakeLikelySizes(const DimTable& dims) {
  // Large enough that a kernel for large shapes is asked, and even.
  constexpr int64_t kLikelySize = 64;
  LikelySizes sizes;
  for (std::size_t s = 0; s < dims.symbol_count(); ++s) {
    const DimRange range = dims.RangeOfSymbol(SymbolId(s));
    sizes.emplace_back(std::clamp(kLikelySize, range.low, range.high));
  }
  return sizes;
}

std::optional<KernelRequest> MakeRepresentativeRequest(
    const Module& module, const Function& function, const Instr& instr,
    const LikelySizes& sizes) {
  return RequestMaker(module, function, &sizes).Make(instr);
}

}  // namespace ebb::ir
