#include "tools/program_text.h"

#include <cstddef>

#include "bytecode/dtype.h"

namespace ebb::tools {
namespace {

using bytecode::Type;
using bytecode::TypeKind;

std::string TensorText(const bytecode::Module& module, const Type& type) {
  std::string text = type.dtype == DType::kInvalid
                         ? std::string("tensor")
                         : std::string(DTypeName(type.dtype));
  if (!type.ranked) return text + "[*]";
  text += "[";
  for (std::size_t i = 0; i < type.dims.size(); ++i) {
    if (i != 0) text += ", ";
    const bytecode::DimSpec& dim = type.dims[i];
    if (dim.size >= 0) {
      text += std::to_string(dim.size);
    } else {
      text += dim.symbol.valid() ? module.string(dim.symbol) : "?";
    }
  }
  return text + "]";
}

}  // namespace

const Type* TensorType(const bytecode::Module& module, bytecode::TypeId type) {
  if (!type.valid()) return nullptr;
  const Type& found = module.types[type.index()];
  return found.kind == TypeKind::kTensor ? &found : nullptr;
}

// Recursion ends at the nesting that the verifier allows.
std::string TypeText(const bytecode::Module& module, bytecode::TypeId id) {
  if (!id.valid()) return "object";
  const Type& type = module.types[id.index()];
  std::string text;
  switch (type.kind) {
    case TypeKind::kTensor:
      return TensorText(module, type);
    case TypeKind::kStorage:
      return "storage";
    case TypeKind::kClosure:
      return "closure";
    case TypeKind::kObject:
      return "object";
    case TypeKind::kTuple:
      text = "tuple";
      break;
    case TypeKind::kSequence:
      text = "sequence";
      break;
    case TypeKind::kOptional:
      text = "optional";
      break;
  }
  text += "(";
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    if (i != 0) text += ", ";
    text += TypeText(module, type.fields[i]);
  }
  return text + ")";
}

std::string InputListText(const bytecode::Module& module) {
  std::string text;
  for (const bytecode::Param& param : module.function(module.entry).params) {
    if (!text.empty()) text += ", ";
    text +=
        module.string(param.name) + " (" + TypeText(module, param.type) + ")";
  }
  return text.empty() ? "none" : text;
}

}  // namespace ebb::tools
