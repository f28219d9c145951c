// Builds small programs for the tests of the VM out of instructions, and runs
// them. Not a compiler: every test says which registers it uses.
//
//   TestProgram p;
//   FunctionBuilder f = p.Function("main");
//   const int64_t x = f.AddParam("x", p.Tensor(DType::kF32, {4}));
//   p.Alloc(f, /*storage=*/1, /*tensor=*/2, DType::kF32, {I(4)});
//   f.Emit(Opcode::kOp).Site(p.Site(OperatorCode::kRelu)).Outs({2}).Ins(…)…
//   p.Return(f, {2});
//   vm::ProgramRef program = p.Load();
#ifndef EBB_TESTS_VM_TEST_PROGRAM_H_
#define EBB_TESTS_VM_TEST_PROGRAM_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/function_builder.h"
#include "bytecode/module_builder.h"
#include "vm/program.h"
#include "vm/session.h"

namespace ebb::vm {

using bytecode::FunctionBuilder;
using bytecode::InOperand;
using bytecode::IntOperand;
using bytecode::kNoRegister;
using bytecode::Opcode;
using bytecode::PassOperand;

inline IntOperand I(int64_t value) { return IntOperand::Immediate(value); }
inline IntOperand R(int64_t index) { return IntOperand::Register(index); }
inline InOperand In(int64_t hold) { return InOperand::Hold(hold); }

class TestProgram {
 public:
  FunctionBuilder Function(std::string_view name) {
    return FunctionBuilder(module_, name);
  }
  // -1 is an unknown dim.
  bytecode::TypeId Tensor(DType dtype, const std::vector<int64_t>& dims) {
    return module_.TensorType(dtype, dims);
  }
  // Names stand for unknown dims, numbers for themselves.
  bytecode::TypeId Symbolic(DType dtype, const std::vector<std::string>& dims);
  bytecode::TypeId Any() {
    return module_.InternType({.kind = bytecode::TypeKind::kObject});
  }

  bytecode::SiteId Site(OperatorCode code, Attributes attributes = {},
                        std::string_view node = {}) {
    return module_.AddSite(
        {code, std::move(attributes),
         node.empty() ? bytecode::StringId() : module_.InternString(node)});
  }

  template <class T>
  bytecode::ConstantId Constant(DType dtype, std::vector<int64_t> dims,
                                const std::vector<T>& elements) {
    return AddConstant(bytecode::ConstantKind::kData, dtype, std::move(dims),
                       Bytes(elements));
  }
  template <class T>
  bytecode::ConstantId Repeat(DType dtype, std::vector<int64_t> dims,
                              T element) {
    return AddConstant(bytecode::ConstantKind::kRepeat, dtype, std::move(dims),
                       Bytes(std::vector<T>{element}));
  }
  bytecode::ConstantId AddConstant(bytecode::ConstantKind kind, DType dtype,
                                   std::vector<int64_t> dims,
                                   std::span<const std::byte> bytes,
                                   std::optional<Packing> packing = {});
  // Aligned to 64 and kept alive by the module.
  template <class T>
  std::span<const std::byte> Bytes(const std::vector<T>& elements) {
    return Keep(std::as_bytes(std::span(elements)));
  }

  // alloc_storage, alloc_tensor, kill_storage. Dims that are registers make
  // the size an integer register, `scratch` and the one after it are used.
  void Alloc(FunctionBuilder& f, int64_t storage, int64_t tensor, DType dtype,
             const std::vector<IntOperand>& dims, int64_t scratch = 30);
  // op with one output and no scratch.
  void Op(FunctionBuilder& f, bytecode::SiteId site, int64_t out,
          const std::vector<InOperand>& inputs) {
    f.Emit(Opcode::kOp).Site(site).Outs({out}).Ins(inputs).OptUse(kNoRegister);
  }
  void Kill(FunctionBuilder& f, int64_t hold) {
    f.Emit(Opcode::kKillTensor).Kills({hold});
  }
  // Moves the registers out.
  void Return(FunctionBuilder& f, const std::vector<int64_t>& holds);

  bytecode::ModuleBuilder& module() { return module_; }
  bytecode::Module Finish() { return module_.Finish(); }
  Expected<ProgramRef> TryLoad(std::vector<External> externals = {}) {
    return Program::Load(Finish(), {std::move(externals), {}});
  }
  ProgramRef Load(std::vector<External> externals = {}) {
    Expected<ProgramRef> program = TryLoad(std::move(externals));
    if (!program.has_value()) {
      ADD_FAILURE() << program.error().ToString();
      std::abort();
    }
    return std::move(*program);
  }

 private:
  std::span<const std::byte> Keep(std::span<const std::byte> bytes);

  bytecode::ModuleBuilder module_;
};

inline std::unique_ptr<Session> MakeSession(ProgramRef program,
                                            SessionOptions options = {}) {
  auto session = Session::Create(std::move(program), options);
  EXPECT_TRUE(session.has_value()) << session.error().ToString();
  return std::move(*session);
}

template <class T>
struct DTypeTraits;
template <>
struct DTypeTraits<float> {
  static constexpr DType kDType = DType::kF32;
};
template <>
struct DTypeTraits<int64_t> {
  static constexpr DType kDType = DType::kI64;
};
template <>
struct DTypeTraits<uint8_t> {
  static constexpr DType kDType = DType::kU8;
};

// A dense view; the dims must outlive it.
template <class T>
TensorView View(std::vector<T>& elements, const std::vector<int64_t>& dims) {
  return {.dtype = DTypeTraits<T>::kDType,
          .dims = dims,
          .strides = {},
          .data = elements.data(),
          .byte_size = static_cast<int64_t>(elements.size() * sizeof(T))};
}

template <class T>
std::vector<T> Elements(const TensorView& view) {
  EXPECT_EQ(view.dtype, DTypeTraits<T>::kDType);
  std::vector<T> result(static_cast<std::size_t>(view.byte_size) / sizeof(T));
  std::memcpy(result.data(), view.data, result.size() * sizeof(T));
  return result;
}
template <class T>
std::vector<T> OutputElements(const Session& session, std::size_t index = 0) {
  const auto view = session.Output(index);
  EXPECT_TRUE(view.has_value()) << view.error().ToString();
  if (!view.has_value()) return {};
  return Elements<T>(*view);
}

#define EXPECT_OK(expression)                                           \
  do {                                                                  \
    const auto& expect_ok = (expression);                               \
    EXPECT_TRUE(expect_ok.has_value()) << expect_ok.error().ToString(); \
  } while (false)
#define ASSERT_OK(expression)                                           \
  do {                                                                  \
    const auto& assert_ok = (expression);                               \
    ASSERT_TRUE(assert_ok.has_value()) << assert_ok.error().ToString(); \
  } while (false)

// Fails with the code, and the message has the text in it.
template <class T>
void ExpectError(const Expected<T>& result, ErrorCode code,
                 std::string_view text) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, code) << result.error().ToString();
  EXPECT_NE(result.error().ToString().find(text), std::string::npos)
      << result.error().ToString();
}

}  // namespace ebb::vm

#endif  // EBB_TESTS_VM_TEST_PROGRAM_H_
