// Walks the operands of one pre-decoded instruction, in the order of its
// format. No checks: the words come from a verified module.
//
//   OperandReader in(function, instruction);
//   const int64_t dst = in.Word();
//   const int64_t a = in.Int(int_registers);
#ifndef EBB_BYTECODE_OPERAND_READER_H_
#define EBB_BYTECODE_OPERAND_READER_H_

#include <cstdint>

#include "bytecode/module.h"

namespace ebb::bytecode {

class OperandReader {
 public:
  explicit OperandReader(const int64_t* words) : at_(words) {}
  OperandReader(const Function& function, const Instruction& instruction)
      : at_(function.words.data() + instruction.first_word) {}

  int64_t Word() { return *at_++; }
  // An Int operand: a register's content or the immediate.
  int64_t Int(const int64_t* int_registers) {
    const int64_t is_register = *at_++;
    const int64_t value = *at_++;
    return is_register != 0 ? int_registers[value] : value;
  }
  const int64_t* position() const { return at_; }

 private:
  const int64_t* at_;
};

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_OPERAND_READER_H_
