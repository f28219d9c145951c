#include "compiler/analysis/infer.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/shape_rules/dispatch.h"
#include "bytecode/shape_rules/rule.h"
#include "compiler/analysis/contents.h"
#include "compiler/analysis/kernel_request.h"
#include "compiler/analysis/symbolic_arith.h"

namespace ebb::ir {
namespace {

// "node \"conv_1\" (conv)" for messages; the location when there is no node.
std::string WhereOf(const Instr& instr) {
  const std::string op(
      instr.kind == InstrKind::kIf ? "if" : InfoOf(instr.code).mnemonic);
  if (!instr.node.empty()) return "node \"" + instr.node + "\" (" + op + ")";
  if (instr.location.line != 0) {
    return std::to_string(instr.location.line) + ":" +
           std::to_string(instr.location.column) + " (" + op + ")";
  }
  return op;
}

// An operand as shape rules see it: shapes and integers are small tensors.
Shaped<Dim> ShapedOf(DimTable& dims, const Type& type) {
  Shaped<Dim> shaped;
  if (type.kind == TypeKind::kShape) {
    shaped.dtype = DType::kI64;
    shaped.dims = {dims.Constant(type.shape_rank)};
  } else if (type.kind == TypeKind::kInt) {
    shaped.dtype = DType::kI64;
  } else {
    shaped.dtype = type.dtype;
    shaped.ranked = type.ranked;
    shaped.dims = type.dims;
  }
  return shaped;
}

// The result keeps dims that it had where the rule leaves them open, so that
// inferring twice changes nothing; else they get a name.
void FillOpenDims(Module& module, const Type& before, Type& after) {
  for (std::size_t i = 0; i < after.dims.size(); ++i) {
    if (after.dims[i].valid()) continue;
    const bool had = before.IsTensor() && before.ranked &&
                     before.dims.size() == after.dims.size();
    after.dims[i] = had ? before.dims[i] : module.dims.FreshSymbol("d");
  }
}

Status InferOperator(Module& module, Function& function, Instr& instr) {
  const OperatorInfo& info = InfoOf(instr.code);
  SymbolicArith arith(module.dims);
  std::vector<Shaped<Dim>> inputs;
  std::vector<std::optional<Contents<Dim>>> contents;
  for (std::size_t i = 0; i < instr.operands.size(); ++i) {
    const ValueId value = instr.operands[i].value;
    inputs.emplace_back();
    contents.emplace_back();
    if (!value.valid()) continue;
    const Value& operand = function.value(value);
    const TypeKind kind = operand.type.kind;
    if (kind != TypeKind::kTensor && kind != TypeKind::kShape &&
        kind != TypeKind::kInt) {
      return Fail(ErrorCode::kShapeMismatch,
                  "operand " + std::to_string(i) + " (%" + operand.name +
                      ") is not a tensor",
                  WhereOf(instr));
    }
    inputs.back() = ShapedOf(module.dims, operand.type);
    if (!info.ReadsValue(i)) continue;
    if (operand.contents.has_value()) {
      contents.back().emplace();
      contents.back()->ints = *operand.contents;
    } else if (const Constant* constant = ConstantOf(module, function, value);
               constant != nullptr && IsFloat(constant->dtype)) {
      if (auto floats = FloatsOfConstant(*constant)) {
        contents.back().emplace();
        contents.back()->floats = std::move(*floats);
      }
    }
  }
  std::vector<Shaped<Dim>> outputs(instr.results.size());
  RuleContext<SymbolicArith> context{arith,  info,     instr.attributes,
                                     inputs, contents, outputs};
  if (Status status = InferShapesWith(context); !status.has_value()) {
    Error error = std::move(status).error();
    error.where = WhereOf(instr);
    return std::unexpected(std::move(error));
  }
  for (std::size_t i = 0; i < instr.results.size(); ++i) {
    if (!instr.results[i].valid()) continue;
    Value& result = function.value(instr.results[i]);
    Type type = outputs[i].ranked
                    ? Type::Tensor(outputs[i].dtype, std::move(outputs[i].dims))
                    : Type::Unranked(outputs[i].dtype);
    FillOpenDims(module, result.type, type);
    type.layout = result.type.layout;
    type.strides = result.type.strides;
    result.type = std::move(type);
  }
  if (!instr.results.empty() && instr.results[0].valid()) {
    function.value(instr.results[0]).contents =
        ContentsOfOperator(module, function, instr);
  }
  return {};
}

// Value `result` is one more name for `source`, unless it says its own type.
void CopyInfo(Function& function, ValueId source, ValueId result) {
  if (!source.valid() || !result.valid()) return;
  function.value(result).type = function.value(source).type;
  function.value(result).contents = function.value(source).contents;
}

Type ElementsType(const Function& function, const Instr& instr, TypeKind kind) {
  Type type = Type::Of(kind);
  for (const Operand& operand : instr.operands) {
    type.elements.push_back(function.value(operand.value).type);
  }
  return type;
}

Status InferIf(Module& module, Function& function, const Instr& instr) {
  std::vector<const Instr*> ends;
  for (const RegionId region : instr.regions) {
    ends.push_back(&function.instr(function.region(region).instrs.back()));
  }
  for (std::size_t i = 0; i < instr.results.size(); ++i) {
    if (!instr.results[i].valid()) continue;
    const Type& a = function.value(ends[0]->operands[i].value).type;
    const Type& b = function.value(ends[1]->operands[i].value).type;
    auto met = MeetTypes(module, a, b);
    if (!met.has_value()) {
      Error error = std::move(met).error();
      error.where = WhereOf(instr);
      return std::unexpected(std::move(error));
    }
    Type type = std::move(*met);
    Value& result = function.value(instr.results[i]);
    // A second inference keeps the symbols of the first.
    if (result.type.IsTensor() && type.IsTensor() && result.type.ranked &&
        type.ranked && result.type.dims.size() == type.dims.size()) {
      for (std::size_t d = 0; d < type.dims.size(); ++d) {
        if (a.dims[d] != b.dims[d]) type.dims[d] = result.type.dims[d];
      }
    }
    result.type = std::move(type);
  }
  return {};
}

Status InferCall(Module& module, Function& function, const Instr& instr) {
  const FunctionId callee = module.FindFunction(instr.symbol);
  for (std::size_t i = 0; i < instr.results.size(); ++i) {
    Value& result = function.value(instr.results[i]);
    if (result.type.kind != TypeKind::kUnknown) continue;
    Type type = Type::Of(TypeKind::kObject);
    if (callee.valid() && i < module.function(callee).result_types.size()) {
      type = module.function(callee).result_types[i];
      // The callee's symbols are its own: here they are fresh, unless fixed.
      for (Dim& dim : type.dims) {
        if (!module.dims.Known(dim)) dim = module.dims.FreshSymbol("d");
      }
    }
    result.type = std::move(type);
  }
  return {};
}

Type GetType(const Type& from, const Instr& instr, const DimTable& dims) {
  if (from.kind == TypeKind::kTuple && !instr.dims.empty()) {
    const auto index = dims.Known(instr.dims[0]);
    if (index.has_value() && *index >= 0 &&
        *index < static_cast<int64_t>(from.elements.size())) {
      return from.elements[static_cast<std::size_t>(*index)];
    }
  } else if (from.elements.size() == 1) {
    return from.elements[0];
  }
  return Type::Of(TypeKind::kObject);
}

}  // namespace

Expected<Type> MeetTypes(Module& module, const Type& a, const Type& b) {
  if (a == b) return a;
  if (a.kind != b.kind) return Type::Of(TypeKind::kObject);
  if (!a.IsTensor()) return a;
  if (a.dtype != b.dtype) {
    return Fail(ErrorCode::kShapeMismatch,
                "branches give " + std::string(DTypeName(a.dtype)) + " and " +
                    std::string(DTypeName(b.dtype)));
  }
  if (!a.ranked || !b.ranked || a.dims.size() != b.dims.size()) {
    return Type::Unranked(a.dtype);
  }
  Type type = Type::Tensor(a.dtype, a.dims);
  for (std::size_t i = 0; i < type.dims.size(); ++i) {
    if (a.dims[i] != b.dims[i]) type.dims[i] = module.dims.FreshSymbol("d");
  }
  return type;
}

Status InferInstr(Module& module, Function& function, InstrId id) {
  Instr& instr = function.instr(id);
  const auto set = [&](std::size_t i, Type type) {
    if (i < instr.results.size() && instr.results[i].valid()) {
      function.value(instr.results[i]).type = std::move(type);
    }
  };
  switch (instr.kind) {
    case InstrKind::kOperator:
      return instr.outs.empty() ? InferOperator(module, function, instr)
                                : Status();
    case InstrKind::kConstant: {
      const Constant& constant = module.constants[instr.constant.index()];
      std::vector<Dim> dims;
      for (const int64_t dim : constant.dims) {
        dims.push_back(module.dims.Constant(dim));
      }
      set(0, Type::Tensor(constant.dtype, std::move(dims)));
      function.value(instr.results[0]).contents =
          ContentsOfConstant(module.dims, constant);
      return {};
    }
    case InstrKind::kShape:
      set(0, Type::Shape(static_cast<int>(instr.dims.size())));
      function.value(instr.results[0]).contents = instr.dims;
      return {};
    case InstrKind::kInt:
      set(0, Type::Of(TypeKind::kInt));
      function.value(instr.results[0]).contents = instr.dims;
      return {};
    case InstrKind::kLength:
    case InstrKind::kScratchBytes:
      set(0, Type::Of(TypeKind::kInt));
      return {};
    case InstrKind::kAlias:
      CopyInfo(function, instr.operands[0].value, instr.results[0]);
      return {};
    case InstrKind::kTuple:
      set(0, ElementsType(function, instr, TypeKind::kTuple));
      return {};
    case InstrKind::kSequence:
    case InstrKind::kOptional: {
      const bool sequence = instr.kind == InstrKind::kSequence;
      Type type =
          Type::Of(sequence ? TypeKind::kSequence : TypeKind::kOptional);
      for (const Operand& operand : instr.operands) {
        const Type& element = function.value(operand.value).type;
        if (type.elements.empty()) {
          type.elements.push_back(element);
        } else {
          TRY(type.elements[0], MeetTypes(module, type.elements[0], element));
        }
      }
      set(0, std::move(type));
      return {};
    }
    case InstrKind::kSequenceInsert:
    case InstrKind::kSequenceErase:
      set(0, function.value(instr.operands[0].value).type);
      return {};
    case InstrKind::kGet:
      set(0, GetType(function.value(instr.operands[0].value).type, instr,
                     module.dims));
      return {};
    case InstrKind::kMakeClosure:
      set(0, Type::Of(TypeKind::kClosure));
      return {};
    case InstrKind::kCall:
      return InferCall(module, function, instr);
    case InstrKind::kCallClosure:
    case InstrKind::kCallExternal:
      for (const ValueId result : instr.results) {
        if (!result.valid()) continue;
        Type& type = function.value(result).type;
        if (type.kind == TypeKind::kUnknown) {
          type = Type::Of(TypeKind::kObject);
        }
      }
      return {};
    case InstrKind::kIf:
      return InferIf(module, function, instr);
    case InstrKind::kLoop: {
      // The declared types of the carried values are the results'.
      const Region& body = function.region(instr.regions[0]);
      for (std::size_t i = 0; i < instr.results.size(); ++i) {
        CopyInfo(function, body.params[i + 1], instr.results[i]);
      }
      return {};
    }
    case InstrKind::kAllocStorage:
      set(0, Type::Of(TypeKind::kStorage));
      return {};
    case InstrKind::kMatchCast:
      function.value(instr.results[0]).contents =
          function.value(instr.operands[0].value).contents;
      return {};
    case InstrKind::kAllocTensor:
    case InstrKind::kView:
    case InstrKind::kStoreInts:
    case InstrKind::kKillTensor:
    case InstrKind::kKillStorage:
    case InstrKind::kKillObject:
    case InstrKind::kReturn:
    case InstrKind::kYield:
    case InstrKind::kContinue:
      return {};
  }
  return {};
}

Status InferFunction(Module& module, Function& function) {
  if (!function.body.valid()) return {};
  // An explicit stack of places: regions may nest up to kMaxNesting, and an
  // instruction with regions is inferred after them.
  struct Place {
    RegionId region;
    std::size_t next = 0;
    std::size_t next_region = 0;
  };
  std::vector<Place> stack{{function.body}};
  while (!stack.empty()) {
    Place& place = stack.back();
    const Region& region = function.region(place.region);
    if (place.next == region.instrs.size()) {
      stack.pop_back();
      continue;
    }
    const InstrId id = region.instrs[place.next];
    const Instr& instr = function.instr(id);
    if (place.next_region < instr.regions.size()) {
      stack.push_back({instr.regions[place.next_region++]});
      continue;
    }
    RETURN_IF_ERROR(InferInstr(module, function, id));
    place.next_region = 0;
    ++place.next;
  }
  return {};
}

Status InferTypes(Module& module) {
  for (Function& function : module.functions) {
    RETURN_IF_ERROR(InferFunction(module, function));
  }
  return {};
}

}  // namespace ebb::ir
