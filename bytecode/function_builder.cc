#include "bytecode/function_builder.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace ebb::bytecode {
namespace {

template <class T>
std::span<const T> AsSpan(std::initializer_list<T> list) {
  return {list.begin(), list.size()};
}

}  // namespace

FunctionBuilder::FunctionBuilder(ModuleBuilder& module, std::string_view name)
    : FunctionBuilder(module, module.DeclareFunction(name)) {}

FunctionBuilder::FunctionBuilder(ModuleBuilder& module, FunctionId id)
    : module_(module), id_(id) {
  function_.name = module.module().function(id).name;
}

int64_t FunctionBuilder::AddParam(std::string_view name, TypeId type,
                                  bool donated) {
  assert(function_.code.empty());
  function_.params.push_back(
      {.name = module_.InternString(name), .type = type, .donated = donated});
  const auto count = static_cast<uint32_t>(function_.params.size());
  function_.hold_register_count = count;
  return count - 1;
}

void FunctionBuilder::AddResult(std::string_view name, TypeId type) {
  function_.results.push_back(
      {.name = module_.InternString(name), .type = type});
}

BlockLabel FunctionBuilder::NewLabel() {
  label_targets_.push_back(-1);
  return BlockLabel(label_targets_.size() - 1);
}

void FunctionBuilder::Bind(BlockLabel label) {
  assert(label_targets_[label.index()] == -1);
  label_targets_[label.index()] = static_cast<int64_t>(function_.code.size());
}

FunctionBuilder::Operands FunctionBuilder::Emit(Opcode opcode) {
  assert(IsComplete());
  function_.code.push_back(
      {.opcode = opcode,
       .first_word = static_cast<uint32_t>(function_.words.size())});
  if (!function_.value_names.empty()) function_.value_names.emplace_back();
  roles_ = InfoOf(opcode).roles;
  next_role_ = 0;
  return Operands(*this);
}

FunctionId FunctionBuilder::Finish() {
  assert(IsComplete());
  for (const std::size_t word : label_words_) {
    int64_t& target = function_.words[word];
    target = label_targets_[static_cast<std::size_t>(target)];
    assert(target >= 0);
  }
  module_.module().functions[id_.index()] = std::move(function_);
  return id_;
}

void FunctionBuilder::Expect([[maybe_unused]] Role role) {
  assert(next_role_ < roles_.size());
  assert(roles_[next_role_] == role);
  ++next_role_;
}

void FunctionBuilder::PushHold(int64_t index) {
  assert(index >= 0);
  function_.hold_register_count =
      std::max(function_.hold_register_count, static_cast<uint32_t>(index + 1));
  Push(index);
}

void FunctionBuilder::PushInt(IntOperand value) {
  if (value.is_register) {
    assert(value.value >= 0);
    function_.int_register_count = std::max(
        function_.int_register_count, static_cast<uint32_t>(value.value + 1));
  }
  Push(value.is_register ? 1 : 0);
  Push(value.value);
}

using Operands = FunctionBuilder::Operands;

Operands& Operands::DefInt(int64_t index) {
  builder_.Expect(Role::kDefInt);
  assert(index >= 0);
  builder_.function_.int_register_count = std::max(
      builder_.function_.int_register_count, static_cast<uint32_t>(index + 1));
  builder_.Push(index);
  return *this;
}

Operands& Operands::Int(IntOperand value) {
  builder_.Expect(Role::kInt);
  builder_.PushInt(value);
  return *this;
}

Operands& Operands::IntList(std::span<const IntOperand> values) {
  builder_.Expect(Role::kIntList);
  builder_.Push(static_cast<int64_t>(values.size()));
  for (const IntOperand value : values) builder_.PushInt(value);
  return *this;
}

Operands& Operands::DefHold(int64_t index) {
  builder_.Expect(Role::kDefHold);
  builder_.PushHold(index);
  return *this;
}

Operands& Operands::List(Role role, std::span<const int64_t> indexes) {
  builder_.Expect(role);
  builder_.Push(static_cast<int64_t>(indexes.size()));
  for (const int64_t index : indexes) {
    if (index == kNoRegister) {
      assert(role == Role::kDefHolds || role == Role::kOuts);
      builder_.Push(kNoRegister);
    } else {
      builder_.PushHold(index);
    }
  }
  return *this;
}

Operands& Operands::DefHolds(std::span<const int64_t> indexes) {
  return List(Role::kDefHolds, indexes);
}

Operands& Operands::Use(int64_t index) {
  builder_.Expect(Role::kUse);
  builder_.PushHold(index);
  return *this;
}

