#include "compiler/ir/printer.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/instr_info.h"
#include "compiler/ir/text.h"

namespace ebb::ir {
namespace {

using enum InstrKind;

// Constants are told apart by id; in text by names, so a name that an earlier
// one has is numbered. Predefined constants keep theirs.
std::vector<std::string> ConstantNames(const Module& module) {
  std::vector<std::string> names;
  std::unordered_set<std::string> taken;
  std::unordered_map<std::string, int> next;
  for (const Constant& constant : module.constants) {
    if (IsPredefined(constant)) taken.insert(constant.name);
  }
  for (const Constant& constant : module.constants) {
    const std::string hint = constant.name.empty() ? "c" : constant.name;
    std::string name = hint;
    if (!IsPredefined(constant)) {
      int& number = next[hint];
      while (!taken.insert(name).second) {
        name = hint + "_" + std::to_string(++number);
      }
    }
    names.push_back(std::move(name));
  }
  return names;
}

class Printer {
 public:
  Printer(const Module& module, const PrintOptions& options)
      : module_(module),
        options_(options),
        constant_names_(ConstantNames(module)) {}

  void PrintHeader();
  void PrintConstant(ConstantId id);
  void PrintFunction(const Function& function);
  std::string Take() { return std::move(text_); }

 private:
  std::string Spell(Dim dim) const { return module_.dims.ToString(dim); }
  std::string Spell(const Type& type) const {
    return ToString(module_.dims, type);
  }
  std::string Spell(ValueId value) const {
    return value.valid() ? SigilName('%', function_->value(value).name) : "_";
  }
  std::string Spell(const Operand& operand) const {
    return (operand.move ? "move " : "") + Spell(operand.value);
  }
  std::string Operands(const Instr& instr, std::size_t from = 0) const {
    return Join(std::span(instr.operands).subspan(from),
                [this](const Operand& operand) { return Spell(operand); });
  }
  std::string Dims(std::span<const Dim> dims) const {
    return Join(dims, [this](Dim dim) { return Spell(dim); });
  }
  std::string ConstantName(ConstantId id) const {
    return SigilName('@', id.valid() ? constant_names_[id.index()] : "none");
  }

  // Constants that need no declaration: an instruction tells all.
  std::vector<bool> DeclaredByUse() const;
  bool IsOmitted(const Instr& instr) const;
  void PrintRegion(RegionId region, int depth);
  void PrintInstr(const Instr& instr, int depth);
  void PrintWords(const Instr& instr);
  void PrintLoopHead(const Instr& instr);
  void PrintSuffix(const Instr& instr);
  void PrintTypes(const Instr& instr);

