// The compiled program: what the compiler emits, a file holds and the VM runs.
// Plain data in vectors, addressed by index. A `Module` is filled in once and
// then immutable; threads may share it. Constant bytes are borrowed (from the
// mapped file or from the model) or kept alive by `owned`.
//
// Code is pre-decoded: `Instruction` is an opcode and the place of its
// operands in `Function::words`. Layout of operands there, by role:
//   DefInt DefHold Use Moved Imm DTypeCode Label …Ref   1 word: the number
//   Out OptUse                  1 word: register, or kNoRegister
//   Pass                        1 word: register * 2 + (1 if moved)
//   Int                         2 words: 1 and a register, or 0 and the value
//   list of X                   1 word: count, then the entries
//   Ins entry                   kInNone | kInHold, register |
//                               kInInts, count, that many Int
// `OperandReader` (operand_reader.h) walks them.
#ifndef EBB_BYTECODE_MODULE_H_
#define EBB_BYTECODE_MODULE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bytecode/attributes.h"
#include "bytecode/dtype.h"
#include "bytecode/index.h"
#include "bytecode/opcodes.h"
#include "bytecode/operators.h"
#include "bytecode/packing.h"

namespace ebb::bytecode {

using TypeId = Id<struct TypeTag>;
using StringId = Id<struct StringTag>;
using ConstantId = Id<struct ConstantTag>;
using SiteId = Id<struct SiteTag>;
using FunctionId = Id<struct FunctionTag>;

inline constexpr int64_t kNoRegister = -1;
enum InKind : int64_t { kInNone = 0, kInHold = 1, kInInts = 2 };

// One dim of a declared tensor type: a fixed size, or unknown (-1) with a name
// when the model gave one. Equal names in one function mean equal sizes.
struct DimSpec {
  int64_t size = -1;
  StringId symbol;
  friend bool operator==(const DimSpec&, const DimSpec&) = default;
};

enum class TypeKind : uint8_t {
  kTensor = 1,
  kStorage = 2,
  kTuple = 3,
  kSequence = 4,
  kOptional = 5,
  kClosure = 6,
  kObject = 7,  // Anything.
};

struct Type {
  TypeKind kind = TypeKind::kObject;
  DType dtype = DType::kInvalid;  // kTensor; kInvalid: any
  bool ranked = true;             // kTensor: are `dims` meaningful
  std::vector<DimSpec> dims;
  std::vector<TypeId> fields;  // kTuple; element of kSequence, kOptional
  friend bool operator==(const Type&, const Type&) = default;
};

enum class ConstantKind : uint8_t {
  kData = 1,    // `data` holds all elements, dense row-major.
  kRepeat = 2,  // `data` holds one element, repeated.
};

// A weight or literal. kString tensors: `data` is an offsets-and-bytes block,
// (count + 1) little-endian u64 offsets from its start, then the bytes.
struct Constant {
  ConstantKind kind = ConstantKind::kData;
  DType dtype = DType::kInvalid;
  std::vector<int64_t> dims;
  std::span<const std::byte> data;  // 64-byte aligned in a loaded file
  // kData: the blocking it is stored in; nullopt: dense row-major.
  std::optional<Packing> packing;
  StringId name;
};

// One place where an operator is run: what it is and which node it came from.
struct Site {
  OperatorCode code{};
  Attributes attributes;
  StringId node;  // Name of the source node; may be none.
};

struct Param {
  StringId name;
  TypeId type;
  bool donated = false;        // Owned, and killed, by the callee.
  bool optional_feed = false;  // Entry only: may be left out (has a default).
  ConstantId default_value;    // …which is this constant.
};

struct Result {
  StringId name;
  TypeId type;
};

struct Instruction {
  Opcode opcode;
  uint32_t first_word;  // In Function::words.
};

struct Function {
  StringId name;
  std::vector<Param> params;  // Held in hold registers 0, 1, … at entry.
  std::vector<Result> results;
  uint32_t int_register_count = 0;
  uint32_t hold_register_count = 0;
  std::vector<Instruction> code;
  std::vector<int64_t> words;
  // Debug names, for reports; empty or one per instruction: the name of the
  // value that the instruction defines (DefHold), and its source node.
  std::vector<StringId> value_names;
};

struct Module {
  std::string producer;  // "ebb 0.1.0"
  std::string target;    // What it was compiled for; "" for any.
  FunctionId entry;
  std::vector<Function> functions;
  std::vector<Type> types;
  std::vector<Site> sites;
  std::vector<Constant> constants;
  std::vector<std::string> strings;
  // Names that call_external needs, each once.
  std::vector<StringId> externals;
  // Free-form facts, such as model opsets and names; sorted by key.
  std::vector<std::pair<std::string, std::string>> metadata;
  // Keeps bytes alive that constants point into.
  std::vector<std::shared_ptr<const void>> owned;

  const Function& function(FunctionId id) const {
    return functions[id.index()];
  }
  // "" for none.
  const std::string& string(StringId id) const;
};

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_MODULE_H_
