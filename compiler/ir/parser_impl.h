// The recursive-descent parser behind ParseModule: module level in parser.cc,
// types, dims and attributes in parse_type.cc, constants in
// parse_constant.cc, function bodies in parse_instr.cc. Everything that nests
// counts its depth, up to kMaxNesting.
#ifndef EBB_COMPILER_IR_PARSER_IMPL_H_
#define EBB_COMPILER_IR_PARSER_IMPL_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bytecode/error.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/lexer.h"

namespace ebb::ir {

class Parser {
 public:
  explicit Parser(std::string_view text);
  Expected<Module> Run();

 private:
  // A name as the text has it, and where.
  struct Name {
    std::string name;
    Location location;
  };
  // Counts one level of nesting while it lives.
  class Level {
   public:
    explicit Level(int& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };

  // Tokens. At most two are looked at ahead of the current one.
  const Token& Peek(std::size_t ahead = 0) const { return tokens_[ahead]; }
  Token Take();
  bool Accept(std::string_view word);
  Status Expect(std::string_view word);
  std::unexpected<Error> FailAt(Location location, std::string message) const;
  // "expected X, found Y" at the current token.
  std::unexpected<Error> FailExpected(std::string_view what) const;
  Status CheckDepth(int depth) const;
  Expected<std::string> TakeString(std::string_view what);
  Expected<Name> TakeGlobal();
  // An optional minus and a number.
  Expected<int64_t> TakeInt();
  // An identifier or a quoted string.
  Expected<std::string> TakeWord(std::string_view what);
  Expected<int64_t> TakeSetting(std::string_view name);  // name=number

  // parser.cc
  Status ParseItem();
  Status ParseEntry();
  Status ParseMetadata();
  Status ParseDimDeclaration();
  Status ParseFunction();
  Status ParseParam(Function& function);
  Status ParseResults(Function& function);
  Status ParseResult(Function& function);
  Status Finish();
  void AddPredefinedConstants();

  // parse_type.cc
  Expected<Type> ParseType();
  Expected<Type> ParseTensorType(DType dtype);
  Status ParseLayout(Type& type);
  Expected<std::vector<Type>> ParseTypeList();  // "(a, b)"
  Expected<std::vector<Dim>> ParseDimList();    // "[a, b]"
  Expected<Dim> ParseDim();
  Expected<Dim> ParseDimProduct(bool negate);
  Expected<Dim> ParseDimFactor(bool negate);
  Expected<Dim> ParseDimFunction(std::string_view name);
  Expected<Attributes> ParseAttributes(const OperatorInfo* info);
  Expected<AttributeValue> ParseAttributeValue(const AttributeInfo* info);
  Expected<AttributeValue> ParseAttributeList(AttributeKind empty_kind);
  // One number as spelled, sign and NaN payload included.
  Expected<std::string> TakeLiteral();

  // parse_constant.cc
  Status ParseConstant();
  Status ParsePacking(Constant& constant);
  Status ParseConstantData(Constant& constant);
  Expected<std::vector<std::byte>> ParseHex();
  Expected<std::vector<std::byte>> ParseElements(const Constant& constant);
  ConstantId FindOrAddConstant(const Name& name);

  // parse_instr.cc
  Status ParseRegion(RegionId region);
  Status ParseStatement(RegionId region);
  Status ParseRight(Instr& instr, std::vector<Name>& results);
  Status ParseOperator(Instr& instr);
  Status ParseKind(Instr& instr, InstrKind kind);
  Status ParseIf(Instr& instr);
  Status ParseLoop(Instr& instr);
  Status ParseCarried(Instr& instr, RegionId body);
  Status ParseCall(Instr& instr);
  Status ParseConstantUse(Instr& instr);
  Status ParseGet(Instr& instr);
  Status ParseSuffix(Instr& instr);
  Status ParseResultTypes(Instr& instr, const std::vector<Name>& results);
  Status ParseOperands(Instr& instr);       // one or more
  Status ParseParenthesised(Instr& instr);  // "(a, b)", "()"
  Expected<Operand> ParseOperand();
  bool AtOperand() const;
  Expected<ValueId> ParseValueOrNone();
  Expected<ValueId> FindValue(const Name& name);
  Expected<ValueId> DefineValue(const Name& name, Type type, InstrId def);
  bool AtAttributes() const;
  RegionId AddRegion();

  Lexer lexer_;
  std::array<Token, 3> tokens_;
  int depth_ = 0;  // of types and dims
  int region_depth_ = 0;

  Module module_;
  std::unordered_map<std::string, ConstantId> constants_;
  // Constants used before (or without) a declaration, and where.
  std::unordered_map<ConstantId, Location> undeclared_;
  std::unordered_map<std::string, Location> functions_;
  std::optional<Name> entry_;
  bool no_entry_ = false;

  // Of the function that is being parsed.
  Function* function_ = nullptr;
  std::unordered_map<std::string, ValueId> values_;
  std::vector<Location> value_locations_;
  std::array<ValueId, 2> predefined_;  // %true, %false
};

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_PARSER_IMPL_H_
