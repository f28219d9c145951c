#include "tests/bytecode/shape_rules/rule_runner.h"

#include <gtest/gtest.h>

#include <cctype>
#include <optional>
#include <vector>

#include "bytecode/shape_rules/dispatch.h"
#include "tests/bytecode/shape_rules/symbolic_arith.h"

namespace ebb {
namespace {

std::vector<std::string> SplitText(std::string_view text, char by) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c == by && depth == 0) {
      parts.push_back(part);
      part.clear();
    } else {
      part += c;
    }
  }
  if (!part.empty()) parts.push_back(part);
  return parts;
}

bool IsNumber(std::string_view text) {
  return !text.empty() && (std::isdigit(text.back()) != 0) &&
         (std::isdigit(text[0]) != 0 || text[0] == '-');
}

// "axis=1 pads=[1,1] mode='edge' alpha=0.5".
Attributes ParseAttributes(std::string_view text) {
  Attributes attributes;
  for (const std::string& entry : SplitText(text, ' ')) {
    const std::size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    const std::string value = entry.substr(equals + 1);
    if (value[0] == '[') {
      std::vector<int64_t> list;
      for (const std::string& item :
           SplitText(value.substr(1, value.size() - 2), ',')) {
        list.push_back(std::stoll(item));
      }
      attributes.Set(name, list);
    } else if (value[0] == '\'') {
      attributes.Set(name, value.substr(1, value.size() - 2));
    } else if (value.find('.') != std::string::npos) {
      attributes.Set(name, std::stof(value));
    } else {
      attributes.Set(name, int64_t{std::stoll(value)});
    }
  }
  return attributes;
}

void ParseDim(IntArith& arith, const std::string& text, int64_t& dim) {
  dim = arith.Constant(std::stoll(text));
}
void ParseDim(SymbolicArith& arith, const std::string& text, SymbolicDim& dim) {
  dim = IsNumber(text) ? arith.Constant(std::stoll(text))
                       : SymbolicArith::Symbol(text);
}
std::string PrintDim(int64_t dim) {
  return dim == -1 ? "?" : std::to_string(dim);
}
std::string PrintDim(const SymbolicDim& dim) { return dim.Text(); }

template <class A>
std::string RunWith(std::string_view mnemonic, std::string_view attributes,
                    std::string_view inputs, std::size_t output_count) {
  using Dim = typename A::Dim;
  A arith;
  std::vector<Shaped<Dim>> shaped;
  std::vector<std::optional<Contents<Dim>>> contents;
  for (const std::string& text : SplitText(inputs, ' ')) {
    Shaped<Dim>& operand = shaped.emplace_back();
    auto& content = contents.emplace_back();
    if (text == "-") continue;
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']');
    operand.dtype =
        DTypeFromName(text.substr(0, open)).value_or(DType::kInvalid);
    EXPECT_FALSE(operand.absent()) << text;
    const std::string dims = text.substr(open + 1, close - open - 1);
    operand.ranked = dims != "*";
    for (const std::string& dim : SplitText(dims, ',')) {
      if (operand.ranked) ParseDim(arith, dim, operand.dims.emplace_back());
    }
    if (close + 1 == text.size()) continue;
    content.emplace();
    const std::string list = text.substr(close + 3, text.size() - close - 4);
    for (const std::string& item : SplitText(list, ',')) {
      if (IsFloat(operand.dtype)) {
        content->floats.push_back(std::stod(item));
      } else {
        ParseDim(arith, item, content->ints.emplace_back());
      }
    }
  }
  const auto code = OperatorFromMnemonic(mnemonic);
  EXPECT_TRUE(code.has_value()) << mnemonic;
  const Attributes parsed = ParseAttributes(attributes);
  const OperatorInfo& info = InfoOf(*code);
  const Status checked = CheckAttributes(info, parsed);
  if (!checked.has_value()) return "error: " + checked.error().message;
  std::vector<Shaped<Dim>> outputs(output_count);
  RuleContext<A> ctx{arith, info, parsed, shaped, contents, outputs};
  const Status status = InferShapesWith(ctx);
  if (!status.has_value()) return "error: " + status.error().message;
  std::string answer;
  for (const Shaped<Dim>& output : outputs) {
    if (!answer.empty()) answer += ' ';
    answer += DTypeName(output.dtype);
    answer += '[';
    if (!output.ranked) answer += '*';
    for (std::size_t i = 0; i < output.dims.size(); ++i) {
      if (i > 0) answer += ',';
      answer += PrintDim(output.dims[i]);
    }
    answer += ']';
  }
  return answer;
}

// Whether a dim or a content is a symbol, or a rank is missing.
bool IsSymbolic(std::string_view inputs) {
  int depth = 0;
  for (const char c : inputs) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    const bool letter = std::isalpha(c) != 0 || c == '?' || c == '*';
    if (depth > 0 && letter && c != 'e') return true;
  }
  return false;
}

}  // namespace

std::string Infer(std::string_view mnemonic, std::string_view attributes,
                  std::string_view inputs, std::size_t output_count) {
  const std::string symbolic =
      RunWith<SymbolicArith>(mnemonic, attributes, inputs, output_count);
  if (!IsSymbolic(inputs)) {
    EXPECT_EQ(RunWith<IntArith>(mnemonic, attributes, inputs, output_count),
              symbolic)
        << mnemonic << ' ' << attributes << ' ' << inputs;
  }
  return symbolic;
}

}  // namespace ebb
