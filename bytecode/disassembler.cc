#include "bytecode/disassembler.h"

#include <string_view>
#include <unordered_map>
#include <vector>

#include "bytecode/operand_visitor.h"
#include "bytecode/text_format.h"

namespace ebb::bytecode {
namespace {

class Disassembler {
 public:
  Disassembler(const Module& module, const DisassembleOptions& options)
      : module_(module), options_(options) {
    for (std::size_t i = 0; i < module.strings.size(); ++i) {
      strings_.try_emplace(module.strings[i], i);
    }
    for (std::size_t i = 0; i < module.functions.size(); ++i) {
      const StringId name = module.functions[i].name;
      if (name.valid()) functions_.try_emplace(module.string(name), i);
    }
    for (std::size_t i = 0; i < module.types.size(); ++i) {
      types_.try_emplace(TypeText(module.types[i]), i);
    }
  }

  std::string Run() {
    out_ += "ebbt 1.0\n";
    out_ += "producer " + Quoted(module_.producer) + "\n";
    out_ += "target " + Quoted(module_.target) + "\n";
    PrintStrings();
    for (const StringId name : module_.externals) {
      out_ += "external " + Ref(name) + "\n";
    }
    for (const auto& [key, value] : module_.metadata) {
      out_ += "metadata " + Quoted(key) + " " + Quoted(value) + "\n";
    }
    for (std::size_t i = 0; i < module_.types.size(); ++i) {
      out_ += "type !" + std::to_string(i) + " = " +
              TypeText(module_.types[i]) + "\n";
    }
    for (std::size_t i = 0; i < module_.constants.size(); ++i) {
      PrintConstant(i);
    }
    for (std::size_t i = 0; i < module_.sites.size(); ++i) PrintSite(i);
    out_ += "entry " + Ref(module_.entry) + "\n";
    for (const Function& function : module_.functions) PrintFunction(function);
    return std::move(out_);
  }

 private:
  // A string by its text where that finds it again, else by its index.
  std::string Ref(StringId id) const {
    if (!id.valid()) return "none";
    const std::string& text = module_.string(id);
    if (strings_.at(text) == id.index()) return Quoted(text);
    return "~" + std::to_string(id.index());
  }
  std::string Ref(FunctionId id) const {
    const StringId name = module_.function(id).name;
    const std::string& text = module_.string(name);
    if (!name.valid() || functions_.at(text) != id.index()) {
      return "@" + std::to_string(id.index());
    }
    return "@" + (IsIdentifier(text) ? text : Quoted(text));
  }
  std::string Ref(TypeId id) const {
    const Type& type = module_.types[id.index()];
    if (type.fields.empty()) {
      std::string text = TypeText(type);
      if (types_.at(text) == id.index()) return text;
    }
    return "!" + std::to_string(id.index());
  }

  std::string DimText(const DimSpec& dim) const {
    if (!dim.symbol.valid()) {
      return dim.size < 0 ? "?" : std::to_string(dim.size);
    }
    const std::string& text = module_.string(dim.symbol);
    const bool bare =
        IsIdentifier(text) && strings_.at(text) == dim.symbol.index();
    return (bare ? text : Ref(dim.symbol)) +
           (dim.size < 0 ? "" : "=" + std::to_string(dim.size));
  }

  std::string TypeText(const Type& type) const {
    std::string out;
    switch (type.kind) {
      case TypeKind::kTensor:
        out = type.dtype == DType::kInvalid ? "any" : DTypeName(type.dtype);
        if (!type.ranked) return out + "[*]";
        out += "[";
        for (std::size_t i = 0; i < type.dims.size(); ++i) {
          out += (i > 0 ? ", " : "") + DimText(type.dims[i]);
        }
        return out + "]";
      case TypeKind::kStorage:
        return "storage";
      case TypeKind::kClosure:
        return "closure";
      case TypeKind::kObject:
        return "object";
      case TypeKind::kTuple:
        out = "tuple(";
        break;
      case TypeKind::kSequence:
        out = "sequence(";
        break;
      case TypeKind::kOptional:
        out = "optional(";
        break;
    }
    for (std::size_t i = 0; i < type.fields.size(); ++i) {
      out += (i > 0 ? ", !" : "!") + std::to_string(type.fields[i].index());
    }
    return out + ")";
  }

