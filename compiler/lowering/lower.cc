#include "compiler/lowering/lower.h"

#include <utility>

#include "bytecode/lifetime_checker.h"
#include "bytecode/module_builder.h"
#include "bytecode/verifier.h"
#include "compiler/lowering/function_emitter.h"

namespace ebb::lowering {
namespace {

bytecode::TypeKind LowerKind(ir::TypeKind kind) {
  switch (kind) {
    case ir::TypeKind::kTensor:
      return bytecode::TypeKind::kTensor;
    case ir::TypeKind::kStorage:
      return bytecode::TypeKind::kStorage;
    case ir::TypeKind::kTuple:
      return bytecode::TypeKind::kTuple;
    case ir::TypeKind::kSequence:
      return bytecode::TypeKind::kSequence;
    case ir::TypeKind::kOptional:
      return bytecode::TypeKind::kOptional;
    case ir::TypeKind::kClosure:
      return bytecode::TypeKind::kClosure;
    case ir::TypeKind::kObject:
    case ir::TypeKind::kUnknown:
    case ir::TypeKind::kShape:
    case ir::TypeKind::kInt:
      return bytecode::TypeKind::kObject;
  }
  return bytecode::TypeKind::kObject;
}

Expected<bytecode::Constant> LowerConstant(bytecode::ModuleBuilder& builder,
                                           const ir::Constant& constant) {
  if (constant.declared_only) {
    return Fail(ErrorCode::kInvalidModel,
                "constant @" + constant.name + " has no data");
  }
  bytecode::Constant lowered;
  lowered.kind = constant.repeat ? bytecode::ConstantKind::kRepeat
                                 : bytecode::ConstantKind::kData;
  lowered.dtype = constant.dtype;
  lowered.dims = constant.dims;
  lowered.data = constant.data;
  lowered.packing = constant.packing;
  lowered.name = builder.InternString(constant.name);
  return lowered;
}

// Only constants that some function loads, or that an input falls back to,
// go into the file.
std::vector<bool> UsedConstants(const ir::Module& module) {
  std::vector<bool> used(module.constants.size());
  for (const ir::Function& function : module.functions) {
    for (const ir::Param& param : function.params) {
      if (param.default_value.valid()) {
        used[param.default_value.index()] = true;
      }
    }
    for (const ir::Region& region : function.regions) {
      for (const ir::InstrId id : region.instrs) {
        const ir::Instr& instr = function.instr(id);
        if (instr.kind == ir::InstrKind::kConstant) {
          used[instr.constant.index()] = true;
        }
      }
    }
  }
  return used;
}

}  // namespace

bytecode::TypeId LowerType(bytecode::ModuleBuilder& builder,
                           const ir::DimTable& dims, const ir::Type& type) {
  bytecode::Type lowered;
  lowered.kind = LowerKind(type.kind);
  lowered.dtype = type.dtype;
  lowered.ranked = type.ranked;
  for (const ir::Dim dim : type.dims) {
    bytecode::DimSpec spec;
    if (const auto size = dims.Known(dim)) {
      spec.size = *size;
    } else if (const auto symbol = dims.AsSymbol(dim)) {
      spec.symbol = builder.InternString(dims.SymbolName(*symbol));
    }
    lowered.dims.push_back(spec);
  }
  // Types nest no deeper than the text form or the importer allows.
  for (const ir::Type& element : type.elements) {
    lowered.fields.push_back(LowerType(builder, dims, element));
  }
  return builder.InternType(lowered);
}

Expected<bytecode::Module> Lower(const ir::Module& module,
                                 const LowerOptions& options) {
  bytecode::ModuleBuilder builder;
  ModuleContext context{module, builder, {}, {}, {}};
  const std::vector<bool> used = UsedConstants(module);
  context.constants.resize(module.constants.size());
  for (std::size_t i = 0; i < module.constants.size(); ++i) {
    if (!used[i]) continue;
    TRY(auto constant, LowerConstant(builder, module.constants[i]));
    context.constants[i] = builder.AddConstant(std::move(constant));
  }
  // Functions that are only declared have no code and cannot be called.
  context.functions.resize(module.functions.size());
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& function = module.functions[i];
    context.function_by_name.emplace(function.name, ir::FunctionId(i));
    if (!function.body.valid()) continue;
    context.functions[i] = builder.DeclareFunction(function.name);
  }
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (!module.functions[i].body.valid()) continue;
    const ir::FunctionId id(i);
    RETURN_IF_ERROR(FunctionEmitter(context, id).Run(id == module.entry));
  }
  if (!module.entry.valid() ||
      !context.functions[module.entry.index()].valid()) {
    return Fail(ErrorCode::kInvalidModel, "the module has no entry function");
  }
  bytecode::Module& out = builder.module();
  out.entry = context.functions[module.entry.index()];
  out.producer = options.producer;
  out.target = options.target;
  out.metadata = module.metadata;
  out.owned = module.owned;
  bytecode::Module lowered = builder.Finish();
  RETURN_IF_ERROR(bytecode::Verify(lowered));
  if (options.check_lifetimes) {
    RETURN_IF_ERROR(bytecode::CheckLifetimes(lowered));
  }
  return lowered;
}

}  // namespace ebb::lowering
