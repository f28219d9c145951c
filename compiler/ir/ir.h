// The IR: functions of bindings in A-normal form, with structured `if` and
// `loop` regions. Plain structs in vectors, addressed by id; a region lists
// its instructions in order, the last one is its terminator. Values are
// assigned once. Deleting an instruction means leaving it out of its region's
// list; ids stay valid.
//
// Before the memory step an operator is functional: `%z = add %x, %y`. After
// it, destinations are given: `add %x, %y into %z`, with `%z` defined by
// `alloc_tensor`; then `results` is empty and `outs` holds the destinations.
//
// Operands that a consumer takes over (of calls, closures, tuples, sequences,
// optionals, yield and continue) are moved when `Operand::move` is set, else
// shared (a new hold). `return` moves what the function owns.
//
// A Module owns its dims and constants; not thread-safe.
#ifndef EBB_COMPILER_IR_IR_H_
#define EBB_COMPILER_IR_IR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/attributes.h"
#include "bytecode/index.h"
#include "bytecode/operators.h"
#include "bytecode/packing.h"
#include "compiler/ir/dim.h"
#include "compiler/ir/type.h"

namespace ebb::ir {

using ValueId = Id<struct ValueTag>;
using InstrId = Id<struct InstrTag>;
using RegionId = Id<struct RegionTag>;
using ConstantId = Id<struct ConstantTag>;
using FunctionId = Id<struct FunctionTag>;

// Where in a text file something stands; line 0: nowhere.
struct Location {
  uint32_t line = 0;
  uint32_t column = 0;
};

enum class InstrKind : uint8_t {
  kOperator,        // %y = conv %x, %w, %b {group=1}
  kConstant,        // %w = constant @weights_0 : f32[4, 4]
  kShape,           // %s = shape [n, 4]             dims
  kInt,             // %i = int n*4                  dims[0]
  kMatchCast,       // %v = match_cast %m : f32[n, 4]  (binds, checks)
  kAlias,           // %b = %a
  kTuple,           // %t = tuple(%a, move %b)
  kGet,             // %a = get %t, 0   (tuple, sequence, optional; index in
                    //  `dims[0]`, or a second operand for a run-time index)
  kSequence,        // %s = sequence(%a, %b)
  kSequenceInsert,  // %s = sequence_insert %s0, %a, %at   (%at optional)
  kSequenceErase,   // %s = sequence_erase %s0, %at
  kLength,          // %n = length %s                 an int
  kOptional,        // %o = optional(%a), optional()
  kMakeClosure,     // %c = closure @f(%a)
  kCall,            // %a, %b = call @f(%x, move %y)
  kCallClosure,     // %a = call %c(%x)
  kCallExternal,    // call_external "name"(%x, %y)
  kIf,              // %r = if %c { … yield %p } else { … yield %q }
  kLoop,            // %s = loop %i < %k, %acc = %r : f32[n, 4] { … }
                    // operands: trip count (i64[] tensor or int, or absent),
                    // start condition (or absent), then the start values;
                    // region params: %i (an int), then the carried values
  kAllocStorage,    // %s = alloc_storage 2048, align=64  dims[0] or an operand
  kAllocTensor,     // %y = alloc_tensor %s, offset=0 : f32[16, 32]   dims[0]
  kView,            // %v = view %x, offset=0 : f32[512]     dims[0], elements
  kScratchBytes,    // %n = scratch_bytes conv %x, %w into %y   an int
  kStoreInts,       // store_ints %shape into %t
  kKillTensor,      // kill_tensor %x      each takes one or more operands
  kKillStorage,
  kKillObject,
  kReturn,    // return %a, %b
  kYield,     // yield move %a
  kContinue,  // continue %cond, move %t
};

struct Operand {
  ValueId value;  // none: an optional operand that is absent
  bool move = false;
};

struct Instr {
  InstrKind kind = InstrKind::kOperator;
  OperatorCode code{};  // kOperator, kScratchBytes
  std::vector<Operand> operands;
  std::vector<ValueId> results;  // none: an output nobody wants
  std::vector<ValueId> outs;     // destinations, none as above
  ValueId scratch;               // a storage
  Attributes attributes;
  std::vector<RegionId> regions;  // kIf: then, else; kLoop: body
  std::string symbol;             // callee or external name
  ConstantId constant;            // kConstant
  std::vector<Dim> dims;          // see the kinds
  int64_t align = 64;             // kAllocStorage
  std::string node;               // source node, for messages and reports
  Location location;
};

struct Value {
  std::string name;  // Without the %; unique in its function.
  Type type;
  InstrId def;  // none: a parameter of the function or of a region
  // Elements of a small integer or bool tensor, row-major, as dims: what
  // shape arithmetic computes with. Filled in by inference.
  std::optional<std::vector<Dim>> contents;
};

struct Region {
  std::vector<ValueId> params;  // kLoop: counter, then carried values
  std::vector<InstrId> instrs;  // The last one is the terminator.
};

struct Param {
  ValueId value;
  bool donated = false;
  // Entry function: an input that may be left out, and its default then.
  ConstantId default_value;
};

struct Function {
  std::string name;  // Without the @.
  std::vector<Param> params;
  std::vector<Type> result_types;
  std::vector<std::string> result_names;  // of the model's outputs; or empty
  RegionId body;                          // none: declared, defined elsewhere
  std::vector<Value> values;
  std::vector<Instr> instrs;
  std::vector<Region> regions;
  Location location;

  Value& value(ValueId id) { return values[id.index()]; }
  const Value& value(ValueId id) const { return values[id.index()]; }
  Instr& instr(InstrId id) { return instrs[id.index()]; }
  const Instr& instr(InstrId id) const { return instrs[id.index()]; }
  Region& region(RegionId id) { return regions[id.index()]; }
  const Region& region(RegionId id) const { return regions[id.index()]; }
};

// A weight or literal; bytes are borrowed or kept by Module::owned.
struct Constant {
  std::string name;  // Without the @.
  DType dtype = DType::kInvalid;
  std::vector<int64_t> dims;
  bool repeat = false;              // `data` is one element, repeated
  bool declared_only = false;       // text form without data
  std::span<const std::byte> data;  // dense row-major unless packed
  std::optional<Packing> packing;
};

struct Module {
  DimTable dims;
  std::vector<Function> functions;
  FunctionId entry;
  std::vector<Constant> constants;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<std::shared_ptr<const void>> owned;

  Function& function(FunctionId id) { return functions[id.index()]; }
  const Function& function(FunctionId id) const {
    return functions[id.index()];
  }
  // Linear; passes that look up often build a map.
  FunctionId FindFunction(std::string_view name) const;
};

// Nesting of regions in a function, and of graphs in a model, ends here.
inline constexpr int kMaxNesting = 256;

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_IR_H_
