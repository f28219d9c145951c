// Function bodies of the text form.
#include <algorithm>
#include <utility>

#include "compiler/ir/constant_text.h"
#include "compiler/ir/instr_info.h"
#include "compiler/ir/parser_impl.h"
#include "compiler/ir/text.h"

namespace ebb::ir {

using enum InstrKind;

RegionId Parser::AddRegion() {
  const RegionId id(function_->regions.size());
  function_->regions.emplace_back();
  return id;
}

Expected<ValueId> Parser::DefineValue(const Name& name, Type type,
                                      InstrId def) {
  const ValueId id(function_->values.size());
  const auto [at, is_new] = values_.emplace(name.name, id);
  if (!is_new) {
    const Location& first = value_locations_[at->second.index()];
    return FailAt(name.location, SigilName('%', name.name) +
                                     " is defined twice, first in line " +
                                     std::to_string(first.line));
  }
  Value value;
  value.name = name.name;
  value.type = std::move(type);
  value.def = def;
  function_->values.push_back(std::move(value));
  value_locations_.push_back(name.location);
  return id;
}

Expected<ValueId> Parser::FindValue(const Name& name) {
  if (const auto at = values_.find(name.name); at != values_.end()) {
    return at->second;
  }
  const bool is_true = name.name == "true";
  if (!is_true && name.name != "false") {
    return FailAt(name.location,
                  SigilName('%', name.name) + " is not defined here");
  }
  const ConstantId id = FindOrAddConstant(name);
  Constant& constant = module_.constants[id.index()];
  if (undeclared_.erase(id) != 0) {
    const std::byte byte{is_true ? uint8_t{1} : uint8_t{0}};
    constant.dtype = DType::kBool;
    constant.declared_only = false;
    constant.data = KeepBytes(module_, std::span(&byte, 1));
  } else if (constant.dtype != DType::kBool || !constant.dims.empty()) {
    return FailAt(name.location,
                  SigilName('%', name.name) + " is not defined here, and " +
                      SigilName('@', name.name) + " is no bool scalar");
  }
  const InstrId def(function_->instrs.size());
  TRY(const ValueId value,
      DefineValue(name, Type::Tensor(DType::kBool, {}), def));
  Instr instr;
  instr.kind = kConstant;
  instr.constant = id;
  instr.results = {value};
  instr.location = name.location;
  function_->instrs.push_back(std::move(instr));
  predefined_[is_true ? 0 : 1] = value;
  return value;
}

bool Parser::AtOperand() const {
  return Peek().kind == TokenKind::kValue || Peek().Is("move") ||
         Peek().Is("_");
}

Expected<ValueId> Parser::ParseValueOrNone() {
  if (Accept("_")) return ValueId();
  if (Peek().kind != TokenKind::kValue) return FailExpected("a %value");
  Token token = Take();
  return FindValue(Name{std::move(token.value), token.location});
}

Expected<Operand> Parser::ParseOperand() {
  Operand operand;
  operand.move = Accept("move");
  TRY(operand.value, ParseValueOrNone());
  return operand;
}

Status Parser::ParseOperands(Instr& instr) {
  do {
    TRY(const Operand operand, ParseOperand());
    instr.operands.push_back(operand);
  } while (Accept(","));
  return {};
}

Status Parser::ParseParenthesised(Instr& instr) {
  RETURN_IF_ERROR(Expect("("));
  if (Accept(")")) return {};
  RETURN_IF_ERROR(ParseOperands(instr));
  return Expect(")");
}

Status Parser::ParseRegion(RegionId region) {
  const Level level(region_depth_);
  RETURN_IF_ERROR(CheckDepth(region_depth_));
  RETURN_IF_ERROR(Expect("{"));
  while (!Accept("}")) {
    RETURN_IF_ERROR(ParseStatement(region));
  }
  return {};
}

Status Parser::ParseStatement(RegionId region) {
  std::vector<Name> results;
  Instr instr;
  instr.location = Peek().location;
  if (Peek().kind == TokenKind::kValue || Peek().Is("_")) {
    do {
      if (Peek().kind != TokenKind::kValue && !Peek().Is("_")) {
        return FailExpected("a %result");
      }
      Token token = Take();
      results.push_back(Name{std::move(token.value), token.location});
    } while (Accept(","));
    RETURN_IF_ERROR(Expect("="));
  }
  RETURN_IF_ERROR(ParseRight(instr, results));
  const InstrId id(function_->instrs.size());
  for (const ValueId result : instr.results) {
    if (result.valid()) function_->value(result).def = id;
  }
  function_->instrs.push_back(std::move(instr));
  function_->region(region).instrs.push_back(id);
  return {};
}

// What stands right of the `=`, and the results with their types.
Status Parser::ParseRight(Instr& instr, std::vector<Name>& results) {
  if (AtOperand()) {
    instr.kind = kAlias;
    TRY(const Operand operand, ParseOperand());
    instr.operands.push_back(operand);
  } else if (Peek().kind != TokenKind::kIdentifier) {
    return FailExpected("an instruction");
  } else if (const auto kind = KindFromMnemonic(Peek().text)) {
    Take();
    instr.kind = *kind;
    RETURN_IF_ERROR(ParseKind(instr, *kind));
  } else {
    RETURN_IF_ERROR(ParseOperator(instr));
  }
  RETURN_IF_ERROR(ParseSuffix(instr));
  const Type implied = ImpliedType(instr);
  for (const Name& name : results) {
    ValueId value;
    if (!name.name.empty()) {
      TRY(value, DefineValue(name, implied, InstrId()));
    }
    instr.results.push_back(value);
  }
  RETURN_IF_ERROR(ParseResultTypes(instr, results));
  if (Accept("node")) {
    TRY(instr.node, TakeString("the name of a node in quotes"));
  }
  return {};
}

Status Parser::ParseOperator(Instr& instr) {
  const Token token = Take();
  const auto code = OperatorFromMnemonic(token.text);
  if (!code.has_value()) {
    return FailAt(token.location, "'" + std::string(token.text) +
                                      "' is no instruction or operator");
  }
  instr.code = *code;
  return AtOperand() ? ParseOperands(instr) : Status();
}

Status Parser::ParseKind(Instr& instr, InstrKind kind) {
  switch (kind) {
    case kConstant:
      return ParseConstantUse(instr);
    case kShape: {
      TRY(instr.dims, ParseDimList());
      return {};
    }
    case kInt: {
      TRY(const Dim dim, ParseDim());
      instr.dims = {dim};
      return {};
    }
    case kTuple:
    case kSequence:
    case kOptional:
      return ParseParenthesised(instr);
    case kMakeClosure:
    case kCall:
    case kCallExternal:
      return ParseCall(instr);
    case kIf:
      return ParseIf(instr);
    case kLoop:
      return ParseLoop(instr);
    case kGet:
      return ParseGet(instr);
    case kAllocStorage: {
      if (AtOperand()) {
        TRY(const Operand operand, ParseOperand());
        instr.operands.push_back(operand);
      } else {
        TRY(const Dim dim, ParseDim());
        instr.dims = {dim};
      }
      if (Accept(",")) {
        TRY(instr.align, TakeSetting("align"));
      }
      return {};
    }
    case kAllocTensor:
    case kView: {
      TRY(const Operand operand, ParseOperand());
      instr.operands.push_back(operand);
      for (const char* word : {",", "offset", "="}) {
        RETURN_IF_ERROR(Expect(word));
      }
      TRY(const Dim dim, ParseDim());
      instr.dims = {dim};
      return {};
    }
    case kScratchBytes:
      return ParseOperator(instr);
    default:
      return AtOperand() ? ParseOperands(instr) : Status();
  }
}

// A type in the text may be all that tells what the constant is.
Status Parser::ParseConstantUse(Instr& instr) {
  TRY(const Name name, TakeGlobal());
  instr.constant = FindOrAddConstant(name);
  return {};
}

Status Parser::ParseGet(Instr& instr) {
  TRY(const Operand operand, ParseOperand());
  instr.operands.push_back(operand);
  RETURN_IF_ERROR(Expect(","));
  if (AtOperand()) {
    TRY(const Operand index, ParseOperand());
    instr.operands.push_back(index);
    return {};
  }
  TRY(const Dim dim, ParseDim());
  instr.dims = {dim};
  return {};
}

Status Parser::ParseCall(Instr& instr) {
  if (instr.kind == kCallExternal) {
    TRY(instr.symbol, TakeString("a name in quotes"));
  } else if (instr.kind == kCall && Peek().kind == TokenKind::kValue) {
    instr.kind = kCallClosure;
    TRY(const Operand closure, ParseOperand());
    instr.operands.push_back(closure);
  } else {
    TRY(Name name, TakeGlobal());
    instr.symbol = std::move(name.name);
  }
  return ParseParenthesised(instr);
}

// `{ name = …` begins attributes; no instruction of a body looks like it.
bool Parser::AtAttributes() const {
  return Peek().Is("{") &&
         (Peek(1).Is("}") || ((Peek(1).kind == TokenKind::kIdentifier ||
                               Peek(1).kind == TokenKind::kString) &&
                              Peek(2).Is("=") && !Peek(1).Is("_")));
}

Status Parser::ParseIf(Instr& instr) {
  if (AtAttributes()) {
    TRY(instr.attributes, ParseAttributes(nullptr));
  }
  TRY(const Operand condition, ParseOperand());
  instr.operands.push_back(condition);
  for (int branch = 0; branch < 2; ++branch) {
    if (branch == 1) {
      RETURN_IF_ERROR(Expect("else"));
    }
    const RegionId region = AddRegion();
    RETURN_IF_ERROR(ParseRegion(region));
    instr.regions.push_back(region);
  }
  return {};
}

Status Parser::ParseLoop(Instr& instr) {
  if (AtAttributes()) {
    TRY(instr.attributes, ParseAttributes(nullptr));
  }
  if (Peek().kind != TokenKind::kValue) return FailExpected("a %counter");
  Token token = Take();
  const Name counter{std::move(token.value), token.location};
  instr.operands.resize(2);
  if (Accept("<")) {
    TRY(instr.operands[0], ParseOperand());
  }
  if (Accept("while")) {
    TRY(instr.operands[1], ParseOperand());
  }
  const RegionId body = AddRegion();
  instr.regions.push_back(body);
  TRY(const ValueId param,
      DefineValue(counter, Type::Of(TypeKind::kInt), InstrId()));
  function_->region(body).params.push_back(param);
  while (Accept(",")) {
    RETURN_IF_ERROR(ParseCarried(instr, body));
  }
  return ParseRegion(body);
}

// %acc = %r : f32[n, 4]
Status Parser::ParseCarried(Instr& instr, RegionId body) {
  if (Peek().kind != TokenKind::kValue) {
    return FailExpected("a %value that is carried");
  }
  Token token = Take();
  RETURN_IF_ERROR(Expect("="));
  TRY(const Operand start, ParseOperand());
  instr.operands.push_back(start);
  Type type;
  if (Accept(":")) {
    TRY(type, ParseType());
  }
  TRY(const ValueId param,
      DefineValue(Name{std::move(token.value), token.location}, std::move(type),
                  InstrId()));
  function_->region(body).params.push_back(param);
  return {};
}

Status Parser::ParseSuffix(Instr& instr) {
  if (AtAttributes()) {
    const bool is_operator =
        instr.kind == kOperator || instr.kind == kScratchBytes;
    TRY(instr.attributes,
        ParseAttributes(is_operator ? &InfoOf(instr.code) : nullptr));
  }
  if (Accept("into")) {
    do {
      TRY(const ValueId out, ParseValueOrNone());
      instr.outs.push_back(out);
    } while (Accept(","));
  }
  if (Accept("scratch")) {
    TRY(instr.scratch, ParseValueOrNone());
  }
  return {};
}

Status Parser::ParseResultTypes(Instr& instr,
                                const std::vector<Name>& results) {
  const Location location = Peek().location;
  if (!Accept(":")) return {};
  std::vector<Type> types;
  do {
    TRY(Type type, ParseType());
    types.push_back(std::move(type));
  } while (Accept(","));
  if (types.size() != results.size()) {
    return FailAt(location, std::to_string(types.size()) + " types for " +
                                std::to_string(results.size()) + " results");
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const ValueId result = instr.results[i];
    if (result.valid()) function_->value(result).type = std::move(types[i]);
  }
  if (instr.kind != kConstant || !instr.results[0].valid()) return {};
  // A constant that nothing declares (so far) takes the type of its use.
  Constant& constant = module_.constants[instr.constant.index()];
  const Type& type = function_->value(instr.results[0]).type;
  if (constant.dtype != DType::kInvalid || !type.IsTensor() || !type.ranked) {
    return {};
  }
  std::vector<int64_t> dims;
  for (const Dim dim : type.dims) {
    dims.push_back(module_.dims.Known(dim).value_or(-1));
  }
  if (!ElementCount(dims).has_value()) return {};
  constant.dims = std::move(dims);
  constant.dtype = type.dtype;
  return {};
}

}  // namespace ebb::ir