Operands& Operands::Uses(std::span<const int64_t> indexes) {
  return List(Role::kUses, indexes);
}

Operands& Operands::Pass(PassOperand operand) {
  builder_.Expect(Role::kPass);
  builder_.PushHold(operand.hold);
  builder_.function_.words.back() = operand.hold * 2 + (operand.moved ? 1 : 0);
  return *this;
}

Operands& Operands::Passes(std::span<const PassOperand> operands) {
  builder_.Expect(Role::kPasses);
  builder_.Push(static_cast<int64_t>(operands.size()));
  for (const PassOperand operand : operands) {
    builder_.PushHold(operand.hold);
    builder_.function_.words.back() =
        operand.hold * 2 + (operand.moved ? 1 : 0);
  }
  return *this;
}

Operands& Operands::Kills(std::span<const int64_t> indexes) {
  return List(Role::kKills, indexes);
}

Operands& Operands::Moved(int64_t index) {
  builder_.Expect(Role::kMoved);
  builder_.PushHold(index);
  return *this;
}

Operands& Operands::Out(int64_t index) {
  builder_.Expect(Role::kOut);
  if (index == kNoRegister) {
    builder_.Push(kNoRegister);
  } else {
    builder_.PushHold(index);
  }
  return *this;
}

Operands& Operands::Outs(std::span<const int64_t> indexes) {
  return List(Role::kOuts, indexes);
}

Operands& Operands::Ins(std::span<const InOperand> inputs) {
  builder_.Expect(Role::kIns);
  builder_.Push(static_cast<int64_t>(inputs.size()));
  for (const InOperand& input : inputs) {
    builder_.Push(input.kind);
    if (input.kind == kInHold) builder_.PushHold(input.hold);
    if (input.kind != kInInts) continue;
    builder_.Push(static_cast<int64_t>(input.ints.size()));
    for (const IntOperand value : input.ints) builder_.PushInt(value);
  }
  return *this;
}

Operands& Operands::OptUse(int64_t index) {
  builder_.Expect(Role::kOptUse);
  if (index == kNoRegister) {
    builder_.Push(kNoRegister);
  } else {
    builder_.PushHold(index);
  }
  return *this;
}

Operands& Operands::Imm(int64_t value) {
  builder_.Expect(Role::kImm);
  assert(value >= 0);
  builder_.Push(value);
  return *this;
}

Operands& Operands::DTypeCode(DType dtype) {
  builder_.Expect(Role::kDTypeCode);
  builder_.Push(static_cast<int64_t>(dtype));
  return *this;
}

Operands& Operands::Label(BlockLabel label) {
  builder_.Expect(Role::kLabel);
  builder_.label_words_.push_back(builder_.function_.words.size());
  builder_.Push(label.index());
  return *this;
}

Operands& Operands::Function(FunctionId id) {
  builder_.Expect(Role::kFunctionRef);
  builder_.Push(id.index());
  return *this;
}

Operands& Operands::Constant(ConstantId id) {
  builder_.Expect(Role::kConstantRef);
  builder_.Push(id.index());
  return *this;
}

Operands& Operands::Site(SiteId id) {
  builder_.Expect(Role::kSiteRef);
  builder_.Push(id.index());
  return *this;
}

Operands& Operands::String(StringId id) {
  builder_.Expect(Role::kStringRef);
  builder_.Push(id.index());
  return *this;
}

Operands& Operands::IntList(std::initializer_list<IntOperand> values) {
  return IntList(AsSpan(values));
}

Operands& Operands::DefHolds(std::initializer_list<int64_t> indexes) {
  return DefHolds(AsSpan(indexes));
}

Operands& Operands::Uses(std::initializer_list<int64_t> indexes) {
  return Uses(AsSpan(indexes));
}

Operands& Operands::Passes(std::initializer_list<PassOperand> operands) {
  return Passes(AsSpan(operands));
}

Operands& Operands::Kills(std::initializer_list<int64_t> indexes) {
  return Kills(AsSpan(indexes));
}

Operands& Operands::Outs(std::initializer_list<int64_t> indexes) {
  return Outs(AsSpan(indexes));
}

Operands& Operands::Ins(std::initializer_list<InOperand> inputs) {
  return Ins(AsSpan(inputs));
}

Operands& Operands::Name(std::string_view name) {
  auto& function = builder_.function_;
  function.value_names.resize(function.code.size());
  function.value_names.back() = builder_.module_.InternString(name);
  return *this;
}

}  // namespace ebb::bytecode
