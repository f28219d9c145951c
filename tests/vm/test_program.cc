#include "tests/vm/test_program.h"

#include <cctype>
#include <new>

namespace ebb::vm {

bytecode::TypeId TestProgram::Symbolic(DType dtype,
                                       const std::vector<std::string>& dims) {
  bytecode::Type type{.kind = bytecode::TypeKind::kTensor, .dtype = dtype};
  for (const std::string& dim : dims) {
    if (std::isdigit(static_cast<unsigned char>(dim[0])) != 0) {
      type.dims.push_back({std::stoll(dim), {}});
    } else {
      type.dims.push_back({-1, module_.InternString(dim)});
    }
  }
  return module_.InternType(type);
}

std::span<const std::byte> TestProgram::Keep(std::span<const std::byte> bytes) {
  constexpr std::align_val_t kAlign{64};
  auto* data =
      static_cast<std::byte*>(::operator new(bytes.size() + 1, kAlign));
  std::memcpy(data, bytes.data(), bytes.size());
  module_.module().owned.emplace_back(data, [](const void* p) {
    ::operator delete(const_cast<void*>(p), kAlign);
  });
  return {data, bytes.size()};
}

bytecode::ConstantId TestProgram::AddConstant(bytecode::ConstantKind kind,
                                              DType dtype,
                                              std::vector<int64_t> dims,
                                              std::span<const std::byte> bytes,
                                              std::optional<Packing> packing) {
  return module_.AddConstant({.kind = kind,
                              .dtype = dtype,
                              .dims = std::move(dims),
                              .data = bytes,
                              .packing = std::move(packing),
                              .name = {}});
}

void TestProgram::Alloc(FunctionBuilder& f, int64_t storage, int64_t tensor,
                        DType dtype, const std::vector<IntOperand>& dims,
                        int64_t scratch) {
  IntOperand bytes = I(DTypeBits(dtype) / 8);
  for (const IntOperand& dim : dims) {
    if (!bytes.is_register && !dim.is_register) {
      bytes.value *= dim.value;
      continue;
    }
    f.Emit(Opcode::kIntMul).DefInt(scratch).Int(bytes).Int(dim);
    bytes = R(scratch);
  }
  f.Emit(Opcode::kAllocStorage).DefHold(storage).Int(bytes).Imm(64);
  f.Emit(Opcode::kAllocTensor)
      .DefHold(tensor)
      .Use(storage)
      .Int(I(0))
      .DTypeCode(dtype)
      .IntList(dims)
      .IntList({});
  f.Emit(Opcode::kKillStorage).Kills({storage});
}

void TestProgram::Return(FunctionBuilder& f,
                         const std::vector<int64_t>& holds) {
  std::vector<PassOperand> passes;
  for (const int64_t hold : holds) passes.push_back(PassOperand::Move(hold));
  f.Emit(Opcode::kReturn).Passes(passes);
}

}  // namespace ebb::vm