  void PrintStrings() {
    out_ += "strings {";
    std::size_t column = 80;
    for (const std::string& text : module_.strings) {
      const std::string quoted = Quoted(text);
      if (column + quoted.size() > 78) {
        out_ += "\n ";
        column = 1;
      }
      out_ += " " + quoted;
      column += quoted.size() + 1;
    }
    out_ += "\n}\n";
  }

  void PrintConstant(std::size_t index) {
    const Constant& constant = module_.constants[index];
    out_ += "constant $" + std::to_string(index) + " " + Ref(constant.name) +
            " = " + std::string(DTypeName(constant.dtype)) + "[";
    for (std::size_t i = 0; i < constant.dims.size(); ++i) {
      out_ += (i > 0 ? ", " : "") + std::to_string(constant.dims[i]);
    }
    out_ += "]";
    if (constant.packing.has_value()) {
      out_ += " packed [";
      const Packing& packing = *constant.packing;
      for (std::size_t i = 0; i < packing.outer_order.size(); ++i) {
        out_ += (i > 0 ? ", " : "") + std::to_string(packing.outer_order[i]);
      }
      out_ += "] [";
      for (std::size_t i = 0; i < packing.blocks.size(); ++i) {
        out_ += (i > 0 ? ", " : "") + std::to_string(packing.blocks[i].dim) +
                " " + std::to_string(packing.blocks[i].size);
      }
      out_ += "]";
    }
    if (constant.data.size() > options_.elide_above_bytes) {
      out_ +=
          " elided  // " + std::to_string(constant.data.size()) + " bytes\n";
      return;
    }
    out_ += constant.kind == ConstantKind::kRepeat ? " repeat {" : " data {";
    const bool is_short = constant.data.size() <= 16;
    for (std::size_t i = 0; i < constant.data.size(); ++i) {
      if (!is_short && i % 32 == 0) out_ += "\n ";
      if (i % 4 == 0) out_ += ' ';
      AppendHex(out_, static_cast<uint8_t>(constant.data[i]));
    }
    out_ += is_short ? " }\n" : "\n}\n";
  }

  void PrintSite(std::size_t index) {
    const Site& site = module_.sites[index];
    out_ += "site #" + std::to_string(index) + " = " +
            std::string(InfoOf(site.code).mnemonic) + " {";
    const char* separator = "";
    for (const auto& [name, value] : site.attributes.entries()) {
      out_ += separator + name + " = " + AttributeText(value);
      separator = ", ";
    }
    out_ += "} from " + Ref(site.node) + "\n";
  }

  void PrintFunction(const Function& function) {
    const StringId name = function.name;
    const bool named =
        name.valid() && strings_.at(module_.string(name)) == name.index();
    const std::string& text = module_.string(name);
    out_ += "\nfunc " +
            (!named               ? Ref(name)
             : IsIdentifier(text) ? "@" + text
                                  : "@" + Quoted(text)) +
            "(";
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      const Param& param = function.params[i];
      out_ += (i > 0 ? ", %h" : "%h") + std::to_string(i) + " " +
              Ref(param.name) + ": " + (param.donated ? "donated " : "") +
              Ref(param.type);
      if (param.optional_feed) {
        out_ += " default $" + std::to_string(param.default_value.index());
      }
    }
    out_ += ") -> (";
    for (std::size_t i = 0; i < function.results.size(); ++i) {
      out_ += (i > 0 ? ", " : "") + Ref(function.results[i].name) + ": " +
              Ref(function.results[i].type);
    }
    out_ += ") ints " + std::to_string(function.int_register_count) +
            " holds " + std::to_string(function.hold_register_count) +
            (function.value_names.empty() ? " {\n" : " named {\n");
    PrintCode(function);
    out_ += "}\n";
  }

  void PrintCode(const Function& function) {
    std::vector<bool> is_target(function.code.size());
    for (const Instruction& instruction : function.code) {
      ForEachOperand(function, instruction, [&](const Operand& operand) {
        if (operand.role == Role::kLabel) {
          is_target[static_cast<std::size_t>(operand.value)] = true;
        }
      });
    }
    for (std::size_t i = 0; i < function.code.size(); ++i) {
      if (is_target[i]) out_ += "L" + std::to_string(i) + ":\n";
      out_ += "  ";
      PrintInstruction(function, function.code[i]);
      if (!function.value_names.empty() && function.value_names[i].valid()) {
        out_ += " as " + Ref(function.value_names[i]);
      }
      out_ += comment_ + "\n";
    }
  }

