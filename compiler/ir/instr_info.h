// What is true of an instruction by its kind: its word in the text form, the
// type that its result always has, which operands it takes over, and which
// values of a function own what they hold. Verifier, printer, parser and the
// kill pass agree through these.
#ifndef EBB_COMPILER_IR_INSTR_INFO_H_
#define EBB_COMPILER_IR_INSTR_INFO_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"

namespace ebb::ir {

// The word of the text form; empty for kOperator (the operator's mnemonic),
// kAlias and kCallClosure, which have none of their own.
std::string_view KindMnemonic(InstrKind kind);
std::optional<InstrKind> KindFromMnemonic(std::string_view word);

bool IsKill(InstrKind kind);
bool IsTerminator(InstrKind kind);

// The type that a result has whatever the operands are (int, shape, storage,
// closure); kUnknown where it depends.
Type ImpliedType(const Instr& instr);

// kKillTensor, kKillStorage or kKillObject, by what `value` is. A result of
// an operator is a tensor even before types are inferred.
InstrKind KillKindOf(const Function& function, ValueId value);

// Looks functions up by name.
class FunctionNames {
 public:
  explicit FunctionNames(const Module& module);
  // nullptr when the module has no such function.
  const Function* Find(std::string_view name) const;

 private:
  std::unordered_map<std::string_view, const Function*> by_name_;
};

// How an operand is used.
enum class Use : uint8_t {
  kRead,     // Still held by the function afterwards.
  kTake,     // Moved into the consumer, or shared with it.
  kMayTake,  // An argument whose callee is not known: taken when moved.
};
Use UseOf(const FunctionNames& functions, const Function& function,
          const Instr& instr, std::size_t operand);

// Per value: does the function own it, so that it must kill or move it?
// Results of instructions are owned, constants excepted; donated parameters
// and parameters of loop bodies are; other parameters, shapes and integers
// are not.
std::vector<bool> OwnedValues(const Function& function);

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_INSTR_INFO_H_
