// Emits the pre-decoded code of one function. Every operand is asserted to fit
// the format of its opcode, and an instruction to have all its operands when
// the next one begins; registers are counted as they are named. Labels may be
// used before they are bound. Finish puts the function into the module; a
// builder is used by one thread.
//
//   FunctionBuilder b(module, "main");
//   b.AddParam("n", type);                       // hold register 0
//   BlockLabel loop = b.NewLabel();
//   b.Emit(Opcode::kIntMove).DefInt(0).Int(IntOperand::Immediate(0));
//   b.Bind(loop);
//   b.Emit(Opcode::kIntAdd).DefInt(0).Int(IntOperand::Register(0))
//       .Int(IntOperand::Immediate(3)).Name("i");
//   b.Emit(Opcode::kJump).Label(loop);
//   FunctionId id = b.Finish();
#ifndef EBB_BYTECODE_FUNCTION_BUILDER_H_
#define EBB_BYTECODE_FUNCTION_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bytecode/module.h"
#include "bytecode/module_builder.h"
#include "bytecode/opcodes.h"

namespace ebb::bytecode {

// An integer operand: a register that is read, or an immediate.
struct IntOperand {
  bool is_register = false;
  int64_t value = 0;

  static IntOperand Register(int64_t index) { return {true, index}; }
  static IntOperand Immediate(int64_t value) { return {false, value}; }
  friend bool operator==(const IntOperand&, const IntOperand&) = default;
};

// A hold register that is passed on: `move` empties it, `share` does not.
struct PassOperand {
  int64_t hold = 0;
  bool moved = false;

  static PassOperand Share(int64_t hold) { return {hold, false}; }
  static PassOperand Move(int64_t hold) { return {hold, true}; }
};

// An operator's input.
struct InOperand {
  InKind kind = kInNone;
  int64_t hold = 0;
  std::vector<IntOperand> ints;

  static InOperand None() { return {}; }
  static InOperand Hold(int64_t hold) { return {kInHold, hold, {}}; }
  static InOperand Ints(std::vector<IntOperand> ints) {
    return {kInInts, 0, std::move(ints)};
  }
};

using BlockLabel = Id<struct BlockLabelTag>;

class FunctionBuilder {
 public:
  // Adds a function of this name to the module.
  FunctionBuilder(ModuleBuilder& module, std::string_view name);
  // Fills in a function that was declared.
  FunctionBuilder(ModuleBuilder& module, FunctionId id);

  FunctionId id() const { return id_; }
  // The hold register that the parameter arrives in.
  int64_t AddParam(std::string_view name, TypeId type, bool donated = false);
  void AddResult(std::string_view name, TypeId type);

  BlockLabel NewLabel();
  // The label is the next instruction. Bound once.
  void Bind(BlockLabel label);

  // The operands of one instruction; each call gives the next one.
  class Operands {
   public:
    Operands& DefInt(int64_t index);
    Operands& Int(IntOperand value);
    Operands& IntList(std::span<const IntOperand> values);
    Operands& DefHold(int64_t index);
    Operands& DefHolds(std::span<const int64_t> indexes);  // kNoRegister: none
    Operands& Use(int64_t index);
    Operands& Uses(std::span<const int64_t> indexes);
    Operands& Pass(PassOperand operand);
    Operands& Passes(std::span<const PassOperand> operands);
    Operands& Kills(std::span<const int64_t> indexes);
    Operands& Moved(int64_t index);
    Operands& Out(int64_t index);                      // kNoRegister: none
    Operands& Outs(std::span<const int64_t> indexes);  // kNoRegister: none
    Operands& Ins(std::span<const InOperand> inputs);
    Operands& OptUse(int64_t index);  // kNoRegister: none
    Operands& Imm(int64_t value);
    Operands& DTypeCode(DType dtype);
    Operands& Label(BlockLabel label);
    Operands& Function(FunctionId id);
    Operands& Constant(ConstantId id);
    Operands& Site(SiteId id);
    Operands& String(StringId id);

    // The same for lists written out: `.Kills({1, 2})`.
    Operands& IntList(std::initializer_list<IntOperand> values);
    Operands& DefHolds(std::initializer_list<int64_t> indexes);
    Operands& Uses(std::initializer_list<int64_t> indexes);
    Operands& Passes(std::initializer_list<PassOperand> operands);
    Operands& Kills(std::initializer_list<int64_t> indexes);
    Operands& Outs(std::initializer_list<int64_t> indexes);
    Operands& Ins(std::initializer_list<InOperand> inputs);

    // Debug name of the value that the instruction defines.
    Operands& Name(std::string_view name);

   private:
    friend class FunctionBuilder;
    explicit Operands(FunctionBuilder& builder) : builder_(builder) {}
    Operands& List(Role role, std::span<const int64_t> indexes);
    FunctionBuilder& builder_;
  };
  Operands Emit(Opcode opcode);

  std::size_t instruction_count() const { return function_.code.size(); }
  bytecode::Function& function() { return function_; }

  // Resolves the labels, all of which must be bound, and puts the function
  // into the module. The builder is done then.
  FunctionId Finish();

 private:
  // Takes the next role of the current instruction.
  void Expect(Role role);
  // The current instruction, if any, has all its operands.
  bool IsComplete() const { return next_role_ == roles_.size(); }
  void Push(int64_t word) { function_.words.push_back(word); }
  void PushHold(int64_t index);
  void PushInt(IntOperand value);

  ModuleBuilder& module_;
  FunctionId id_;
  bytecode::Function function_;
  std::span<const Role> roles_;  // Of the current instruction.
  std::size_t next_role_ = 0;
  std::vector<int64_t> label_targets_;  // -1: not bound.
  std::vector<std::size_t> label_words_;
};

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_FUNCTION_BUILDER_H_
