#include "bytecode/module_builder.h"

#include <new>
#include <utility>

#include "bytecode/file_format.h"

namespace ebb::bytecode {
std::string TypeKey(const Type& type) {
  std::string key = std::to_string(static_cast<int>(type.kind)) + ":" +
                    std::to_string(static_cast<int>(type.dtype)) +
                    (type.ranked ? "r" : "u");
  for (const DimSpec& dim : type.dims) {
    key += "," + std::to_string(dim.size);
    if (dim.symbol.valid()) key += "s" + std::to_string(dim.symbol.index());
  }
  for (const TypeId field : type.fields) {
    key += "f" + std::to_string(field.index());
  }
  return key;
}

StringId ModuleBuilder::InternString(std::string_view text) {
  const auto [at, is_new] =
      strings_.try_emplace(std::string(text), StringId(module_.strings.size()));
  if (is_new) module_.strings.emplace_back(text);
  return at->second;
}

TypeId ModuleBuilder::InternType(const Type& type) {
  const auto [at, is_new] =
      types_.try_emplace(TypeKey(type), TypeId(module_.types.size()));
  if (is_new) module_.types.push_back(type);
  return at->second;
}

TypeId ModuleBuilder::TensorType(DType dtype,
                                 const std::vector<int64_t>& dims) {
  Type type{.kind = TypeKind::kTensor, .dtype = dtype};
  for (const int64_t size : dims) type.dims.push_back({.size = size});
  return InternType(type);
}

TypeId ModuleBuilder::StorageType() {
  return InternType({.kind = TypeKind::kStorage});
}

SiteId ModuleBuilder::AddSite(Site site) {
  module_.sites.push_back(std::move(site));
  return SiteId(module_.sites.size() - 1);
}

ConstantId ModuleBuilder::AddConstant(Constant constant) {
  module_.constants.push_back(std::move(constant));
  return ConstantId(module_.constants.size() - 1);
}

StringId ModuleBuilder::AddExternal(std::string_view name) {
  const StringId id = InternString(name);
  if (externals_.insert(id).second) module_.externals.push_back(id);
  return id;
}

FunctionId ModuleBuilder::DeclareFunction(std::string_view name) {
  module_.functions.push_back({.name = InternString(name)});
  return FunctionId(module_.functions.size() - 1);
}

std::span<std::byte> AddOwnedBytes(Module& module, std::size_t bytes) {
  constexpr std::align_val_t kAlignment{kConstantAlignment};
  auto* memory = static_cast<std::byte*>(::operator new(bytes, kAlignment));
  module.owned.emplace_back(memory, [](const void* owned) {
    ::operator delete(const_cast<void*>(owned), kAlignment);
  });
  return {memory, bytes};
}

Module ModuleBuilder::Finish() {
  if (!module_.entry.valid() && !module_.functions.empty()) {
    module_.entry = FunctionId(0);
  }
  strings_.clear();
  types_.clear();
  externals_.clear();
  return std::exchange(module_, Module());
}

}  // namespace ebb::bytecode
