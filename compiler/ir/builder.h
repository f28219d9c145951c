// Building functions: values with unique names, regions, instructions that
// are appended to the current region. No type inference: types are what the
// caller gives (compiler/analysis/infer.h works them out).
//
//   FunctionId f = AddFunction(module, "main");
//   Builder b(module, f);
//   ValueId x = b.AddParam("x", type);
//   ValueId y = b.Add(b.Operator(OperatorCode::kRelu, {x}), "y");
//   b.Return({y});
//
// A builder borrows the module and names its function by id; one thread.
#ifndef EBB_COMPILER_IR_BUILDER_H_
#define EBB_COMPILER_IR_BUILDER_H_

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/ir/names.h"

namespace ebb::ir {

// A function with an empty body. The first one becomes the entry.
FunctionId AddFunction(Module& module, std::string_view name);
// A function that is declared only.
FunctionId DeclareFunction(Module& module, std::string_view name);
ConstantId AddConstant(Module& module, Constant constant);

class Builder {
 public:
  // Goes on at the end of the function's body.
  Builder(Module& module, FunctionId function);

  Module& module() { return module_; }
  FunctionId function_id() const { return function_id_; }
  Function& function() { return module_.function(function_id_); }
  Value& value(ValueId id) { return function().value(id); }
  Instr& instr(InstrId id) { return function().instr(id); }

  ValueId AddParam(std::string_view name, Type type, bool donated = false);

  // A region without instructions, owned by the function.
  RegionId AddRegion();
  ValueId AddRegionParam(RegionId region, std::string_view name, Type type);
  // What follows is appended to `region`.
  void SetRegion(RegionId region) { region_ = region; }
  RegionId region() const { return region_; }

  // Put on every instruction that has none of its own.
  void SetNode(std::string node) { node_ = std::move(node); }
  void SetLocation(Location location) { location_ = location; }

  // A value that nothing defines yet; its name is `hint`, numbered if taken.
  ValueId AddValue(std::string_view hint, Type type = {});

  // Appends; results that are set already become defined by it.
  InstrId Append(Instr instr);
  // Appends and gives it one new result.
  ValueId Add(Instr instr, std::string_view name, Type type = {});
  // Appends and gives it new results; an empty name is an unwanted one.
  std::vector<ValueId> AddMany(Instr instr, std::span<const std::string> names,
                               std::span<const Type> types = {});

  // Instructions to hand to the above. Operands may be none (absent).
  static Instr Make(InstrKind kind, std::span<const ValueId> operands = {});
  static Instr Make(InstrKind kind, std::initializer_list<ValueId> operands) {
    return Make(kind, std::span(operands.begin(), operands.size()));
  }
  static Instr Operator(OperatorCode code, std::span<const ValueId> operands,
                        Attributes attributes = {});
  static Instr Operator(OperatorCode code,
                        std::initializer_list<ValueId> operands,
                        Attributes attributes = {}) {
    return Operator(code, std::span(operands.begin(), operands.size()),
                    std::move(attributes));
  }

  // `%name = constant @…` with the constant's type.
  ValueId AddConstantValue(ConstantId constant, std::string_view name);
  ValueId AddShape(std::vector<Dim> dims, std::string_view name);
  ValueId AddInt(Dim dim, std::string_view name);
  InstrId Return(std::span<const ValueId> values);
  InstrId Return(std::initializer_list<ValueId> values) {
    return Return(std::span(values.begin(), values.size()));
  }
  InstrId Yield(std::span<const ValueId> values);
  InstrId Yield(std::initializer_list<ValueId> values) {
    return Yield(std::span(values.begin(), values.size()));
  }

 private:
  Module& module_;
  FunctionId function_id_;
  RegionId region_;
  Names names_;
  std::string node_;
  Location location_;
};

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_BUILDER_H_
