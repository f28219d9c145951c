#include "bytecode/encoder.h"

#include "bytecode/operand_visitor.h"

namespace ebb::bytecode {
namespace {

void EncodeOperand(const Operand& operand, ByteWriter& out) {
  const bool is_in = operand.role == Role::kIns && !operand.nested;
  switch (operand.kind) {
    case OperandKind::kCount:
      if (operand.nested) out.Uleb(kInInts);
      out.Uleb(static_cast<uint64_t>(operand.value));
      return;
    case OperandKind::kInt:
      out.Tagged(operand.is_register, operand.value);
      return;
    case OperandKind::kNone:
      out.Uleb(is_in ? uint64_t{kInNone} : 0);
      return;
    case OperandKind::kHold:
      if (is_in) out.Uleb(kInHold);
      if (!is_in && MayBeNone(operand.role)) {
        out.Uleb(static_cast<uint64_t>(operand.value) + 1);
      } else if (operand.role == Role::kPass || operand.role == Role::kPasses) {
        out.Uleb(static_cast<uint64_t>(operand.value) << 1 |
                 (operand.moved ? 1U : 0U));
      } else {
        out.Uleb(static_cast<uint64_t>(operand.value));
      }
      return;
    case OperandKind::kDefInt:
    case OperandKind::kNumber:
      out.Uleb(static_cast<uint64_t>(operand.value));
      return;
  }
}

}  // namespace

Status EncodeCode(const Function& function, ByteWriter& out) {
  for (std::size_t i = 0; i < function.code.size(); ++i) {
    const Instruction& instruction = function.code[i];
    const OpcodeInfo* info =
        FindOpcode(static_cast<uint8_t>(instruction.opcode));
    if (info == nullptr) {
      return Fail(ErrorCode::kInvalidArgument,
                  "instruction " + std::to_string(i) + " has no opcode");
    }
    out.U8(static_cast<uint8_t>(instruction.opcode));
    if (WalkOperands(info->roles, function.words, instruction.first_word,
                     [&](const Operand& operand) {
                       EncodeOperand(operand, out);
                     }) == kMalformedOperands) {
      return Fail(ErrorCode::kInvalidArgument,
                  "instruction " + std::to_string(i) + " (" +
                      std::string(info->mnemonic) + ") has malformed operands");
    }
  }
  return {};
}

}  // namespace ebb::bytecode