  const Module& module_;
  const PrintOptions& options_;
  const std::vector<std::string> constant_names_;
  const Function* function_ = nullptr;
  std::string text_;
};

// Per constant, by its first use in the text: that one would make it again.
std::vector<bool> Printer::DeclaredByUse() const {
  std::vector<bool> seen(module_.constants.size());
  std::vector<bool> declared(module_.constants.size());
  for (const Function& function : module_.functions) {
    for (const Instr& instr : function.instrs) {
      if (instr.kind != kConstant || !instr.constant.valid()) continue;
      const std::size_t index = instr.constant.index();
      if (seen[index] || instr.results.empty() || !instr.results[0].valid()) {
        continue;
      }
      seen[index] = true;
      const Constant& constant = module_.constants[index];
      const Type& type = function.value(instr.results[0]).type;
      declared[index] =
          constant.declared_only && !constant.packing.has_value() &&
          type.IsTensor() && type.ranked && type.dtype == constant.dtype &&
          type.layout == Layout::kRowMajor &&
          std::ranges::equal(type.dims, constant.dims,
                             [this](Dim dim, int64_t size) {
                               return module_.dims.Known(dim) == size;
                             });
    }
  }
  return declared;
}

void Printer::PrintHeader() {
  FunctionId entry = module_.FindFunction("main");
  if (!entry.valid() && !module_.functions.empty()) entry = FunctionId(0);
  if (module_.entry != entry) {
    text_ += "entry " +
             (module_.entry.valid()
                  ? SigilName('@', module_.function(module_.entry).name)
                  : std::string("none")) +
             "\n";
  }
  for (const auto& [key, value] : module_.metadata) {
    text_ += "metadata " + Quote(key) + " = " + Quote(value) + "\n";
  }
  for (std::size_t i = 0; i < module_.dims.symbol_count(); ++i) {
    const SymbolId symbol(i);
    const DimRange range = module_.dims.RangeOfSymbol(symbol);
    const int64_t divisor = module_.dims.DivisorOfSymbol(symbol);
    if (range.low == 0 && range.high == INT64_MAX && divisor == 1) continue;
    text_ += "dim " + QuoteUnlessIdentifier(module_.dims.SymbolName(symbol)) +
             " in " + std::to_string(range.low) + "..";
    if (range.high != INT64_MAX) text_ += std::to_string(range.high);
    if (divisor != 1) text_ += ", divisor=" + std::to_string(divisor);
    text_ += "\n";
  }
  const std::vector<bool> by_use = DeclaredByUse();
  for (std::size_t i = 0; i < module_.constants.size(); ++i) {
    const Constant& constant = module_.constants[i];
    if (!IsPredefined(constant) && !by_use[i]) PrintConstant(ConstantId(i));
  }
}

void Printer::PrintConstant(ConstantId id) {
  const Constant& constant = module_.constants[id.index()];
  text_ +=
      "const " + ConstantName(id) + " : " +
      std::string(DTypeName(constant.dtype)) + "[" +
      Join(constant.dims, [](int64_t dim) { return std::to_string(dim); }) +
      "]";
  if (constant.packing.has_value()) {
    const auto number = [](int32_t value) { return std::to_string(value); };
    const auto block = [](const Packing::Block& item) {
      return std::to_string(item.dim) + ":" + std::to_string(item.size);
    };
    text_ += " packed(order=[" + Join(constant.packing->outer_order, number) +
             "], blocks=[" + Join(constant.packing->blocks, block) + "])";
  }
  const bool left_out =
      static_cast<int64_t>(constant.data.size()) > options_.max_constant_bytes;
  if (!constant.declared_only && !left_out) {
    text_ += " = " + ConstantDataText(constant);
  }
  text_ += "\n";
}

void Printer::PrintFunction(const Function& function) {
  function_ = &function;
  text_ += "func " + SigilName('@', function.name) + "(";
  text_ += Join(function.params, [this](const Param& param) {
    const Type& type = function_->value(param.value).type;
    std::string text = Spell(param.value) + ": ";
    if (param.donated) text += "donated ";
    text += Spell(type);
    if (param.default_value.valid()) {
      text += " = " + ConstantName(param.default_value);
    }
    return text;
  });
  text_ += ")";
  const std::size_t results = function.result_types.size();
  if (results > 0) {
    const bool named = function.result_names.size() == results;
    text_ += results == 1 ? " -> " : " -> (";
    for (std::size_t i = 0; i < results; ++i) {
      if (i > 0) text_ += ", ";
      if (named) {
        text_ += QuoteUnlessIdentifier(function.result_names[i]) + ": ";
      }
      text_ += Spell(function.result_types[i]);
    }
    if (results > 1) text_ += ")";
  }
  if (function.body.valid()) {
    text_ += " {\n";
    PrintRegion(function.body, 1);
    text_ += "}";
  }
  text_ += "\n";
}

bool Printer::IsOmitted(const Instr& instr) const {
  if (instr.kind != kConstant || !instr.constant.valid() ||
      instr.results.size() != 1 || !instr.results[0].valid()) {
    return false;
  }
  const Constant& constant = module_.constants[instr.constant.index()];
  return IsPredefined(constant) &&
         function_->value(instr.results[0]).name == constant.name;
}

// Recursion is as deep as regions nest: kMaxNesting at most.
void Printer::PrintRegion(RegionId region, int depth) {
  for (const InstrId id : function_->region(region).instrs) {
    const Instr& instr = function_->instr(id);
    if (IsOmitted(instr)) continue;
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    PrintInstr(instr, depth);
    text_ += "\n";
  }
}

void Printer::PrintInstr(const Instr& instr, int depth) {
  if (!instr.results.empty()) {
    text_ += Join(instr.results, [this](ValueId id) { return Spell(id); });
    text_ += " = ";
  }
  if (instr.kind == kIf || instr.kind == kLoop) {
    text_ += KindMnemonic(instr.kind);
    if (!instr.attributes.empty()) text_ += " " + ToString(instr.attributes);
    if (instr.kind == kIf) {
      text_ += " " + Operands(instr);
    } else {
      PrintLoopHead(instr);
    }
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    for (std::size_t i = 0; i < instr.regions.size(); ++i) {
      text_ += i == 0 ? " {\n" : " else {\n";
      PrintRegion(instr.regions[i], depth + 1);
      text_ += indent + "}";
    }
  } else {
    PrintWords(instr);
    if (!instr.attributes.empty()) text_ += " " + ToString(instr.attributes);
  }
  PrintSuffix(instr);
}

void Printer::PrintLoopHead(const Instr& instr) {
  const Region& body = function_->region(instr.regions[0]);
  text_ += " " + Spell(body.params[0]);
  if (instr.operands[0].value.valid()) {
    text_ += " < " + Spell(instr.operands[0]);
  }
  if (instr.operands[1].value.valid()) {
    text_ += " while " + Spell(instr.operands[1]);
  }
  for (std::size_t i = 2; i < instr.operands.size(); ++i) {
    const ValueId param = body.params[i - 1];
    text_ += ", " + Spell(param) + " = " + Spell(instr.operands[i]);
    const Type& type = function_->value(param).type;
    if (type.kind != TypeKind::kUnknown) text_ += " : " + Spell(type);
  }
}

// The word and the operands.
void Printer::PrintWords(const Instr& instr) {
  const std::string word(KindMnemonic(instr.kind));
  switch (instr.kind) {
    case kOperator:
      text_ += InfoOf(instr.code).mnemonic;
      if (!instr.operands.empty()) text_ += " " + Operands(instr);
      return;
    case kScratchBytes:
      text_ += word + " " + std::string(InfoOf(instr.code).mnemonic) + " " +
               Operands(instr);
      return;
    case kConstant:
      text_ += word + " " + ConstantName(instr.constant);
      return;
    case kShape:
      text_ += word + " [" + Dims(instr.dims) + "]";
      return;
    case kInt:
      text_ += word + " " + Dims(instr.dims);
      return;
    case kTuple:
    case kSequence:
    case kOptional:
      text_ += word + "(" + Operands(instr) + ")";
      return;
    case kMakeClosure:
    case kCall:
      text_ += word + " " + SigilName('@', instr.symbol) + "(" +
               Operands(instr) + ")";
      return;
    case kCallClosure:
      text_ +=
          "call " + Spell(instr.operands[0]) + "(" + Operands(instr, 1) + ")";
      return;
    case kCallExternal:
      text_ += word + " " + Quote(instr.symbol) + "(" + Operands(instr) + ")";
      return;
    case kAllocStorage:
      text_ += word + " " +
               (instr.dims.empty() ? Operands(instr) : Dims(instr.dims)) +
               ", align=" + std::to_string(instr.align);
      return;
    case kAllocTensor:
    case kView:
      text_ += word + " " + Operands(instr) + ", offset=" + Dims(instr.dims);
      return;
    case kGet:
      text_ += word + " " + Operands(instr);
      if (!instr.dims.empty()) text_ += ", " + Dims(instr.dims);
      return;
    case kAlias:
      text_ += Operands(instr);
      return;
    default:
      text_ += word;
      if (!instr.operands.empty()) text_ += " " + Operands(instr);
      return;
  }
}

void Printer::PrintSuffix(const Instr& instr) {
  if (!instr.outs.empty()) {
    text_ +=
        " into " + Join(instr.outs, [this](ValueId id) { return Spell(id); });
  }
  if (instr.scratch.valid()) text_ += " scratch " + Spell(instr.scratch);
  PrintTypes(instr);
  if (!instr.node.empty()) text_ += " node " + Quote(instr.node);
}

void Printer::PrintTypes(const Instr& instr) {
  const Type implied = ImpliedType(instr);
  bool wanted = false;
  for (const ValueId result : instr.results) {
    if (!result.valid()) continue;
    const Type& type = function_->value(result).type;
    wanted = wanted || (type.kind != TypeKind::kUnknown && type != implied);
  }
  if (!wanted) return;
  text_ += " : " + Join(instr.results, [this](ValueId result) {
             return result.valid() ? Spell(function_->value(result).type)
                                   : std::string("?");
           });
}

}  // namespace

std::string Print(const Module& module, const PrintOptions& options) {
  Printer printer(module, options);
  printer.PrintHeader();
  std::string text = printer.Take();
  for (const Function& function : module.functions) {
    if (!text.empty()) text += "\n";
    printer.PrintFunction(function);
    text += printer.Take();
  }
  return text;
}

std::string Print(const Module& module, const Function& function) {
  const PrintOptions options;
  Printer printer(module, options);
  printer.PrintFunction(function);
  return printer.Take();
}

}  // namespace ebb::ir
