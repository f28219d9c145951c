// Branches, loops, calls and returns of FunctionEmitter.
#include <cassert>
#include <optional>
#include <utility>

#include "compiler/lowering/function_emitter.h"

namespace ebb::lowering {

using bytecode::BlockLabel;
using bytecode::IntOperand;
using bytecode::kNoRegister;
using bytecode::Opcode;
using bytecode::PassOperand;
using ir::Instr;
using ir::InstrKind;
using ir::TypeKind;
using ir::ValueId;

namespace {

Opcode KillOf(const ir::Type& type) {
  if (type.kind == TypeKind::kTensor) return Opcode::kKillTensor;
  if (type.kind == TypeKind::kStorage) return Opcode::kKillStorage;
  return Opcode::kKillObject;
}

}  // namespace

// Each yielded value goes into the register that its result has. The results'
// registers were free when the branches began, and stay so until here.
Status FunctionEmitter::EmitYield(const Instr& instr,
                                  const std::vector<int64_t>& into) {
  for (std::size_t i = 0; i < into.size(); ++i) {
    const ir::Operand& operand = instr.operands[i];
    if (into[i] == kNoRegister) {
      if (operand.move) {
        const int64_t hold = HoldOf(operand.value);
        ReleaseHold(operand.value);
        builder_.Emit(KillOf(function_.value(operand.value).type))
            .Kills({hold});
      }
      continue;
    }
    const PassOperand from = Take(operand);
    if (from.moved) {
      builder_.Emit(Opcode::kMove).DefHold(into[i]).Moved(from.hold);
    } else {
      builder_.Emit(Opcode::kShare).DefHold(into[i]).Use(from.hold);
    }
  }
  return {};
}

// `into` registers are set aside before the branches; which other registers
// are free afterwards is what both branches agree on.
Status FunctionEmitter::EmitIf(const Instr& instr) {
  std::vector<int64_t> into;
  for (const ValueId result : instr.results) {
    into.push_back(result.valid() ? holds_.Take() : kNoRegister);
  }
  const BlockLabel otherwise = builder_.NewLabel();
  const BlockLabel end = builder_.NewLabel();
  // The condition's register is free again behind the branch.
  const auto outer = dims_.Enter();
  TRY(const IntOperand condition, IntOf(instr.operands[0].value));
  builder_.Emit(Opcode::kBranchIfZero).Int(condition).Label(otherwise);
  dims_.Leave(outer);
  const HoldRegisters::State before = holds_.state();
  const std::size_t released_before = released_.size();

  const auto branch = [&](ir::RegionId region) -> Status {
    const auto scope = dims_.Enter();
    TRY(const Instr* yield, EmitRegion(region));
    RETURN_IF_ERROR(EmitYield(*yield, into));
    dims_.Leave(scope);
    return {};
  };
  RETURN_IF_ERROR(branch(instr.regions[0]));
  builder_.Emit(Opcode::kJump).Label(end);
  const HoldRegisters::State after_then = holds_.state();

  holds_.Restore(before);
  for (; released_.size() > released_before; released_.pop_back()) {
    hold_of_[released_.back().first.index()] = released_.back().second;
  }
  builder_.Bind(otherwise);
  RETURN_IF_ERROR(branch(instr.regions[1]));
  builder_.Bind(end);
  holds_.Meet(after_then);
  for (std::size_t i = 0; i < into.size(); ++i) {
    if (instr.results[i].valid()) {
      hold_of_[instr.results[i].index()] = into[i];
    }
  }
  return {};
}

// The next step's values go into the carried registers. What is carried on in
// its own register stays. All others are brought into registers that are none
// of the carried ones first, so that none is written over before it is read.
Status FunctionEmitter::EmitContinue(const Instr& instr,
                                     const std::vector<int64_t>& carried,
                                     int64_t condition) {
  if (instr.operands[0].value.valid()) {
    TRY(const IntOperand value, IntOf(instr.operands[0].value));
    builder_.Emit(Opcode::kIntMove).DefInt(condition).Int(value);
    if (instr.operands[0].move) {
      const int64_t hold = HoldOf(instr.operands[0].value);
      ReleaseHold(instr.operands[0].value);
      builder_.Emit(Opcode::kKillTensor).Kills({hold});
    }
  }
  const std::unordered_set<int64_t> is_carried(carried.begin(), carried.end());
  // Carried registers that come up as free stay aside until they are filled.
  const auto take_other = [&] {
    int64_t hold = holds_.Take();
    while (is_carried.contains(hold)) hold = holds_.Take();
    return hold;
  };
  std::vector<int64_t> staged(carried.size(), kNoRegister);
  for (std::size_t i = 0; i < carried.size(); ++i) {
    const ir::Operand& operand = instr.operands[i + 1];
    const int64_t from = HoldOf(operand.value);
    if (!operand.move) {
      staged[i] = take_other();
      builder_.Emit(Opcode::kShare).DefHold(staged[i]).Use(from);
      continue;
    }
    hold_of_[operand.value.index()] = kNoRegister;
    if (from == carried[i]) continue;
    if (!is_carried.contains(from)) {
      staged[i] = from;
      continue;
    }
    staged[i] = take_other();
    builder_.Emit(Opcode::kMove).DefHold(staged[i]).Moved(from);
  }
  for (std::size_t i = 0; i < carried.size(); ++i) {
    if (staged[i] == kNoRegister) continue;
    holds_.TakeThis(carried[i]);
    builder_.Emit(Opcode::kMove).DefHold(carried[i]).Moved(staged[i]);
    holds_.Release(staged[i]);
  }
  return {};
}

Status FunctionEmitter::EmitLoop(const Instr& instr) {
  const ir::Region& body = function_.region(instr.regions[0]);
  const ValueId trip_value = instr.operands[0].value;
  const ValueId start_value = instr.operands[1].value;
  std::optional<IntOperand> trips;
  if (trip_value.valid()) {
    TRY(trips, IntOf(trip_value));
  }
  // The body says after each step whether to go on.
  const int64_t condition = dims_.NewRegister();
  IntOperand start = IntOperand::Immediate(1);
  if (start_value.valid()) {
    TRY(start, IntOf(start_value));
  }
  builder_.Emit(Opcode::kIntMove).DefInt(condition).Int(start);

  std::vector<int64_t> carried;
  for (std::size_t i = 2; i < instr.operands.size(); ++i) {
    const PassOperand from = Take(instr.operands[i]);
    const int64_t hold = holds_.Take();
    carried.push_back(hold);
    if (from.moved && hold == from.hold) continue;
    if (from.moved) {
      builder_.Emit(Opcode::kMove).DefHold(hold).Moved(from.hold);
    } else {
      builder_.Emit(Opcode::kShare).DefHold(hold).Use(from.hold);
    }
  }
  const int64_t counter = dims_.NewRegister();
  builder_.Emit(Opcode::kIntMove).DefInt(counter).Int(IntOperand::Immediate(0));

  const BlockLabel head = builder_.NewLabel();
  const BlockLabel exit = builder_.NewLabel();
  builder_.Bind(head);
  const auto scope = dims_.Enter();
  if (trips.has_value()) {
    const int64_t more = dims_.NewRegister();
    builder_.Emit(Opcode::kIntLess)
        .DefInt(more)
        .Int(IntOperand::Register(counter))
        .Int(*trips);
    builder_.Emit(Opcode::kBranchIfZero)
        .Int(IntOperand::Register(more))
        .Label(exit);
  }
  builder_.Emit(Opcode::kBranchIfZero)
      .Int(IntOperand::Register(condition))
      .Label(exit);

  int_of_.insert_or_assign(body.params[0], IntOperand::Register(counter));
  for (std::size_t i = 0; i < carried.size(); ++i) {
    hold_of_[body.params[i + 1].index()] = carried[i];
    BindSymbols(body.params[i + 1]);
  }
  TRY(const Instr* end, EmitRegion(instr.regions[0]));
  RETURN_IF_ERROR(EmitContinue(*end, carried, condition));
  builder_.Emit(Opcode::kIntAdd)
      .DefInt(counter)
      .Int(IntOperand::Register(counter))
      .Int(IntOperand::Immediate(1));
  builder_.Emit(Opcode::kJump).Label(head);
  dims_.Leave(scope);
  builder_.Bind(exit);
  for (std::size_t i = 0; i < carried.size(); ++i) {
    const ValueId result = instr.results[i];
    if (result.valid()) {
      hold_of_[result.index()] = carried[i];
    } else {
      const ValueId param = body.params[i + 1];
      builder_.Emit(KillOf(function_.value(param).type)).Kills({carried[i]});
      holds_.Release(carried[i]);
    }
  }
  return {};
}

// Call, closure and call of a closure: the arguments go first, so that a
// result may take the register of a moved one.
Status FunctionEmitter::EmitCall(const Instr& instr) {
  std::size_t first = 0;
  int64_t closure = kNoRegister;
  if (instr.kind == InstrKind::kCallClosure) {
    closure = HoldOf(instr.operands[0].value);
    first = 1;
  }
  std::vector<PassOperand> args;
  for (std::size_t i = first; i < instr.operands.size(); ++i) {
    args.push_back(Take(instr.operands[i]));
  }
  if (instr.kind == InstrKind::kCallClosure) {
    const auto holds = DefineHolds(instr);
    builder_.Emit(Opcode::kCallClosure)
        .Use(closure)
        .DefHolds(holds)
        .Passes(args);
    return {};
  }
  const auto callee = context_.function_by_name.find(instr.symbol);
  if (callee == context_.function_by_name.end() ||
      !module_.function(callee->second).body.valid()) {
    return FailAt(instr, "no function @" + instr.symbol + " is defined");
  }
  const auto id = context_.functions[callee->second.index()];
  if (instr.kind == InstrKind::kMakeClosure) {
    builder_.Emit(Opcode::kMakeClosure)
        .DefHold(DefineHold(instr.results[0]))
        .Function(id)
        .Passes(args)
        .Name(NameOf(instr.results[0]));
    return {};
  }
  const auto holds = DefineHolds(instr);
  builder_.Emit(Opcode::kCall).Function(id).DefHolds(holds).Passes(args);
  return {};
}

// Integers and shapes among the operands become the list of integers.
Status FunctionEmitter::EmitCallExternal(const Instr& instr) {
  std::vector<int64_t> uses;
  std::vector<IntOperand> ints;
  for (const ir::Operand& operand : instr.operands) {
    if (function_.value(operand.value).type.HoldsBuffer()) {
      uses.push_back(HoldOf(operand.value));
    } else {
      TRY(const auto some, IntsOf(operand.value));
      ints.insert(ints.end(), some.begin(), some.end());
    }
  }
  const auto name = context_.builder.AddExternal(instr.symbol);
  const auto holds = DefineHolds(instr);
  builder_.Emit(Opcode::kCallExternal)
      .String(name)
      .DefHolds(holds)
      .Uses(uses)
      .IntList(ints);
  return {};
}

Status FunctionEmitter::EmitPack(const Instr& instr, Opcode opcode) {
  std::vector<PassOperand> fields;
  for (const ir::Operand& operand : instr.operands) {
    fields.push_back(Take(operand));
  }
  builder_.Emit(opcode)
      .DefHold(DefineHold(instr.results[0]))
      .Passes(fields)
      .Name(NameOf(instr.results[0]));
  return {};
}

// Owned values move out at their last place in the list; what is borrowed (a
// parameter, a constant) leaves as a second hold. A tuple returned for several
// results is taken apart first.
Status FunctionEmitter::EmitReturn(const Instr& instr) {
  std::vector<PassOperand> results;
  const std::size_t wanted = function_.result_types.size();
  if (instr.operands.size() == 1 && wanted != 1) {
    const ir::Operand& tuple = instr.operands[0];
    const int64_t from = HoldOf(tuple.value);
    for (std::size_t i = 0; i < wanted; ++i) {
      const int64_t field = holds_.Take();
      builder_.Emit(Opcode::kGetField)
          .DefHold(field)
          .Use(from)
          .Int(IntOperand::Immediate(static_cast<int64_t>(i)));
      results.push_back(PassOperand::Move(field));
    }
    if (!borrowed_.contains(tuple.value)) {
      builder_.Emit(Opcode::kKillObject).Kills({from});
    }
    builder_.Emit(Opcode::kReturn).Passes(results);
    return {};
  }
  for (std::size_t i = 0; i < instr.operands.size(); ++i) {
    const ValueId value = instr.operands[i].value;
    bool last = true;
    for (std::size_t j = i + 1; j < instr.operands.size() && last; ++j) {
      last = instr.operands[j].value != value;
    }
    const bool owned = !borrowed_.contains(value) && !IsConstant(value);
    results.push_back(owned && last ? PassOperand::Move(HoldOf(value))
                                    : PassOperand::Share(HoldOf(value)));
  }
  builder_.Emit(Opcode::kReturn).Passes(results);
  return {};
}

}  // namespace ebb::lowering
