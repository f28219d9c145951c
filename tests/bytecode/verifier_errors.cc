#include "tests/bytecode/verifier_errors.h"

#include <span>

#include "bytecode/verifier.h"

namespace ebb::bytecode {
namespace {

const float kWeights[6] = {};

}  // namespace

std::string ErrorOf(const Module& module) {
  const Status status = Verify(module);
  return status.has_value() ? "" : status.error().ToString();
}

std::string ErrorOfCode(const std::function<void(FunctionBuilder&)>& emit,
                        const std::function<void(Module&)>& change) {
  ModuleBuilder module;
  const TypeId type = module.TensorType(DType::kF32, {2, 3});
  module.AddConstant({.dtype = DType::kF32,
                      .dims = {2, 3},
                      .data = std::as_bytes(std::span(kWeights))});
  module.AddSite({.code = OperatorCode::kRelu});
  module.AddSite({.code = OperatorCode::kSlice});
  module.AddExternal("f");
  FunctionBuilder b(module, "main");
  FunctionBuilder other(module, "other");
  other.AddParam("a", type);
  other.AddParam("b", type);
  other.AddResult("c", type);
  other.Emit(Opcode::kReturn).Passes({PassOperand::Share(0)});
  other.Finish();
  b.AddParam("x", type);
  emit(b);
  b.Finish();
  Module done = module.Finish();
  if (change) change(done);
  return ErrorOf(done);
}

}  // namespace ebb::bytecode
