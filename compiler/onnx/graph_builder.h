// Adds instructions to one function while a model is imported: values get
// unique names, types and contents are inferred as each instruction is added.
#ifndef EBB_COMPILER_ONNX_GRAPH_BUILDER_H_
#define EBB_COMPILER_ONNX_GRAPH_BUILDER_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/error.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/names.h"

namespace ebb::onnx {

class GraphBuilder {
 public:
  GraphBuilder(ir::Module& module, ir::FunctionId function)
      : module_(module),
        function_id_(function),
        names_(module.function(function)) {}

  ir::Module& module() { return module_; }
  ir::Function& function() { return module_.function(function_id_); }
  ir::Value& value(ir::ValueId id) { return function().value(id); }
  const ir::Type& TypeOf(ir::ValueId id) { return value(id).type; }
  ir::DimTable& dims() { return module_.dims; }

  // Where instructions go; a new region is empty.
  ir::RegionId region() const { return region_; }
  ir::RegionId NewRegion();
  void SetRegion(ir::RegionId region) { region_ = region; }

  // The node that instructions are noted to come from.
  void SetNode(std::string_view node) { node_ = node; }

  ir::ValueId AddValue(std::string_view name, ir::Type type);
  // A value gets the name that the model gave it, when none has it yet.
  void Rename(ir::ValueId value, std::string_view name);

  // Appends and infers; results are new values, one per name.
  Expected<std::vector<ir::ValueId>> Add(ir::Instr instr,
                                         std::size_t result_count,
                                         std::string_view hint);
  // Appends a terminator or other instruction without results.
  void AddPlain(ir::Instr instr);

  Expected<ir::ValueId> AddConstant(ir::Constant constant);
  // A list of int64 as a rank-1 constant.
  Expected<ir::ValueId> AddInts(std::span<const int64_t> values,
                                std::string_view hint);
  // A scalar of int64, exact.
  Expected<ir::ValueId> AddInt(int64_t value, std::string_view hint);
  // A scalar of any float or integer dtype.
  Expected<ir::ValueId> AddScalar(DType dtype, double value,
                                  std::string_view hint);
  // A list of dims that costs nothing at run time.
  Expected<ir::ValueId> AddShape(std::vector<ir::Dim> dims,
                                 std::string_view hint);

 private:
  ir::Module& module_;
  ir::FunctionId function_id_;
  ir::Names names_;
  ir::RegionId region_;
  std::string node_;
};

}  // namespace ebb::onnx

#endif  // EBB_COMPILER_ONNX_GRAPH_BUILDER_H_
