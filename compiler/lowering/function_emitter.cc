#include "compiler/lowering/function_emitter.h"

#include <cassert>
#include <utility>

namespace ebb::lowering {

using bytecode::InOperand;
using bytecode::IntOperand;
using bytecode::kNoRegister;
using bytecode::Opcode;
using ir::Instr;
using ir::InstrKind;
using ir::TypeKind;
using ir::ValueId;

FunctionEmitter::FunctionEmitter(ModuleContext& context, ir::FunctionId id)
    : context_(context),
      module_(context.module),
      function_(context.module.function(id)),
      builder_(context.builder, context.functions[id.index()]),
      dims_(context.module.dims, builder_),
      hold_of_(function_.values.size(), kNoRegister) {}

const std::string& FunctionEmitter::NameOf(ValueId value) const {
  return function_.value(value).name;
}

Status FunctionEmitter::FailAt(const Instr& instr, std::string message) const {
  std::string where = "function " + function_.name;
  if (!instr.node.empty()) where += ", node \"" + instr.node + "\"";
  return Fail(ErrorCode::kInvalidModel, std::move(message), std::move(where));
}

bool FunctionEmitter::IsConstant(ValueId value) const {
  const ir::InstrId def = function_.value(value).def;
  return def.valid() && function_.instr(def).kind == InstrKind::kConstant;
}

int64_t FunctionEmitter::HoldOf(ValueId value) const {
  const int64_t hold = hold_of_[value.index()];
  assert(hold != kNoRegister);
  return hold;
}

int64_t FunctionEmitter::DefineHold(ValueId value) {
  if (!value.valid()) return kNoRegister;
  const int64_t hold = holds_.Take();
  hold_of_[value.index()] = hold;
  return hold;
}

std::vector<int64_t> FunctionEmitter::DefineHolds(const Instr& instr) {
  std::vector<int64_t> holds;
  for (const ValueId result : instr.results) {
    holds.push_back(DefineHold(result));
  }
  return holds;
}

void FunctionEmitter::ReleaseHold(ValueId value) {
  holds_.Release(HoldOf(value));
  released_.emplace_back(value, HoldOf(value));
  hold_of_[value.index()] = kNoRegister;
}

bytecode::PassOperand FunctionEmitter::Take(const ir::Operand& operand) {
  const int64_t hold = HoldOf(operand.value);
  if (!operand.move) return bytecode::PassOperand::Share(hold);
  ReleaseHold(operand.value);
  return bytecode::PassOperand::Move(hold);
}

// An int value, or the one element of a tensor that is read now.
Expected<IntOperand> FunctionEmitter::IntOf(ValueId value) {
  const ir::Value& v = function_.value(value);
  if (v.type.kind == TypeKind::kInt) {
    if (const auto at = int_of_.find(value); at != int_of_.end()) {
      return at->second;
    }
    assert(v.def.valid());
    return dims_.Emit(function_.instr(v.def).dims[0]);
  }
  const int64_t result = dims_.NewRegister();
  builder_.Emit(Opcode::kLoadInt)
      .DefInt(result)
      .Use(HoldOf(value))
      .Int(IntOperand::Immediate(0));
  return IntOperand::Register(result);
}

Expected<std::vector<IntOperand>> FunctionEmitter::IntsOf(ValueId value) {
  const ir::Value& v = function_.value(value);
  if (v.type.kind == TypeKind::kInt) {
    TRY(const IntOperand one, IntOf(value));
    return std::vector<IntOperand>{one};
  }
  assert(v.def.valid() && v.type.kind == TypeKind::kShape);
  return dims_.EmitAll(function_.instr(v.def).dims);
}

Expected<std::vector<InOperand>> FunctionEmitter::InsOf(const Instr& instr) {
  std::vector<InOperand> ins;
  for (const ir::Operand& operand : instr.operands) {
    if (!operand.value.valid()) {
      ins.push_back(InOperand::None());
      continue;
    }
    const TypeKind kind = function_.value(operand.value).type.kind;
    if (kind == TypeKind::kShape || kind == TypeKind::kInt) {
      TRY(auto ints, IntsOf(operand.value));
      ins.push_back(InOperand::Ints(std::move(ints)));
    } else {
      ins.push_back(InOperand::Hold(HoldOf(operand.value)));
    }
  }
  return ins;
}

// Symbols that some size, dim or check of the function is computed from (the
// others need no register), and what lies in each storage.
void FunctionEmitter::LookAhead() {
  const auto collect = [&](const std::vector<ir::Dim>& dims) {
    // Collecting searches the list, so each dim gets one of its own.
    for (const ir::Dim dim : dims) {
      std::vector<ir::SymbolId> symbols;
      module_.dims.CollectSymbols(dim, symbols);
      needed_.insert(symbols.begin(), symbols.end());
    }
  };
  for (const Instr& instr : function_.instrs) {
    collect(instr.dims);
    if (instr.kind == InstrKind::kAllocTensor) {
      first_tensor_in_.emplace(instr.operands[0].value, instr.results[0]);
    }
    if (instr.kind != InstrKind::kAllocTensor &&
        instr.kind != InstrKind::kView && instr.kind != InstrKind::kMatchCast) {
      continue;
    }
    for (const ValueId result : instr.results) {
      collect(function_.value(result).type.dims);
      collect(function_.value(result).type.strides);
    }
  }
}

void FunctionEmitter::BindSymbols(ValueId value) {
  const ir::Type& type = function_.value(value).type;
  if (!type.IsTensor() || !type.ranked) return;
  for (std::size_t axis = 0; axis < type.dims.size(); ++axis) {
    const auto symbol = module_.dims.AsSymbol(type.dims[axis]);
    if (!symbol.has_value() || !needed_.contains(*symbol) ||
        dims_.IsBound(*symbol)) {
      continue;
    }
    BindSymbol(*symbol, HoldOf(value), axis);
  }
}

void FunctionEmitter::BindSymbol(ir::SymbolId symbol, int64_t hold,
                                 std::size_t axis) {
  const int64_t size = dims_.NewRegister();
  builder_.Emit(Opcode::kDimOf)
      .DefInt(size)
      .Use(hold)
      .Imm(static_cast<int64_t>(axis))
      .Name(module_.dims.SymbolName(symbol));
  dims_.BindSymbol(symbol, IntOperand::Register(size));
}

void FunctionEmitter::BindSymbols(const Instr& instr) {
  for (const ValueId result : instr.results) {
    if (result.valid()) BindSymbols(result);
  }
}

void FunctionEmitter::EmitParams(bool is_entry) {
  for (const ir::Param& param : function_.params) {
    const ir::Value& value = function_.value(param.value);
    [[maybe_unused]] const int64_t hold = builder_.AddParam(
        value.name, LowerType(context_.builder, module_.dims, value.type),
        param.donated);
    [[maybe_unused]] const int64_t taken = DefineHold(param.value);
    assert(taken == hold);
    if (!param.donated) borrowed_.insert(param.value);
    if (is_entry && param.default_value.valid()) {
      bytecode::Param& lowered = builder_.function().params.back();
      lowered.optional_feed = true;
      lowered.default_value = context_.constants[param.default_value.index()];
    }
  }
  for (std::size_t i = 0; i < function_.result_types.size(); ++i) {
    builder_.AddResult(
        i < function_.result_names.size() ? function_.result_names[i] : "",
        LowerType(context_.builder, module_.dims, function_.result_types[i]));
  }
}

// A called function holds its arguments against the types it was compiled
// for; those of the entry are checked by the VM, with the inputs' names.
Status FunctionEmitter::CheckParams() {
  for (const ir::Param& param : function_.params) {
    const auto message = context_.builder.InternString(
        "function " + function_.name + ", parameter %" + NameOf(param.value));
    RETURN_IF_ERROR(CheckDims(param.value, message));
  }
  return {};
}

// Rank, dtype and dims of the tensor in a register against its type. A symbol
// that is not bound yet gets its value here.
Status FunctionEmitter::CheckDims(ValueId value, bytecode::StringId message) {
  const ir::Type& type = function_.value(value).type;
  if (!type.IsTensor() || !type.ranked) return {};
  const int64_t hold = HoldOf(value);
  builder_.Emit(Opcode::kAssertTensor)
      .Use(hold)
      .DTypeCode(type.dtype)
      .Imm(static_cast<int64_t>(type.dims.size()))
      .String(message);
  for (std::size_t axis = 0; axis < type.dims.size(); ++axis) {
    const auto symbol = module_.dims.AsSymbol(type.dims[axis]);
    if (symbol.has_value() && !needed_.contains(*symbol)) continue;
    if (symbol.has_value() && !dims_.IsBound(*symbol)) {
      BindSymbol(*symbol, hold, axis);
      continue;
    }
    TRY(const IntOperand wanted, dims_.Emit(type.dims[axis]));
    const int64_t got = dims_.NewRegister();
    builder_.Emit(Opcode::kDimOf)
        .DefInt(got)
        .Use(hold)
        .Imm(static_cast<int64_t>(axis));
    builder_.Emit(Opcode::kAssertEqual)
        .Int(IntOperand::Register(got))
        .Int(wanted)
        .String(message);
  }
  return {};
}

void FunctionEmitter::EmitConstants() {
  std::unordered_map<ir::ConstantId, int64_t> loaded;
  for (const ir::Region& region : function_.regions) {
    for (const ir::InstrId id : region.instrs) {
      const Instr& instr = function_.instr(id);
      if (instr.kind != InstrKind::kConstant) continue;
      const auto [at, fresh] = loaded.emplace(instr.constant, 0);
      if (fresh) {
        at->second = holds_.Take();
        builder_.Emit(Opcode::kConstant)
            .DefHold(at->second)
            .Constant(context_.constants[instr.constant.index()])
            .Name(NameOf(instr.results[0]));
      }
      hold_of_[instr.results[0].index()] = at->second;
    }
  }
}

bytecode::SiteId FunctionEmitter::SiteOf(const Instr& instr) {
  bytecode::Site site;
  site.code = instr.code;
  site.attributes = instr.attributes;
  if (!instr.node.empty()) {
    site.node = context_.builder.InternString(instr.node);
  }
  return context_.builder.AddSite(std::move(site));
}

Status FunctionEmitter::EmitScratchBytes(const Instr& instr) {
  const bytecode::SiteId site = SiteOf(instr);
  site_of_scratch_bytes_.emplace(instr.results[0], site);
  std::vector<int64_t> outs;
  for (const ValueId out : instr.outs) {
    outs.push_back(out.valid() ? HoldOf(out) : kNoRegister);
  }
  TRY(const auto ins, InsOf(instr));
  const int64_t bytes = dims_.NewRegister();
  builder_.Emit(Opcode::kScratchBytes)
      .DefInt(bytes)
      .Site(site)
      .Outs(outs)
      .Ins(ins);
  int_of_.insert_or_assign(instr.results[0], IntOperand::Register(bytes));
  return {};
}

Status FunctionEmitter::EmitOperator(const Instr& instr) {
  TRY(const auto ins, InsOf(instr));
  if (instr.outs.empty()) {
    const bytecode::SiteId site = SiteOf(instr);
    const auto holds = DefineHolds(instr);
    builder_.Emit(Opcode::kOpAlloc)
        .Site(site)
        .DefHolds(holds)
        .Ins(ins)
        .Name(instr.results[0].valid() ? NameOf(instr.results[0]) : "");
    return {};
  }
  // `scratch_bytes` and the operator are one site: one handle serves both.
  bytecode::SiteId site;
  if (instr.scratch.valid()) {
    const Instr& storage = function_.instr(function_.value(instr.scratch).def);
    if (!storage.operands.empty()) {
      const auto at = site_of_scratch_bytes_.find(storage.operands[0].value);
      if (at != site_of_scratch_bytes_.end()) site = at->second;
    }
  }
  if (!site.valid()) site = SiteOf(instr);
  std::vector<int64_t> outs;
  for (const ValueId out : instr.outs) {
    outs.push_back(out.valid() ? HoldOf(out) : kNoRegister);
  }
  builder_.Emit(Opcode::kOp)
      .Site(site)
      .Outs(outs)
      .Ins(ins)
      .OptUse(instr.scratch.valid() ? HoldOf(instr.scratch) : kNoRegister);
  return {};
}

Status FunctionEmitter::EmitAlloc(const Instr& instr) {
  IntOperand bytes;
  if (!instr.operands.empty()) {
    TRY(bytes, IntOf(instr.operands[0].value));
  } else {
    TRY(bytes, dims_.Emit(instr.dims[0]));
  }
  // Reports name what lies in a storage, as the model called it.
  const ValueId storage = instr.results[0];
  const auto tensor = first_tensor_in_.find(storage);
  builder_.Emit(Opcode::kAllocStorage)
      .DefHold(DefineHold(storage))
      .Int(bytes)
      .Imm(instr.align)
      .Name(
          NameOf(tensor == first_tensor_in_.end() ? storage : tensor->second));
  return {};
}

// Row-major needs none; channels-last and strided tensors state theirs.
Expected<std::vector<IntOperand>> FunctionEmitter::StridesOf(
    const ir::Type& type) {
  if (type.layout == ir::Layout::kStrided) return dims_.EmitAll(type.strides);
  const std::size_t rank = type.dims.size();
  if (type.layout == ir::Layout::kRowMajor || rank < 3) {
    return std::vector<IntOperand>{};
  }
  std::vector<IntOperand> strides(rank);
  IntOperand stride = IntOperand::Immediate(1);
  const auto place = [&](std::size_t axis) -> Status {
    strides[axis] = stride;
    TRY(const IntOperand size, dims_.Emit(type.dims[axis]));
    if (!stride.is_register && !size.is_register) {
      stride = IntOperand::Immediate(stride.value * size.value);
    } else {
      const int64_t product = dims_.NewRegister();
      builder_.Emit(Opcode::kIntMul).DefInt(product).Int(stride).Int(size);
      stride = IntOperand::Register(product);
    }
    return {};
  };
  RETURN_IF_ERROR(place(1));
  for (std::size_t axis = rank; axis-- > 2;) RETURN_IF_ERROR(place(axis));
  strides[0] = stride;
  return strides;
}

Status FunctionEmitter::EmitPlaced(const Instr& instr, Opcode opcode) {
  const ir::Type& type = function_.value(instr.results[0]).type;
  const int64_t source = HoldOf(instr.operands[0].value);
  TRY(const IntOperand offset, dims_.Emit(instr.dims[0]));
  TRY(const auto dims, dims_.EmitAll(type.dims));
  TRY(const auto strides, StridesOf(type));
  builder_.Emit(opcode)
      .DefHold(DefineHold(instr.results[0]))
      .Use(source)
      .Int(offset)
      .DTypeCode(type.dtype)
      .IntList(dims)
      .IntList(strides)
      .Name(NameOf(instr.results[0]));
  return {};
}

// A second hold under the stated type: what the type fixes is checked, what
// it names for the first time is bound.
Status FunctionEmitter::EmitMatchCast(const Instr& instr) {
  const ValueId source = instr.operands[0].value;
  const ValueId result = instr.results[0];
  const int64_t from = HoldOf(source);
  builder_.Emit(Opcode::kShare)
      .DefHold(DefineHold(result))
      .Use(from)
      .Name(NameOf(result));
  return CheckDims(result, context_.builder.InternString("match_cast of %" +
                                                         NameOf(source)));
}

Status FunctionEmitter::EmitGet(const Instr& instr) {
  IntOperand index;
  if (instr.operands.size() > 1) {
    TRY(index, IntOf(instr.operands[1].value));
  } else {
    TRY(index, dims_.Emit(instr.dims[0]));
  }
  const int64_t from = HoldOf(instr.operands[0].value);
  builder_.Emit(Opcode::kGetField)
      .DefHold(DefineHold(instr.results[0]))
      .Use(from)
      .Int(index)
      .Name(NameOf(instr.results[0]));
  return {};
}

Status FunctionEmitter::EmitStoreInts(const Instr& instr) {
  std::vector<IntOperand> values;
  for (const ir::Operand& operand : instr.operands) {
    TRY(const auto some, IntsOf(operand.value));
    values.insert(values.end(), some.begin(), some.end());
  }
  builder_.Emit(Opcode::kStoreInts).Out(HoldOf(instr.outs[0])).IntList(values);
  return {};
}

Status FunctionEmitter::EmitSequenceEdit(const Instr& instr) {
  const bool insert = instr.kind == InstrKind::kSequenceInsert;
  const std::size_t at = insert ? 2 : 1;
  // Without an index: at the end.
  IntOperand index = IntOperand::Immediate(-1);
  if (instr.operands.size() > at && instr.operands[at].value.valid()) {
    TRY(index, IntOf(instr.operands[at].value));
  } else if (insert) {
    const int64_t length = dims_.NewRegister();
    builder_.Emit(Opcode::kLengthOf)
        .DefInt(length)
        .Use(HoldOf(instr.operands[0].value));
    index = IntOperand::Register(length);
  }
  const auto sequence = Take(instr.operands[0]);
  if (insert) {
    const auto element = Take(instr.operands[1]);
    builder_.Emit(Opcode::kSequenceInsert)
        .DefHold(DefineHold(instr.results[0]))
        .Pass(sequence)
        .Pass(element)
        .Int(index)
        .Name(NameOf(instr.results[0]));
  } else {
    builder_.Emit(Opcode::kSequenceErase)
        .DefHold(DefineHold(instr.results[0]))
        .Pass(sequence)
        .Int(index)
        .Name(NameOf(instr.results[0]));
  }
  return {};
}

// Kills of one kind that stand together become one instruction.
std::size_t FunctionEmitter::EmitKills(const ir::Region& region,
                                       std::size_t first) {
  const InstrKind kind = function_.instr(region.instrs[first]).kind;
  std::vector<int64_t> killed;
  std::size_t at = first;
  for (; function_.instr(region.instrs[at]).kind == kind; ++at) {
    for (const ir::Operand& operand :
         function_.instr(region.instrs[at]).operands) {
      killed.push_back(HoldOf(operand.value));
      ReleaseHold(operand.value);
    }
  }
  const Opcode opcode = kind == InstrKind::kKillTensor    ? Opcode::kKillTensor
                        : kind == InstrKind::kKillStorage ? Opcode::kKillStorage
                                                          : Opcode::kKillObject;
  builder_.Emit(opcode).Kills(killed);
  return at;
}

Status FunctionEmitter::EmitInstr(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::kOperator:
      RETURN_IF_ERROR(EmitOperator(instr));
      break;
    case InstrKind::kConstant:  // Loaded at the start.
    case InstrKind::kShape:     // Worked out where they are used.
    case InstrKind::kInt:
      break;
    case InstrKind::kMatchCast:
      return EmitMatchCast(instr);
    case InstrKind::kAlias: {
      const int64_t from = HoldOf(instr.operands[0].value);
      builder_.Emit(Opcode::kShare)
          .DefHold(DefineHold(instr.results[0]))
          .Use(from)
          .Name(NameOf(instr.results[0]));
      break;
    }
    case InstrKind::kTuple:
      return EmitPack(instr, Opcode::kMakeTuple);
    case InstrKind::kSequence:
      return EmitPack(instr, Opcode::kMakeSequence);
    case InstrKind::kOptional:
      return EmitPack(instr, Opcode::kMakeOptional);
    case InstrKind::kGet:
      RETURN_IF_ERROR(EmitGet(instr));
      break;
    case InstrKind::kSequenceInsert:
    case InstrKind::kSequenceErase:
      return EmitSequenceEdit(instr);
    case InstrKind::kLength: {
      const int64_t length = dims_.NewRegister();
      builder_.Emit(Opcode::kLengthOf)
          .DefInt(length)
          .Use(HoldOf(instr.operands[0].value));
      int_of_.insert_or_assign(instr.results[0], IntOperand::Register(length));
      break;
    }
    case InstrKind::kMakeClosure:
    case InstrKind::kCall:
    case InstrKind::kCallClosure:
      RETURN_IF_ERROR(EmitCall(instr));
      break;
    case InstrKind::kCallExternal:
      RETURN_IF_ERROR(EmitCallExternal(instr));
      break;
    case InstrKind::kIf:
      RETURN_IF_ERROR(EmitIf(instr));
      break;
    case InstrKind::kLoop:
      RETURN_IF_ERROR(EmitLoop(instr));
      break;
    case InstrKind::kAllocStorage:
      return EmitAlloc(instr);
    case InstrKind::kAllocTensor:
      return EmitPlaced(instr, Opcode::kAllocTensor);
    case InstrKind::kView:
      return EmitPlaced(instr, Opcode::kView);
    case InstrKind::kScratchBytes:
      return EmitScratchBytes(instr);
    case InstrKind::kStoreInts:
      return EmitStoreInts(instr);
    case InstrKind::kKillTensor:
    case InstrKind::kKillStorage:
    case InstrKind::kKillObject:
    case InstrKind::kReturn:
    case InstrKind::kYield:
    case InstrKind::kContinue:
      assert(false && "emitted by the region");
      break;
  }
  BindSymbols(instr);
  return {};
}

Expected<const Instr*> FunctionEmitter::EmitRegion(ir::RegionId id) {
  const ir::Region& region = function_.region(id);
  const std::size_t last = region.instrs.size() - 1;
  for (std::size_t i = 0; i < last;) {
    const Instr& instr = function_.instr(region.instrs[i]);
    if (instr.kind == InstrKind::kKillTensor ||
        instr.kind == InstrKind::kKillStorage ||
        instr.kind == InstrKind::kKillObject) {
      i = EmitKills(region, i);
    } else {
      RETURN_IF_ERROR(EmitInstr(instr));
      ++i;
    }
  }
  return &function_.instr(region.instrs[last]);
}

Status FunctionEmitter::Run(bool is_entry) {
  LookAhead();
  EmitParams(is_entry);
  EmitConstants();
  if (is_entry) {
    for (const ir::Param& param : function_.params) BindSymbols(param.value);
  } else {
    RETURN_IF_ERROR(CheckParams());
  }
  TRY(const Instr* end, EmitRegion(function_.body));
  RETURN_IF_ERROR(EmitReturn(*end));
  builder_.Finish();
  return {};
}

}  // namespace ebb::lowering
