#include "bytecode/assembler.h"

#include <gtest/gtest.h>

#include <string>

#include "bytecode/disassembler.h"
#include "bytecode/function_builder.h"
#include "tests/bytecode/module_equality.h"
#include "tests/bytecode/program_generator.h"

namespace ebb::bytecode {
namespace {

std::string ErrorOf(std::string_view text) {
  const auto module = Assemble(text);
  return module.has_value() ? "" : module.error().ToString();
}

TEST(AssemblerTest, GivesBackWhatWasDisassembled) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Module module = GenerateModule(seed);
    const std::string text = Disassemble(module);
    const auto again = Assemble(text);
    ASSERT_TRUE(again.has_value()) << again.error().ToString() << "\n" << text;
    ASSERT_TRUE(SameModule(module, *again)) << text;
    ASSERT_EQ(Disassemble(*again), text);
  }
}

TEST(AssemblerTest, FunctionsWithOddNamesAreFoundAgain) {
  ModuleBuilder builder;
  for (const char* name : {"a b", "twice", "twice", "\"", ""}) {
    builder.DeclareFunction(name);
  }
  builder.DeclareFunction("");
  builder.module().functions.back().name = StringId();
  // A second row of the same text names a function too.
  builder.module().strings.emplace_back("twice");
  builder.DeclareFunction("x");
  builder.module().functions.back().name =
      StringId(builder.module().strings.size() - 2);
  const std::size_t count = builder.module().functions.size();
  for (std::size_t i = 0; i < count; ++i) {
    const StringId name = builder.module().functions[i].name;
    FunctionBuilder b(builder, FunctionId(i));
    b.function().name = name;
    for (std::size_t j = 0; j < count; ++j) {
      b.Emit(Opcode::kCall).Function(FunctionId(j)).DefHolds({}).Passes({});
    }
    b.Emit(Opcode::kReturn).Passes({});
    b.Finish();
  }
  builder.module().entry = FunctionId(2);
  const Module module = builder.Finish();
  const auto again = Assemble(Disassemble(module));
  ASSERT_TRUE(again.has_value()) << again.error().ToString();
  EXPECT_TRUE(SameModule(module, *again)) << Disassemble(module);
}

constexpr std::string_view kProgram = R"(ebbt 1.0
producer "test"
target ""
strings {
  "main" "x" "n" "y" "bad size" "node_3" "i" "sum"
}
metadata "opset" "17"
type !0 = f32[n, 4]
constant $0 none = i64[2] data { 0100000000000000 0200000000000000 }
constant $1 none = f32[64] repeat { 0000803f }
site #0 = reduce_sum {keepdims = 0} from "node_3"
entry @main

func @main(%h0 "x": f32[n, 4]) -> ("y": f32[n, 4]) ints 2 holds 3 named {
  %i0 = dim %h0, 0
  assert_range %i0, 1, 8, "bad size"
  %i1 = int_move 0 as "i"
L3:
  branch_if_zero %i1, L6
  %i1 = int_add %i1, -1
  jump L3
L6:
  op_alloc #0, [%h1], [%h0, [1]] as "sum"  // reduce_sum "node_3"
  kill_tensor [%h1]
  %h2 = share %h0
  return [move %h2]
}
)";

std::string WithoutBlanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

TEST(AssemblerTest, TextIsWhatTheDocsShow) {
  const auto module = Assemble(kProgram);
  ASSERT_TRUE(module.has_value()) << module.error().ToString();
  EXPECT_EQ(WithoutBlanks(Disassemble(*module)),
            WithoutBlanks(std::string(kProgram)));
  EXPECT_EQ(Disassemble(*module).substr(Disassemble(*module).find("func")),
            kProgram.substr(kProgram.find("func")));
}

TEST(AssemblerTest, TablesMayBeLeftToTheText) {
  const auto module = Assemble(R"(ebbt 1.0
func @main(%h0 "x": donated f32[n]) -> ("y": f32[n]) ints 0 holds 1 {
  return [move %h0]  // the only function is the entry
}
)");
  ASSERT_TRUE(module.has_value()) << module.error().ToString();
  EXPECT_EQ(module->entry, FunctionId(0));
  EXPECT_EQ(module->types.size(), 1u);
  EXPECT_EQ(module->strings, (std::vector<std::string>{"main", "x", "n", "y"}));
  EXPECT_TRUE(module->functions[0].params[0].donated);
}

TEST(AssemblerTest, BigConstantsMayBeElidedForReading) {
  const Module module = *Assemble(kProgram);
  const std::string text = Disassemble(module, {.elide_above_bytes = 8});
  EXPECT_NE(text.find("constant $0 none = i64[2] elided  // 16 bytes\n"),
            std::string::npos);
  EXPECT_NE(text.find("repeat { 0000803f }"), std::string::npos);
  EXPECT_EQ(ErrorOf(text),
            "9:27: the bytes of this constant were left out of the text");
}

