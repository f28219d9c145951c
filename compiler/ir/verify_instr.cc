#include "compiler/ir/verify_instr.h"

#include <utility>

#include "compiler/ir/printer.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify_instr_impl.h"

namespace ebb::ir {

using enum InstrKind;

std::string InstrChecker::Word() const {
  if (instr_.kind == kOperator) {
    const OperatorInfo* info = FindOperator(static_cast<uint16_t>(instr_.code));
    return info == nullptr ? "operator" : std::string(info->mnemonic);
  }
  if (instr_.kind == kAlias) return "binding";
  if (instr_.kind == kCallClosure) return "call";
  return std::string(KindMnemonic(instr_.kind));
}

Status InstrChecker::Count(const char* what, std::size_t count, std::size_t low,
                           std::size_t high) const {
  if (count >= low && count <= high) return {};
  std::string wanted = std::to_string(low);
  if (high == SIZE_MAX) {
    wanted += " or more";
  } else if (high != low) {
    wanted += " to " + std::to_string(high);
  }
  return Bad(std::to_string(count) + " " + what + ", expected " + wanted);
}

Status InstrChecker::Present(std::size_t from) const {
  for (std::size_t i = from; i < instr_.operands.size(); ++i) {
    if (!instr_.operands[i].value.valid()) {
      return Bad("operand " + std::to_string(i) + " is absent");
    }
  }
  return {};
}

Status InstrChecker::OfKind(ValueId value, TypeKind kind,
                            const char* what) const {
  const Type& type = TypeOf(value);
  if (type.kind == kind || type.kind == TypeKind::kUnknown ||
      type.kind == TypeKind::kObject) {
    return {};
  }
  return Bad(NameOf(value) + " is of type " + ToString(module_.dims, type) +
             ", expected " + what);
}

Status InstrChecker::ResultOfKind(TypeKind kind, const char* what) const {
  if (!instr_.results[0].valid()) return {};
  return OfKind(instr_.results[0], kind, what);
}

// Destinations, scratch and regions belong to some kinds only.
Status InstrChecker::CheckFieldsUnused() const {
  const bool writes = instr_.kind == kOperator ||
                      instr_.kind == kScratchBytes || instr_.kind == kStoreInts;
  if (!writes && !instr_.outs.empty()) return Bad("takes no `into`");
  if (instr_.kind != kOperator && instr_.scratch.valid()) {
    return Bad("takes no `scratch`");
  }
  const std::size_t regions = instr_.kind == kIf     ? 2
                              : instr_.kind == kLoop ? 1
                                                     : 0;
  return Count("regions", instr_.regions.size(), regions, regions);
}

Status InstrChecker::CheckOperator() {
  const OperatorInfo* info = FindOperator(static_cast<uint16_t>(instr_.code));
  if (info == nullptr) {
    return Bad("no operator has the code " +
               std::to_string(static_cast<int>(instr_.code)));
  }
  const auto limit = [](int count) {
    return count == kVariadic ? SIZE_MAX : static_cast<std::size_t>(count);
  };
  const auto min_inputs = static_cast<std::size_t>(info->min_inputs);
  RETURN_IF_ERROR(Operands(min_inputs, limit(info->max_inputs)));
  for (std::size_t i = 0; i < instr_.operands.size(); ++i) {
    const ValueId value = instr_.operands[i].value;
    if (!value.valid()) {
      if (i < min_inputs || info->max_inputs == kVariadic) {
        return Bad("operand " + std::to_string(i) + " is absent");
      }
      continue;
    }
    const TypeKind kind = TypeOf(value).kind;
    if (!info->ReadsValue(i) ||
        (kind != TypeKind::kShape && kind != TypeKind::kInt)) {
      RETURN_IF_ERROR(OfKind(value, TypeKind::kTensor, "a tensor"));
    }
  }
  if (instr_.kind == kScratchBytes) {
    RETURN_IF_ERROR(Results(1, 1));
    RETURN_IF_ERROR(ResultOfKind(TypeKind::kInt, "an int"));
  } else if (instr_.results.empty() == instr_.outs.empty()) {
    return Bad(instr_.outs.empty() ? "neither results nor `into`"
                                   : "both results and `into`");
  } else if (instr_.outs.empty()) {
    RETURN_IF_ERROR(Results(1, limit(info->max_outputs)));
    for (const ValueId result : instr_.results) {
      if (result.valid()) {
        RETURN_IF_ERROR(OfKind(result, TypeKind::kTensor, "a tensor"));
      }
    }
  }
  RETURN_IF_ERROR(
      Count("outputs", instr_.outs.size(), 0, limit(info->max_outputs)));
  for (const ValueId out : instr_.outs) {
    if (out.valid()) {
      RETURN_IF_ERROR(OfKind(out, TypeKind::kTensor, "a tensor"));
    }
  }
  if (instr_.scratch.valid()) {
    RETURN_IF_ERROR(OfKind(instr_.scratch, TypeKind::kStorage, "a storage"));
  }
  if (auto status = CheckAttributes(*info, instr_.attributes);
      !status.has_value()) {
    return FailAt(function_, instr_, status.error().message);
  }
  return {};
}

Status InstrChecker::CheckConstant() {
  RETURN_IF_ERROR(Operands(0, 0));
  RETURN_IF_ERROR(Results(1, 1));
  if (!instr_.constant.valid() ||
      instr_.constant.index() >= module_.constants.size()) {
    return Bad("names no constant of the module");
  }
  if (!instr_.results[0].valid()) return {};
  RETURN_IF_ERROR(ResultOfKind(TypeKind::kTensor, "a tensor"));
  const Constant& constant = module_.constants[instr_.constant.index()];
  const Type& type = TypeOf(instr_.results[0]);
  if (!type.IsTensor() || !type.ranked) return {};
  bool fits =
      type.dtype == constant.dtype && type.dims.size() == constant.dims.size();
  for (std::size_t i = 0; fits && i < type.dims.size(); ++i) {
    const auto known = module_.dims.Known(type.dims[i]);
    fits = !known.has_value() || *known == constant.dims[i];
  }
  if (fits) return {};
  return Bad(
      NameOf(instr_.results[0]) + " is of type " +
      ToString(module_.dims, type) + ", " + SigilName('@', constant.name) +
      " of " + std::string(DTypeName(constant.dtype)) + "[" +
      Join(constant.dims, [](int64_t dim) { return std::to_string(dim); }) +
      "]");
}

Status InstrChecker::CheckMemory() {
  if (instr_.kind == kStoreInts) {
    RETURN_IF_ERROR(Operands(1, SIZE_MAX));
    RETURN_IF_ERROR(Present());
    RETURN_IF_ERROR(Results(0, 0));
    RETURN_IF_ERROR(Count("outputs", instr_.outs.size(), 1, 1));
    if (!instr_.outs[0].valid()) return Bad("the output is absent");
    return OfKind(instr_.outs[0], TypeKind::kTensor, "a tensor");
  }
  RETURN_IF_ERROR(Results(1, 1));
  if (instr_.kind == kAllocStorage) {
    if (instr_.dims.size() + instr_.operands.size() != 1) {
      return Bad("expected one size");
    }
    RETURN_IF_ERROR(Present());
    if (instr_.align < 1 || (instr_.align & (instr_.align - 1)) != 0) {
      return Bad("align=" + std::to_string(instr_.align) +
                 " is not a power of two");
    }
    if (!instr_.operands.empty()) {
      RETURN_IF_ERROR(
          OfKind(instr_.operands[0].value, TypeKind::kInt, "an int"));
    }
    return ResultOfKind(TypeKind::kStorage, "a storage");
  }
  RETURN_IF_ERROR(Operands(1, 1));
  RETURN_IF_ERROR(Present());
  RETURN_IF_ERROR(Dims(1, 1));
  const bool placed = instr_.kind == kAllocTensor;
  RETURN_IF_ERROR(OfKind(instr_.operands[0].value,
                         placed ? TypeKind::kStorage : TypeKind::kTensor,
                         placed ? "a storage" : "a tensor"));
  if (!instr_.results[0].valid()) return {};
  if (!TypeOf(instr_.results[0]).IsTensor()) {
    return Bad(NameOf(instr_.results[0]) + " needs a tensor type");
  }
  return {};
}

Status InstrChecker::CheckIf() {
  RETURN_IF_ERROR(Operands(1, 1));
  RETURN_IF_ERROR(Present());
  for (const RegionId region : instr_.regions) {
    if (!function_.region(region).params.empty()) {
      return Bad("a branch has parameters");
    }
    if (function_.region(region).instrs.empty()) continue;
    const Instr& end = function_.instr(function_.region(region).instrs.back());
    if (end.kind == kYield && end.operands.size() != instr_.results.size()) {
      return FailAt(function_, end,
                    "yield: " + std::to_string(end.operands.size()) +
                        " operands for " +
                        std::to_string(instr_.results.size()) + " results");
    }
  }
  return {};
}

// What the body continues with beyond the carried values are scan outputs.
Status InstrChecker::CheckLoop() {
  RETURN_IF_ERROR(Operands(2, SIZE_MAX));
  RETURN_IF_ERROR(Present(2));
  const Region& body = function_.region(instr_.regions[0]);
  const std::size_t carried = instr_.operands.size() - 2;
  if (body.params.size() != carried + 1) {
    return Bad(std::to_string(body.params.size()) +
               " parameters of the body, expected " +
               std::to_string(carried + 1));
  }
  if (!body.params[0].valid() ||
      TypeOf(body.params[0]).kind != TypeKind::kInt) {
    return Bad("the counter is not an int");
  }
  RETURN_IF_ERROR(Results(carried, SIZE_MAX));
  if (body.instrs.empty()) return {};
  const Instr& end = function_.instr(body.instrs.back());
  if (end.kind == kContinue &&
      end.operands.size() != instr_.results.size() + 1) {
    return FailAt(function_, end,
                  "continue: " + std::to_string(end.operands.size()) +
                      " operands, expected a condition and " +
                      std::to_string(instr_.results.size()) + " values");
  }
  return {};
}

// Kinds of which counts are all there is to say.
Status InstrChecker::CheckSimple() {
  RETURN_IF_ERROR(Present(instr_.kind == kContinue ? 1 : 0));
  switch (instr_.kind) {
    case kShape:
    case kInt:
      RETURN_IF_ERROR(Operands(0, 0));
      RETURN_IF_ERROR(Dims(instr_.kind == kInt ? 1 : 0,
                           instr_.kind == kInt ? 1 : SIZE_MAX));
      break;
    case kMatchCast:
      RETURN_IF_ERROR(Operands(1, 1));
      RETURN_IF_ERROR(Results(1, 1));
      if (instr_.results[0].valid() &&
          TypeOf(instr_.results[0]).kind == TypeKind::kUnknown) {
        return Bad(NameOf(instr_.results[0]) + " needs a type");
      }
      break;
    case kGet:
      if (instr_.operands.size() + instr_.dims.size() != 2 ||
          instr_.operands.empty()) {
        return Bad("expected a value and an index");
      }
      break;
    case kAlias:
    case kLength:
      RETURN_IF_ERROR(Operands(1, 1));
      break;
    case kSequenceInsert:
      RETURN_IF_ERROR(Operands(2, 3));
      break;
    case kSequenceErase:
      RETURN_IF_ERROR(Operands(1, 2));
      break;
    case kOptional:
      RETURN_IF_ERROR(Operands(0, 1));
      break;
    case kContinue:
      RETURN_IF_ERROR(Operands(1, SIZE_MAX));
      return Results(0, 0);
    case kYield:
      return Results(0, 0);
    default:
      break;
  }
  return Results(1, 1);
}

Status InstrChecker::Run() {
  RETURN_IF_ERROR(CheckFieldsUnused());
  switch (instr_.kind) {
    case kOperator:
    case kScratchBytes:
      return CheckOperator();
    case kConstant:
      return CheckConstant();
    case kAllocStorage:
    case kAllocTensor:
    case kView:
    case kStoreInts:
      return CheckMemory();
    case kIf:
      return CheckIf();
    case kLoop:
      return CheckLoop();
    case kCall:
    case kMakeClosure:
      return CheckCall();
    case kCallClosure:
      return CheckClosureCall();
    case kCallExternal:
      return Present();
    case kKillTensor:
    case kKillStorage:
    case kKillObject:
      return CheckKill();
    case kReturn:
      return CheckReturn();
    default:
      return CheckSimple();
  }
}

std::unexpected<Error> FailAt(const Function& function, const Instr& instr,
                              std::string message, ErrorCode code) {
  if (instr.location.line != 0) {
    return Fail(code, std::move(message),
                std::to_string(instr.location.line) + ":" +
                    std::to_string(instr.location.column));
  }
  std::string where = "function " + SigilName('@', function.name);
  if (!instr.node.empty()) where += ", node " + Quote(instr.node);
  return Fail(code, std::move(message), std::move(where));
}

Status VerifyInstr(const Module& module, const FunctionNames& functions,
                   const Function& function, const Instr& instr) {
  return InstrChecker(module, functions, function, instr).Run();
}

}  // namespace ebb::ir
