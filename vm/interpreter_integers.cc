// Instructions between integers and tensors, and checks.
#include <string>

#include "vm/interpreter.h"
#include "vm/tensor_contents.h"
#include "vm/tensor_view.h"

namespace ebb::vm {
namespace {

const char* SignOf(bytecode::Opcode opcode) {
  switch (opcode) {
    case bytecode::Opcode::kIntAdd:
      return " + ";
    case bytecode::Opcode::kIntSub:
      return " - ";
    case bytecode::Opcode::kIntMul:
      return " * ";
    case bytecode::Opcode::kIntMod:
      return " modulo ";
    default:
      return " / ";
  }
}

}  // namespace

std::unexpected<Error> Interpreter::Trap(const int64_t* ints) const {
  const bytecode::Function& function = *frames_.back().function;
  const bytecode::Instruction& instruction = function.code[pc_];
  bytecode::OperandReader in(function, instruction);
  in.Word();
  const int64_t a = in.Int(ints);
  const int64_t b = in.Int(ints);
  return FailHere(ErrorCode::kOutOfRange,
                  std::to_string(a) + SignOf(instruction.opcode) +
                      std::to_string(b) +
                      (b == 0 ? " divides by zero" : " overflows int64"));
}

Status Interpreter::DimOf(bytecode::OperandReader& in, int64_t* ints,
                          Value** holds) {
  const int64_t dst = in.Word();
  const Value* value = holds[in.Word()];
  const Tensor* tensor = AsTensor(value);
  if (tensor == nullptr) return WrongKind(value, "a tensor");
  const int64_t dim = in.Word();
  if (dim < 0 || dim >= tensor->rank) {
    return FailHere(ErrorCode::kShapeMismatch,
                    ShapeText(tensor->dtype, tensor->Dims()) + " has no dim " +
                        std::to_string(dim));
  }
  ints[dst] = tensor->dims[dim];
  return {};
}

Status Interpreter::LoadInteger(bytecode::OperandReader& in, int64_t* ints,
                                Value** holds) {
  const int64_t dst = in.Word();
  const Value* value = holds[in.Word()];
  const Tensor* tensor = AsTensor(value);
  if (tensor == nullptr) return WrongKind(value, "a tensor");
  const int64_t index = in.Int(ints);
  if (tensor->form == ConstantForm::kPacked) {
    return FailHere(ErrorCode::kInvalidFile, "the constant is packed");
  }
  Expected<int64_t> element = LoadInt(*tensor, index);
  if (!element.has_value()) return FailHere(std::move(element).error());
  ints[dst] = *element;
  return {};
}

Status Interpreter::StoreIntegers(bytecode::OperandReader& in,
                                  const int64_t* ints, Value** holds) {
  const int64_t hold = in.Word();
  int_list_.clear();
  for (int64_t count = in.Word(); count > 0; --count) {
    int_list_.push_back(in.Int(ints));
  }
  if (hold == bytecode::kNoRegister) return {};
  Tensor* tensor = AsTensor(holds[hold]);
  if (tensor == nullptr) return WrongKind(holds[hold], "a tensor");
  if (!tensor->writable) {
    return FailHere(ErrorCode::kInvalidFile,
                    "an input or a constant is never written");
  }
  if (Status status = StoreInts(int_list_, *tensor); !status.has_value()) {
    return FailHere(std::move(status).error());
  }
  return {};
}

Status Interpreter::AssertEqual(bytecode::OperandReader& in,
                                const int64_t* ints) {
  const int64_t a = in.Int(ints);
  const int64_t b = in.Int(ints);
  if (a == b) return {};
  const bytecode::StringId message(static_cast<std::size_t>(in.Word()));
  return FailHere(ErrorCode::kShapeMismatch,
                  module_.string(message) + ": " + std::to_string(a) +
                      " is not " + std::to_string(b));
}

Status Interpreter::AssertRange(bytecode::OperandReader& in,
                                const int64_t* ints) {
  const int64_t value = in.Int(ints);
  const int64_t low = in.Int(ints);
  const int64_t high = in.Int(ints);
  if (low <= value && value <= high) return {};
  const bytecode::StringId message(static_cast<std::size_t>(in.Word()));
  return FailHere(ErrorCode::kOutOfRange,
                  module_.string(message) + ": " + std::to_string(value) +
                      " is outside [" + std::to_string(low) + ", " +
                      std::to_string(high) + "]");
}

Status Interpreter::AssertTensor(bytecode::OperandReader& in, Value** holds) {
  const Value* value = holds[in.Word()];
  const auto dtype = static_cast<DType>(in.Word());
  const int64_t rank = in.Word();
  const bytecode::StringId message(static_cast<std::size_t>(in.Word()));
  const Tensor* tensor = AsTensor(value);
  const bool fits = tensor != nullptr && tensor->rank == rank &&
                    (dtype == DType::kInvalid || tensor->dtype == dtype);
  if (fits) return {};
  std::string found = value == nullptr ? "nothing" : ValueKindName(value->kind);
  if (tensor != nullptr) found = ShapeText(tensor->dtype, tensor->Dims());
  return FailHere(ErrorCode::kShapeMismatch,
                  module_.string(message) + ": " + found + " is not " +
                      std::string(DTypeName(dtype)) + " of rank " +
                      std::to_string(rank));
}

}  // namespace ebb::vm