  // In the order of the format, a result in front: `%h2 = share %h1`.
  void PrintInstruction(const Function& function,
                        const Instruction& instruction) {
    const OpcodeInfo& info = InfoOf(instruction.opcode);
    comment_.clear();
    std::size_t entries_left = 0;         // Of the open list.
    std::size_t nested_entries_left = 0;  // Of the list within it.
    bool in_front =
        info.roles[0] == Role::kDefInt || info.roles[0] == Role::kDefHold;
    if (!in_front) out_ += std::string(info.mnemonic) + " ";
    const char* separator = "";
    ForEachOperand(function, instruction, [&](const Operand& operand) {
      out_ += separator;
      separator = ", ";
      if (operand.kind == OperandKind::kCount) {
        out_ += '[';
        (operand.nested ? nested_entries_left : entries_left) =
            static_cast<std::size_t>(operand.value);
        if (operand.value > 0) {
          separator = "";
          return;
        }
        out_ += ']';
        // An empty list within one is an entry of it that is done.
        if (operand.nested) CloseEntry(entries_left);
        return;
      }
      out_ += OperandText(operand);
      if (in_front) {
        out_ += " = " + std::string(info.mnemonic);
        separator = " ";
        in_front = false;
      } else if (operand.nested) {
        if (--nested_entries_left == 0) {
          out_ += ']';
          CloseEntry(entries_left);
        }
      } else if (entries_left > 0) {
        CloseEntry(entries_left);
      }
    });
  }
  void CloseEntry(std::size_t& entries_left) {
    if (--entries_left == 0) out_ += ']';
  }

  std::string OperandText(const Operand& operand) {
    const std::string number = std::to_string(operand.value);
    switch (operand.kind) {
      case OperandKind::kDefInt:
        return "%i" + number;
      case OperandKind::kInt:
        return operand.is_register ? "%i" + number : number;
      case OperandKind::kNone:
        return "none";
      case OperandKind::kHold:
        if (operand.role == Role::kPass || operand.role == Role::kPasses) {
          return (operand.moved ? "move %h" : "share %h") + number;
        }
        return "%h" + number;
      case OperandKind::kCount:
      case OperandKind::kNumber:
        return NumberText(operand);
    }
    return number;
  }

  std::string NumberText(const Operand& operand) {
    const std::string number = std::to_string(operand.value);
    const auto index = static_cast<std::size_t>(operand.value);
    if (operand.role == Role::kLabel) return "L" + number;
    if (operand.role == Role::kConstantRef) {
      Comment(module_.string(module_.constants[index].name));
      return "$" + number;
    }
    if (operand.role == Role::kFunctionRef) return Ref(FunctionId(index));
    if (operand.role == Role::kStringRef) return Ref(StringId(index));
    if (operand.role == Role::kSiteRef) {
      const Site& site = module_.sites[index];
      const std::string& node = module_.string(site.node);
      Comment(std::string(InfoOf(site.code).mnemonic) +
              (node.empty() ? "" : " " + Quoted(node)));
      return "#" + number;
    }
    if (operand.role == Role::kDTypeCode) {
      return std::string(DTypeName(static_cast<DType>(operand.value)));
    }
    return number;
  }
  void Comment(const std::string& text) {
    // Must stay on its line.
    if (text.empty() || text.find('\n') != text.npos) return;
    comment_ = "  // " + text;
  }

  const Module& module_;
  const DisassembleOptions& options_;
  // The first index of each text, function name and type.
  std::unordered_map<std::string_view, std::size_t> strings_;
  std::unordered_map<std::string_view, std::size_t> functions_;
  std::unordered_map<std::string, std::size_t> types_;
  std::string out_;
  std::string comment_;  // Of the current instruction.
};

}  // namespace

std::string Disassemble(const Module& module,
                        const DisassembleOptions& options) {
  return Disassembler(module, options).Run();
}

}  // namespace ebb::bytecode
