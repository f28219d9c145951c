// The parts of assembler text: names, types and tables (text_parser.cc), and
// functions (text_code_parser.cc). Used by Assemble only; errors stick to the
// lexer.
#ifndef EBB_BYTECODE_TEXT_PARSER_H_
#define EBB_BYTECODE_TEXT_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bytecode/module.h"
#include "bytecode/text_lexer.h"

namespace ebb::bytecode {

class TextParser {
 public:
  explicit TextParser(std::string_view text) : in_(text) {}

  // The whole text, up to the names of functions, which may come later.
  Expected<Module> Run();

 private:
  // A function named before it is known: where its index goes.
  struct Pending {
    std::size_t function = 0;  // kEntry: not into code but Module::entry.
    std::size_t word = 0;
    std::string name;
    std::size_t place = 0;  // In the text, for the message.
  };
  static constexpr std::size_t kEntry = static_cast<std::size_t>(-1);

  void Header();
  void Item();
  void Strings();
  void Metadata();
  void TypeRow();
  void ConstantRow();
  void SiteRow();
  void ResolveFunctions();

  // A string by its text or as `~index`; `none` gives an invalid id.
  StringId StringRef();
  StringId Intern(std::string text);
  TypeId TypeRef();
  TypeId InternType(Type type);
  Type TypeText();
  DimSpec Dim();
  DType DTypeWord();
  // `sigil` and the index of a row, which must be the next one of its table.
  void RowIndex(char sigil, std::size_t right);
  template <class IdType>
  IdType Index(std::string_view what) {
    return IdType(static_cast<std::size_t>(in_.NumberUpTo(kMaxIndex, what)));
  }
  static constexpr int64_t kMaxIndex = 0xfffffffe;

  AttributeValue Attribute();
  float Float();

  void FunctionText();
  void Params(Function& function);
  void Results(Function& function);
  void Code(Function& function);
  void InstructionText(Function& function);
  void OperandText(Role role, Function& function);
  void Entry(Role role, std::vector<int64_t>& words);
  void Int(std::vector<int64_t>& words);
  void In(std::vector<int64_t>& words);
  void Name(std::vector<int64_t>& words, Role role);
  void FunctionName(std::size_t function, std::vector<int64_t>& words);
  // `%h3` or `%i3` without its percent sign.
  int64_t Register(char bank);

  TextLexer in_;
  Module module_;
  std::unordered_map<std::string, StringId> strings_;  // The first of each.
  std::unordered_map<std::string, TypeId> types_;      // By their text.
  std::vector<Pending> pending_;
  bool has_entry_ = false;
  // Of the function that is read: labels, and where they are used.
  std::unordered_map<std::string_view, std::size_t> labels_;
  struct LabelUse {
    std::size_t word = 0;
    Token label;
  };
  std::vector<LabelUse> label_uses_;
};

}  // namespace ebb::bytecode

#endif  // EBB_BYTECODE_TEXT_PARSER_H_
