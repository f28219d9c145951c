// The operator table: what a compute instruction may do. One row an operator
// in operators.def; compiler, verifier, VM, kernels and docs work from it.
// Row data is immutable and shared by all threads.
//
//   const OperatorInfo& row = InfoOf(OperatorCode::kConv);
//   std::optional<OperatorCode> code = OperatorFromMnemonic("conv");
#ifndef EBB_BYTECODE_OPERATORS_H_
#define EBB_BYTECODE_OPERATORS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "bytecode/attributes.h"
#include "bytecode/error.h"

namespace ebb {

inline constexpr int kVariadic = 0x7fff;

enum class OperatorCode : uint16_t {
#define OPERATOR(code, Name, ...) k##Name = code,
#include "bytecode/operators.def"
#undef OPERATOR
};

// Traits, or-ed together. Every operator of the table is pure.
enum OperatorTrait : uint32_t {
  kNone = 0,
  kElementwise = 1,  // Output element depends on the same place of inputs.
  kView = 2,         // Output holds input 0's elements in the same order.
  kDense = 4,        // Heavy arithmetic; may want packed weights and scratch.
  kShapeOnly = 8,    // Reads the dims of input 0, never its elements.
};

enum class AttributeKind : uint8_t {
  kInt,
  kFloat,
  kString,
  kInts,
  kFloats,
  kStrings,
};

struct AttributeInfo {
  std::string_view name;
  AttributeKind kind;
  bool required;
  bool has_default;               // Else absent means "not given".
  std::string_view default_text;  // As in the table.
};

struct OperatorInfo {
  OperatorCode code;
  std::string_view name;      // ONNX's where there is one: "Conv".
  std::string_view mnemonic;  // In text forms: "conv".
  int min_inputs;
  int max_inputs;
  int max_outputs;
  uint32_t value_inputs;  // Bit i: input i is read for its contents.
  uint32_t reuse_inputs;  // Bit i: output 0 may take input i's buffer.
  uint32_t traits;        // OperatorTrait bits.
  std::span<const AttributeInfo> attributes;

  bool Is(OperatorTrait trait) const { return (traits & trait) != 0; }
  bool ReadsValue(std::size_t input) const {
    return input < 32 && ((value_inputs >> input) & 1U) != 0;
  }
};

// All rows, in the order of the table.
std::span<const OperatorInfo> AllOperators();
// nullptr for a code that is not in the table (a hostile file).
const OperatorInfo* FindOperator(uint16_t code);
// Asserts that `code` is in the table.
const OperatorInfo& InfoOf(OperatorCode code);
std::optional<OperatorCode> OperatorFromMnemonic(std::string_view mnemonic);
std::optional<OperatorCode> OperatorFromName(std::string_view name);

// Names unknown, missing and wrongly typed attributes.
Status CheckAttributes(const OperatorInfo& info, const Attributes& attributes);

}  // namespace ebb

#endif  // EBB_BYTECODE_OPERATORS_H_
