#include "compiler/passes/fold_shapes.h"

#include <utility>
#include <vector>

#include "compiler/analysis/bound_symbols.h"
#include "compiler/ir/names.h"

namespace ebb::passes {
namespace {

using ir::Instr;
using ir::InstrId;
using ir::InstrKind;
using ir::RegionId;
using ir::Type;
using ir::TypeKind;
using ir::ValueId;

class Folder {
 public:
  Folder(ir::Module& module, ir::Function& function)
      : function_(function), names_(function), bound_(module.dims) {}

  void Run() {
    for (const ir::Param& param : function_.params) {
      bound_.Bind(function_.value(param.value).type);
    }
    Fold(function_.body);
  }

 private:
  // Recursion is as deep as regions nest: kMaxNesting at most.
  void Fold(RegionId region) {
    const std::vector<InstrId> before =
        std::exchange(function_.region(region).instrs, {});
    std::vector<InstrId> code;
    for (const InstrId id : before) {
      if (function_.instr(id).kind == InstrKind::kOperator) {
        FoldOperands(id, code);
      }
      const std::vector<RegionId> regions = function_.instr(id).regions;
      for (const RegionId inner : regions) {
        const auto scope = bound_.Enter();
        for (const ValueId param : function_.region(inner).params) {
          bound_.Bind(function_.value(param).type);
        }
        Fold(inner);
        bound_.Leave(scope);
      }
      for (const ValueId result : function_.instr(id).results) {
        if (result.valid()) bound_.Bind(function_.value(result).type);
      }
      code.push_back(id);
    }
    function_.region(region).instrs = std::move(code);
  }

  void FoldOperands(InstrId id, std::vector<InstrId>& code) {
    const OperatorInfo& info = InfoOf(function_.instr(id).code);
    for (std::size_t i = 0; i < function_.instr(id).operands.size(); ++i) {
      const ValueId value = function_.instr(id).operands[i].value;
      if (!value.valid() || !info.ReadsValue(i)) continue;
      const ir::Value& operand = function_.value(value);
      if (!operand.type.IsTensor() || !operand.contents.has_value() ||
          !bound_.AllBound(*operand.contents)) {
        continue;
      }
      // A shape is a list of int64; the dtype of Range's inputs is that of
      // its result.
      if (info.code == OperatorCode::kRange &&
          operand.type.dtype != DType::kI64) {
        continue;
      }
      Instr shape;
      shape.kind = InstrKind::kShape;
      shape.dims = *operand.contents;
      shape.node = function_.instr(id).node;
      function_.instr(id).operands[i].value =
          Define(std::move(shape), operand.name, code);
    }
  }

  ValueId Define(Instr instr, const std::string& hint,
                 std::vector<InstrId>& code) {
    ir::Value value;
    value.name = names_.Unique(hint + "_dims");
    value.type = Type::Shape(static_cast<int>(instr.dims.size()));
    value.contents = instr.dims;
    value.def = InstrId(function_.instrs.size());
    const ValueId result(function_.values.size());
    function_.values.push_back(std::move(value));
    instr.results = {result};
    code.emplace_back(function_.instrs.size());
    function_.instrs.push_back(std::move(instr));
    return result;
  }

  ir::Function& function_;
  ir::Names names_;
  ir::BoundSymbols bound_;
};

}  // namespace

void FoldShapes(ir::Module& module) {
  for (ir::Function& function : module.functions) {
    if (function.body.valid()) Folder(module, function).Run();
  }
}

}  // namespace ebb::passes
