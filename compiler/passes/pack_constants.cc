#include "compiler/passes/pack_constants.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/analysis/kernel_request.h"
#include "compiler/ir/aligned_bytes.h"
#include "compiler/ir/names.h"
#include "vm/kernels/packing.h"

namespace ebb::passes {
namespace {

using ir::Constant;
using ir::Instr;
using ir::InstrId;
using ir::InstrKind;
using ir::ValueId;

class Packer {
 public:
  using PackedCallback = std::function<void(std::span<const std::byte>)>;

  Packer(ir::Module& module, ir::Function& function, kernels::Backend backend,
         const PackedCallback& packed)
      : module_(module),
        function_(function),
        backend_(backend),
        packed_(packed),
        sizes_(ir::MakeLikelySizes(module.dims)),
        names_(function) {}

  void Run() {
    for (std::size_t r = 0; r < function_.regions.size(); ++r) {
      const std::vector<InstrId> code = function_.regions[r].instrs;
      for (const InstrId id : code) {
        if (function_.instr(id).kind == InstrKind::kOperator) Pack(id);
      }
    }
    PlaceNew();
  }

 private:
  void Pack(InstrId id) {
    if (!InfoOf(function_.instr(id).code).Is(kDense)) return;
    const auto query = ir::MakeRepresentativeRequest(
        module_, function_, function_.instr(id), sizes_);
    if (!query.has_value()) return;
    for (std::size_t i = 0; i < function_.instr(id).operands.size(); ++i) {
      const ValueId value = function_.instr(id).operands[i].value;
      const Constant* constant = ir::ConstantOf(module_, function_, value);
      if (constant == nullptr || constant->repeat || constant->declared_only ||
          constant->packing.has_value() || DTypeBits(constant->dtype) < 8) {
        continue;
      }
      const auto packing = kernels::WantedPacking(query->Get(backend_, 1), i);
      if (!packing.has_value()) continue;
      const auto packed = PackedValue(value, *packing);
      if (packed.has_value()) {
        function_.instr(id).operands[i].value = *packed;
      }
    }
  }

  // The packed form of a constant's value, made at first sight.
  std::optional<ValueId> PackedValue(ValueId plain, const Packing& packing) {
    std::vector<Made>& made = made_[function_.value(plain).def];
    for (const Made& one : made) {
      if (one.packing == packing) return one.value;
    }
    const ir::ConstantId source =
        function_.instr(function_.value(plain).def).constant;
    Constant constant = module_.constants[source.index()];
    const int64_t element_bytes = DTypeBits(constant.dtype) / 8;
    if (!kernels::CheckPacking(packing, constant.dims).has_value()) {
      return std::nullopt;
    }
    const auto bytes =
        kernels::PackedBytes(packing, constant.dims, element_bytes);
    if (!bytes.has_value()) return std::nullopt;
    auto kept =
        std::make_shared<ir::AlignedBytes>(static_cast<std::size_t>(*bytes));
    if (kept->data() == nullptr) return std::nullopt;
    kernels::PackConstant(packing, constant.dims, element_bytes,
                          constant.data.data(), kept->data(), packed_);
    constant.data = kept->span();
    constant.packing = packing;
    module_.owned.push_back(std::move(kept));
    module_.constants.push_back(std::move(constant));

    Instr instr;
    instr.kind = InstrKind::kConstant;
    instr.constant = ir::ConstantId(module_.constants.size() - 1);
    ir::Value value;
    value.name = names_.Unique(function_.value(plain).name + "_packed");
    value.type = function_.value(plain).type;
    value.def = InstrId(function_.instrs.size());
    const ValueId result(function_.values.size());
    function_.values.push_back(std::move(value));
    instr.results = {result};
    made.push_back({packing, result, InstrId(function_.instrs.size())});
    function_.instrs.push_back(std::move(instr));
    return result;
  }

  // Each new constant stands behind the one it was made from.
  void PlaceNew() {
    for (ir::Region& region : function_.regions) {
      std::vector<InstrId> code;
      for (const InstrId id : region.instrs) {
        code.push_back(id);
        const auto at = made_.find(id);
        if (at == made_.end()) continue;
        for (const Made& one : at->second) code.push_back(one.def);
      }
      region.instrs = std::move(code);
    }
  }

  struct Made {
    Packing packing;
    ValueId value;
    InstrId def;
  };

  ir::Module& module_;
  ir::Function& function_;
  kernels::Backend backend_;
  const PackedCallback& packed_;
  const ir::LikelySizes sizes_;
  ir::Names names_;
  std::map<InstrId, std::vector<Made>> made_;
};

}  // namespace

void PackConstants(
    ir::Module& module, kernels::Backend backend,
    const std::function<void(std::span<const std::byte>)>& packed) {
  for (ir::Function& function : module.functions) {
    if (function.body.valid()) Packer(module, function, backend, packed).Run();
  }
}

}  // namespace ebb::passes
