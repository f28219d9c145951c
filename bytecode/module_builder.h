// Fills in a Module: equal strings and types are stored once, functions can be
// declared before they have code (recursion, forward calls). Owns the module
// until Finish. Not for use by several threads at once.
//
//   ModuleBuilder module;
//   TypeId type = module.TensorType(DType::kF32, {1, 3, 224, 224});
//   FunctionBuilder f(module, "main");       // function_builder.h
//   …
//   Module done = module.Finish();
#ifndef EBB_BYTECODE_MODULE_BUILDER_H_
#define EBB_BYTECODE_MODULE_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bytecode/module.h"

namespace ebb::bytecode {

class ModuleBuilder {
 public:
  StringId InternString(std::string_view text);
  // The fields must have been interned before.
  TypeId InternType(const Type& type);
  // Fixed dims; -1 is an unknown dim without a name.
  TypeId TensorType(DType dtype, const std::vector<int64_t>& dims);
  TypeId StorageType();

  // Sites and constants are not merged.
  SiteId AddSite(Site site);
  ConstantId AddConstant(Constant constant);
  // Names an external function; once however often it is called.
  StringId AddExternal(std::string_view name);

  // A function without code, to be filled in by a FunctionBuilder.
  FunctionId DeclareFunction(std::string_view name);

  // For everything else: target, metadata, entry, …
  Module& module() { return module_; }
  const Module& module() const { return module_; }

  // Sets the entry to the first function unless one was set.
  Module Finish();

 private:
  Module module_;
  std::unordered_map<std::string, StringId> strings_;
  std::unordered_map<std::string, TypeId> types_;  // By their content.
  std::unordered_set<StringId> externals_;
};

// A text that is equal for equal types of one module only.
std::string TypeKey(const Type& type);

// Memory that lives as long as the module (or any copy of it), aligned as
// constants in a file are; its content is for the caller to write.
std::span<std::byte> AddOwnedBytes(Module& module, std::size_t bytes);

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_MODULE_BUILDER_H_
