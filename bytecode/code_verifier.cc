#include "bytecode/code_verifier.h"

#include <bit>
#include <string>
#include <vector>

#include "bytecode/operand_visitor.h"
#include "bytecode/shape_rules/rule.h"

namespace ebb::bytecode {
namespace {

constexpr int64_t kMaxAlignment = 4096;

std::string Count(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// Checks one instruction at a time, keeping the first thing wrong.
class CodeVerifier {
 public:
  CodeVerifier(const Module& module, const Function& function,
               const std::vector<bool>& externals)
      : module_(module), function_(function), externals_(externals) {}

  Status Run() {
    RETURN_IF_ERROR(CheckFunction());
    std::size_t word = 0;
    for (at_ = 0; at_ < function_.code.size(); ++at_) {
      const Instruction& instruction = function_.code[at_];
      const OpcodeInfo* info =
          FindOpcode(static_cast<uint8_t>(instruction.opcode));
      if (info == nullptr) return Wrong("the opcode is not known");
      if (instruction.first_word != word) {
        return Wrong("operands are at word " +
                     std::to_string(instruction.first_word) + ", " +
                     std::to_string(word) + " is right");
      }
      operands_.clear();
      message_.clear();
      word = WalkOperands(info->roles, function_.words, word,
                          [this](const Operand& operand) {
                            operands_.push_back(operand);
                            CheckOperand(operand);
                          });
      if (word == kMalformedOperands) {
        return Wrong("the operands are malformed");
      }
      if (message_.empty()) CheckInstruction(instruction.opcode);
      if (!message_.empty()) return Wrong(message_);
    }
    if (word != function_.words.size()) {
      return Fail(ErrorCode::kInvalidFile,
                  "has " + std::to_string(function_.words.size()) +
                      " words of operands, its instructions take " +
                      std::to_string(word),
                  Where());
    }
    return {};
  }

 private:
  std::string Where() const {
    return "function " + module_.string(function_.name);
  }
  Status Wrong(std::string message) const {
    return Fail(ErrorCode::kInvalidFile, std::move(message),
                WhereInCode(module_, function_, at_));
  }
  void Say(std::string message) {
    if (message_.empty()) message_ = std::move(message);
  }

  Status CheckFunction() const {
    const auto wrong = [this](std::string message) {
      return Fail(ErrorCode::kInvalidFile, std::move(message), Where());
    };
    if (function_.code.empty()) return wrong("has no code");
    const OpcodeInfo* last =
        FindOpcode(static_cast<uint8_t>(function_.code.back().opcode));
    if (last != nullptr && (last->traits & kTerminator) == 0) {
      return wrong("ends with " + std::string(last->mnemonic) +
                   " and not with a jump or return");
    }
    const uint64_t most =
        function_.params.size() + function_.words.size() + kSpareRegisters;
    for (const uint64_t count :
         {function_.int_register_count, function_.hold_register_count}) {
      if (count > most) {
        return wrong("has " + std::to_string(count) +
                     " registers, its code may have " + std::to_string(most));
      }
    }
    if (function_.hold_register_count < function_.params.size()) {
      return wrong("has " + Count(function_.params.size(), "parameter") +
                   " and " +
                   Count(function_.hold_register_count, "hold register"));
    }
    if (!function_.value_names.empty() &&
        function_.value_names.size() != function_.code.size()) {
      return wrong("has " + Count(function_.value_names.size(), "name") +
                   " and " + Count(function_.code.size(), "instruction"));
    }
    for (const StringId name : function_.value_names) {
      if (name.valid() && name.index() >= module_.strings.size()) {
        return wrong("string " + std::to_string(name.index()) + " of " +
                     std::to_string(module_.strings.size()) +
                     " does not exist");
      }
    }
    return {};
  }

  void CheckBelow(const char* what, int64_t value, std::size_t count) {
    if (value < 0 || static_cast<uint64_t>(value) >= count) {
      Say(std::string(what) + " " + std::to_string(value) + " of " +
          std::to_string(count) + " does not exist");
    }
  }

  void CheckOperand(const Operand& operand) {
    switch (operand.kind) {
      case OperandKind::kCount:
      case OperandKind::kNone:
        return;
      case OperandKind::kInt:
        if (!operand.is_register) return;
        [[fallthrough]];
      case OperandKind::kDefInt:
        return CheckBelow("integer register", operand.value,
                          function_.int_register_count);
      case OperandKind::kHold:
        return CheckBelow("hold register", operand.value,
                          function_.hold_register_count);
      case OperandKind::kNumber:
        return CheckNumber(operand);
    }
  }

  void CheckNumber(const Operand& operand) {
    const int64_t value = operand.value;
    if (operand.role == Role::kImm) {
      if (value < 0)
        Say("the number " + std::to_string(value) + " is negative");
    } else if (operand.role == Role::kDTypeCode) {
      if (value < 0 || value > 255 ||
          !IsValidDType(static_cast<uint8_t>(value))) {
        Say("dtype " + std::to_string(value) + " is not known");
      }
    } else if (operand.role == Role::kLabel) {
      CheckBelow("instruction", value, function_.code.size());
    } else if (operand.role == Role::kFunctionRef) {
      CheckBelow("function", value, module_.functions.size());
    } else if (operand.role == Role::kConstantRef) {
      CheckBelow("constant", value, module_.constants.size());
    } else if (operand.role == Role::kSiteRef) {
      CheckBelow("site", value, module_.sites.size());
    } else if (operand.role == Role::kStringRef) {
      CheckBelow("string", value, module_.strings.size());
    }
  }

  // The first operand of this role that is not an entry's; must be there.
  const Operand& Find(Role role) const {
    for (const Operand& operand : operands_) {
      if (operand.role == role && !operand.nested) return operand;
    }
    return operands_.front();
  }
  std::size_t ListSize(Role role) const {
    return static_cast<std::size_t>(Find(role).value);
  }
  void CheckListSize(const char* what, Role role, std::size_t right) {
    if (ListSize(role) != right) {
      Say("has " + Count(ListSize(role), what) + ", " + std::to_string(right) +
          (right == 1 ? " is right" : " are right"));
    }
  }

  // What is more than roles can say, by opcode.
  void CheckInstruction(Opcode opcode) {
    switch (opcode) {
      case Opcode::kCall: {
        const Function& callee = module_.functions[static_cast<std::size_t>(
            Find(Role::kFunctionRef).value)];
        CheckListSize("argument", Role::kPasses, callee.params.size());
        CheckListSize("result", Role::kDefHolds, callee.results.size());
        return;
      }
      case Opcode::kCallExternal: {
        const auto name =
            static_cast<std::size_t>(Find(Role::kStringRef).value);
        if (!externals_[name]) {
          Say("external function " + module_.strings[name] +
              " is not in the module's list");
        }
        return;
      }
      case Opcode::kMakeClosure: {
        const Function& callee = module_.functions[static_cast<std::size_t>(
            Find(Role::kFunctionRef).value)];
        if (ListSize(Role::kPasses) > callee.params.size()) {
          Say("captures " + Count(ListSize(Role::kPasses), "value") +
              ", the function has " + Count(callee.params.size(), "parameter"));
        }
        return;
      }
      case Opcode::kReturn:
        return CheckListSize("result", Role::kPasses, function_.results.size());
      case Opcode::kScratchBytes:
      case Opcode::kOp:
        return CheckOperator(Role::kOuts);
      case Opcode::kOpAlloc:
        return CheckOperator(Role::kDefHolds);
      case Opcode::kAllocStorage: {
        const int64_t alignment = Find(Role::kImm).value;
        if (alignment > kMaxAlignment ||
            !std::has_single_bit(static_cast<uint64_t>(alignment))) {
          Say("alignment " + std::to_string(alignment) +
              " is not a power of two up to " + std::to_string(kMaxAlignment));
        }
        return;
      }
      case Opcode::kAllocTensor:
      case Opcode::kView:
        return CheckPlacement();
      case Opcode::kMove:
        if (Find(Role::kDefHold).value == Find(Role::kMoved).value) {
          Say("moves register " + std::to_string(Find(Role::kMoved).value) +
              " to itself");
        }
        return;
      case Opcode::kMakeOptional:
        if (ListSize(Role::kPasses) > 1) {
          Say("an optional of " + Count(ListSize(Role::kPasses), "value"));
        }
        return;
      case Opcode::kJump:
      case Opcode::kBranchIfZero:
      case Opcode::kCallClosure:
      case Opcode::kIntMove:
      case Opcode::kIntAdd:
      case Opcode::kIntSub:
      case Opcode::kIntMul:
      case Opcode::kIntFloorDiv:
      case Opcode::kIntCeilDiv:
      case Opcode::kIntMod:
      case Opcode::kIntMin:
      case Opcode::kIntMax:
      case Opcode::kIntLess:
      case Opcode::kDimOf:
      case Opcode::kLoadInt:
      case Opcode::kStoreInts:
      case Opcode::kAssertEqual:
      case Opcode::kAssertRange:
      case Opcode::kAssertTensor:
      case Opcode::kLengthOf:
      case Opcode::kShare:
      case Opcode::kKillTensor:
      case Opcode::kKillStorage:
      case Opcode::kKillObject:
      case Opcode::kConstant:
      case Opcode::kMakeTuple:
      case Opcode::kGetField:
      case Opcode::kMakeSequence:
      case Opcode::kSequenceInsert:
      case Opcode::kSequenceErase:
        return;
    }
  }

  // dims, then strides: as many, or none.
  void CheckPlacement() {
    const auto dtype = static_cast<DType>(Find(Role::kDTypeCode).value);
    if (DTypeBits(dtype) == 0) {
      Say("elements of dtype " + std::string(DTypeName(dtype)) +
          " have no fixed size");
    }
    std::vector<std::size_t> sizes;
    for (const Operand& operand : operands_) {
      if (operand.kind == OperandKind::kCount) {
        sizes.push_back(static_cast<std::size_t>(operand.value));
      }
    }
    if (sizes[0] > static_cast<std::size_t>(kMaxRank)) {
      Say("rank " + std::to_string(sizes[0]) + " is above the limit of " +
          std::to_string(kMaxRank));
    }
    if (sizes[1] != 0 && sizes[1] != sizes[0]) {
      Say("has " + Count(sizes[0], "dim") + " and " +
          Count(sizes[1], "stride"));
    }
  }

  // Inputs and outputs against the operator's row.
  void CheckOperator(Role output_role) {
    const OperatorInfo& info = InfoOf(
        module_.sites[static_cast<std::size_t>(Find(Role::kSiteRef).value)]
            .code);
    const std::string name(info.mnemonic);
    const auto inputs = static_cast<int64_t>(ListSize(Role::kIns));
    const auto outputs = static_cast<int64_t>(ListSize(output_role));
    if (inputs < info.min_inputs ||
        (info.max_inputs != kVariadic && inputs > info.max_inputs)) {
      Say(name + " has " + Count(static_cast<std::size_t>(inputs), "input") +
          ", " + Range(info.min_inputs, info.max_inputs) + " are right");
    }
    if (outputs < 1 ||
        (info.max_outputs != kVariadic && outputs > info.max_outputs)) {
      Say(name + " has " + Count(static_cast<std::size_t>(outputs), "output") +
          ", " + Range(1, info.max_outputs) + " are right");
    }
    std::size_t input = 0;
    std::size_t output = 0;
    for (const Operand& operand : operands_) {
      const bool is_list = operand.kind == OperandKind::kCount;
      const bool absent = operand.kind == OperandKind::kNone;
      if (operand.role == output_role && !is_list) {
        if (absent && output == 0)
          Say("the first output of " + name + " is none");
        ++output;
      }
      // The entries of Ins: no, a register, or a list of its own.
      if (operand.role != Role::kIns || is_list != operand.nested) continue;
      if (absent && input < static_cast<std::size_t>(info.min_inputs)) {
        Say("input " + std::to_string(input) + " of " + name + " is none");
      }
      if (is_list && !info.ReadsValue(input)) {
        Say("input " + std::to_string(input) + " of " + name +
            " is a list of integers, a tensor is right");
      }
      ++input;
    }
  }

  static std::string Range(int low, int high) {
    if (high == kVariadic) return "at least " + std::to_string(low);
    return std::to_string(low) + " to " + std::to_string(high);
  }

  const Module& module_;
  const Function& function_;
  const std::vector<bool>& externals_;
  std::size_t at_ = 0;
  std::vector<Operand> operands_;  // Of the current instruction.
  std::string message_;            // The first thing wrong with it.
};

}  // namespace

Status VerifyCode(const Module& module, const Function& function,
                  const std::vector<bool>& externals) {
  return CodeVerifier(module, function, externals).Run();
}

std::string WhereInCode(const Module& module, const Function& function,
                        std::size_t instruction) {
  std::string where = "function " + module.string(function.name) +
                      ", instruction " + std::to_string(instruction);
  const OpcodeInfo* info =
      FindOpcode(static_cast<uint8_t>(function.code[instruction].opcode));
  if (info != nullptr) where += " (" + std::string(info->mnemonic) + ")";
  return where;
}

}  // namespace ebb::bytecode