TEST(AssemblerTest, ErrorsOfTheVerifierComeBack) {
  EXPECT_EQ(ErrorOf("ebbt 1.0\nfunc @f() -> () ints 0 holds 1 {\n"
                    "  kill_tensor [%h0]\n  return []\n}\n"),
            "function f, instruction 0 (kill_tensor): register 0 holds "
            "nothing");
  EXPECT_TRUE(Assemble("ebbt 1.0", {.verify = false}).has_value());
}

TEST(AssemblerTest, ErrorsSayWhere) {
  const auto error = [](std::string_view body) {
    return ErrorOf("ebbt 1.0\n" + std::string(body));
  };
  EXPECT_EQ(ErrorOf(""), "1:1: expected 'ebbt', found the end");
  EXPECT_EQ(ErrorOf("ebbt 2.0"),
            "1:6: the text has version 2.0, this assembler takes 1.0");
  EXPECT_EQ(error("bogus"), "2:1: expected a part of a module, found 'bogus'");
  EXPECT_EQ(error("target 3"), "2:8: expected a string, found '3'");
  EXPECT_EQ(error("target \"x"), "2:8: the string has no end");
  EXPECT_EQ(error("target \"\\q\""),
            "2:9: the escape is not one of \\\" \\\\ \\n \\xHH");
  EXPECT_EQ(error("target \"\\x4\""),
            "2:9: the escape is not one of \\\" \\\\ \\n \\xHH");
  EXPECT_EQ(error("external \"f\"\nstrings { \"f\" }"),
            "3:1: strings are listed after one was used");
  EXPECT_EQ(error("external ~99999999999"),
            "2:11: the index of a string 99999999999 is not from 0 to "
            "4294967294");
  EXPECT_EQ(error("type !1 = storage"), "2:7: the row has index 1, 0 is right");
  EXPECT_EQ(error("type !0 = f33[2]"), "2:11: 'f33' is not a dtype");
  EXPECT_EQ(error("type !0 = f32[2"), "2:16: expected ',', found the end");
  EXPECT_EQ(error("constant $0 none = f32[] data { 0 }"),
            "2:35: expected two hexadecimal digits or '}'");
  EXPECT_EQ(error("constant $0 none = f32[] data 00"),
            "2:31: expected '{', found '00'");
  EXPECT_EQ(error("site #0 = frobnicate {}"),
            "2:11: 'frobnicate' is not an operator");
  EXPECT_EQ(error("site #0 = relu {a = float(3)}"),
            "2:27: expected the bits of a float, such as 0x7f800000");
  EXPECT_EQ(error("site #0 = relu {a = 1.5x}"),
            "2:21: expected a number, found '1.5x'");
  EXPECT_EQ(error("entry @main"), "2:8: function @main is not in the module");
}

TEST(AssemblerTest, ErrorsInCodeSayWhere) {
  const auto error = [](std::string_view line) {
    return ErrorOf("ebbt 1.0\nfunc @f() -> () ints 9 holds 9 {\n" +
                   std::string(line) + "\n}");
  };
  EXPECT_EQ(error("int_ad"), "3:1: 'int_ad' is not an instruction");
  EXPECT_EQ(error("int_move 3"), "3:1: int_move needs a result %iN in front");
  EXPECT_EQ(error("%i1 = share %h0"), "3:7: share needs a result %hN in front");
  EXPECT_EQ(error("%h1 = jump L"), "3:7: jump has no result in front");
  EXPECT_EQ(error("%i1 = int_move %h3"),
            "3:17: expected a register %iN, found '%h3'");
  EXPECT_EQ(error("%i1 = int_add 1"), "4:1: expected ',', found '}'");
  EXPECT_EQ(error("%i1 = int_move 9223372036854775808"),
            "3:16: expected an integer, found '9223372036854775808'");
  EXPECT_EQ(error("jump nowhere"), "3:6: label nowhere is not in the function");
  EXPECT_EQ(error("a: a: return []"), "3:4: label a stands twice");
  EXPECT_EQ(error("return [%h0]"), "3:9: expected 'share', found '%'");
  EXPECT_EQ(error("call @g, [], []"), "3:7: function @g is not in the module");
  EXPECT_EQ(ErrorOf("ebbt 1.0\nfunc @f(%h1 \"x\": storage)"),
            "2:10: parameter 0 arrives in %h0");
}

// Every cut and every changed character of a text gives an error or a module.
TEST(AssemblerTest, DamagedTextIsAnErrorOrVerifies) {
  const std::string text(kProgram);
  for (std::size_t at = 0; at < text.size(); ++at) {
    (void)Assemble(std::string_view(text).substr(0, at));
    for (const char c : {'\0', '"', '%', '9', '}', 'x', '\xff', ' '}) {
      std::string changed = text;
      changed[at] = c;
      (void)Assemble(changed);
    }
  }
}

}  // namespace
}  // namespace ebb::bytecode
