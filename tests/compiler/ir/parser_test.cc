#include "compiler/ir/parser.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/ir/printer.h"

namespace ebb::ir {
namespace {

std::string ErrorOf(std::string_view text) {
  const auto module = ParseModule(text);
  return module.has_value() ? "no error" : module.error().ToString();
}

std::string Printed(std::string_view text) {
  const auto module = ParseModule(text);
  if (!module.has_value()) return module.error().ToString();
  return Print(*module);
}

// Text in the printer's own spelling comes back as it is.
void ExpectSame(std::string_view text) { EXPECT_EQ(Printed(text), text); }

constexpr std::string_view kExample = R"(
func @main(%x: f32[16, 32]) -> f32[16, 32] {
  %storage = alloc_storage 2048, align=64
  %y = alloc_tensor %storage, offset=0 : f32[16, 32]
  call_external "add_tensors"(%x, %y)
  %z = add %x, %y
  return %z
}
func @more(%a: f32[n, 4], %c: bool[], %k: i64[], %own: donated f32[n, 4]) -> (f32[n, 4], f32[n, 4]) {
  %w = constant @weights_0 : f32[4, 4]
  %m = matmul %a, %w
  %v = match_cast %m : f32[n, 4]
  %r = if %c { %p = relu %v  yield %p } else { yield %own }
  %s = loop %i < %k, %acc = %r : f32[n, 4] { %t = add %acc, %a  continue %true, %t }
  %q = call @more2(move %s)
  %pair = tuple(%q, %m)
  kill_tensor %v
  return %pair
}
)";

TEST(ParserTest, ReadsTheExampleOfTheDesign) {
  EXPECT_EQ(Printed(kExample),
            R"(func @main(%x: f32[16, 32]) -> f32[16, 32] {
  %storage = alloc_storage 2048, align=64
  %y = alloc_tensor %storage, offset=0 : f32[16, 32]
  call_external "add_tensors"(%x, %y)
  %z = add %x, %y
  return %z
}

func @more(%a: f32[n, 4], %c: bool[], %k: i64[], %own: donated f32[n, 4]) -> (f32[n, 4], f32[n, 4]) {
  %w = constant @weights_0 : f32[4, 4]
  %m = matmul %a, %w
  %v = match_cast %m : f32[n, 4]
  %r = if %c {
    %p = relu %v
    yield %p
  } else {
    yield %own
  }
  %s = loop %i < %k, %acc = %r : f32[n, 4] {
    %t = add %acc, %a
    continue %true, %t
  }
  %q = call @more2(move %s)
  %pair = tuple(%q, %m)
  kill_tensor %v
  return %pair
}
)");
  ExpectSame(Printed(kExample));
}

TEST(ParserTest, PredefinedConstantsAreDefinedAtTheStart) {
  const auto module = ParseModule(kExample);
  ASSERT_TRUE(module.has_value());
  const Function& more = module->functions[1];
  const Instr& first = more.instr(more.region(more.body).instrs[0]);
  EXPECT_EQ(first.kind, InstrKind::kConstant);
  EXPECT_EQ(more.value(first.results[0]).name, "true");
  EXPECT_EQ(more.value(first.results[0]).type, Type::Tensor(DType::kBool, {}));
  EXPECT_EQ(module->entry, FunctionId(0));
}

TEST(ParserTest, ABoundNameIsNotPredefined) {
  ExpectSame(R"(func @main(%true: f32[2]) -> f32[2] {
  return %true
}
)");
}

TEST(ParserTest, KeepsModuleLevelItems) {
  ExpectSame(R"(entry @start
metadata "producer" = "a \"tool\"\n\x01"
dim n in 1..8
dim "batch size" in 0.., divisor=4
dim k in -3..5, divisor=2
const @w : f32[2, 2] = [1.0, -2.5, 1e-05, nan]
const @odd : f32[2] = [nan(0xffc00000), -inf]
const @half : f16[3] = [0.5, 65504.0, inf]
const @brain : bf16[1] = [1.5]
const @wide : f64[2] = [0.1, 1e+300]
const @ints : i8[3] = [-128, 0, 127]
const @unsigned : u64[1] = [18446744073709551615]
const @flags : bool[2] = [true, false]
const @stray : bool[1] = hex"02"
const @words : string[2] = ["a", "b \"c\""]
const @fill : i64[1000] = repeat -7
const @small : f8e4m3fn[2] = hex"00ff"
const @nothing : f32[0] = []
const @declared : f32[3]
const @packed : f32[3, 2] packed(order=[1, 0], blocks=[0:4, 1:2]) = hex"0000"
const @"a weight" : i32[] = [5]

func @main(%x: f32[*]) -> f32[*] {
  return %x
}

func @start(%x: f32["batch size", n], %y: f32[] = @w) -> (boxes: f32[n], "a b": f32[n]) {
  %c = constant @"a weight"
  return %x, %x
}

func @elsewhere(%t: tuple(f32[n], ?, sequence(f32[*]), optional(i64[]))) -> object
)");
}

TEST(ParserTest, KeepsTypesLayoutsAndDims) {
  ExpectSame(
      R"(func @main(%a: f32[1, c, h, w]{channels_last}, %b: f32[4, 8]{strides=[1, 4]}, %s: shape[3], %i: int, %m: storage, %f: closure, %o: object, %u: ?) -> f32[?, floordiv(n + 1, 2), 4 - n, min(h, n, w), 2*n + h*w] {
  %x = alloc_storage 4*n*w + 128, align=128
  %y = alloc_tensor %x, offset=2*n : f32[n]{strides=[w]}
  %z = view %y, offset=-4 : i32[*]
  %t = tuple(move %y, _) : tuple(f32[n], ?)
  %p = alloc_storage %i, align=64
  return %a
}
)");
}

TEST(ParserTest, KeepsEveryKindOfInstruction) {
  ExpectSame(
      R"(func @main(%x: f32[n], %c: bool[], %k: i64[], %d: donated f32[n]) -> f32[n] {
  %cv = conv %x, %d, _ {alpha=0.5, auto_pad="SAME", empty=[], f=floats[], g=[1.0, nan], pads=[0, -1], s=["a", "b"], t=strings[], "x y"=1} : f32[n] node "Conv \"0\""
  %p, _ = max_pool %x {kernel_shape=[2]}
  %u, %v = split %x {axis=0} : f32[n], ?
  %sh = shape [n, 4]
  %e = shape []
  %i = int 4*n
  %al = %x
  %m = match_cast %x : f32[8]
  %t = tuple(%x, move %u)
  %g = get %t, 0
  %g2 = get %t, %i
  %q = sequence()
  %q1 = sequence_insert move %q, %x, %k
  %q2 = sequence_insert %q1, %x
  %q3 = sequence_erase %q2, %k
  %l = length %q3
  %o = optional()
  %o1 = optional(%x)
  %f = closure @g(%x)
  %r1, %r2 = call @g(%x, move %d)
  %r3 = call %f(%x)
  %r4 = call_external "make it"(%x)
  %st = alloc_storage 64, align=64
  %y = alloc_tensor %st, offset=0 : f32[n]
  %b = scratch_bytes conv %x, %x {group=1} into %y
  conv %x, %x into %y, _ scratch %st node "c"
  store_ints %sh into %y
  %if = if {a=1} %c {
    %in = relu %x
    yield move %in
  } else {
    yield %x
  } : f32[n] node "If"
  %lo, %sc = loop {b=2} %j < %k while %c, %acc = move %if : f32[n], %other = %x {
    continue _, %acc, %other
  } : f32[n], f32[n]
  %l2 = loop %j2 {
    continue %false
  }
  kill_tensor %y, %lo
  kill_storage %st
  kill_object %t
  return %x
}
)");
}

TEST(ParserTest, CommentsAndSpacingDoNotMatter) {
  EXPECT_EQ(Printed("# a\nfunc @f()->(){return}# b"),
            "func @f() {\n  return\n}\n");
}

TEST(ParserTest, QuotesNamesThatNeedIt) {
  ExpectSame(R"(func @"a b"(%/model/x.1: f32[], %"x:0": f32[]) {
  %0 = add %/model/x.1, %"x:0"
  return
}
)");
}

TEST(ParserTest, ErrorsSayLineAndColumn) {
  EXPECT_EQ(ErrorOf("func @f() {\n  %a = relu %x\n}"),
            "2:13: %x is not defined here");
  EXPECT_EQ(ErrorOf("func @f(%x: f32[]) {\n  %x = relu %x\n}"),
            "2:3: %x is defined twice, first in line 1");
  EXPECT_EQ(ErrorOf("func @f() { %a = rellu %x }"),
            "1:18: 'rellu' is no instruction or operator");
  EXPECT_EQ(ErrorOf("func @f(%x: f23[])"), "1:13: 'f23' is not a type");
  EXPECT_EQ(ErrorOf("func @f(%x: f32[)"), "1:17: expected a dim, found ')'");
  EXPECT_EQ(ErrorOf("func @f() { return"),
            "1:19: expected an instruction, found the end of the text");
  EXPECT_EQ(ErrorOf("func @f()\nfunc @f()"),
            "2:6: function @f is defined twice, first in line 1");
  EXPECT_EQ(ErrorOf("const @w : f32[2] = [1.0]"),
            "1:21: constant @w has 1 elements, its dims need 2");
  EXPECT_EQ(ErrorOf("const @w : i8[1] = [128]"),
            "1:21: '128' is not a value of i8");
  EXPECT_EQ(ErrorOf("const @w : f32[n] = [1.0]"),
            "1:12: constant @w needs a tensor type of known dims");
  EXPECT_EQ(ErrorOf("func @f() { %w = constant @w return }"),
            "1:27: constant @w is neither declared nor given a type of known "
            "dims");
  EXPECT_EQ(ErrorOf("const @w : i8[]\nconst @w : i8[]"),
            "2:7: constant @w is declared twice");
  EXPECT_EQ(ErrorOf("func @f(%x: f32[4) {"), "1:18: expected ']', found ')'");
  EXPECT_EQ(ErrorOf("func @f(%x: f32[99999999999999999999])"),
            "1:17: '99999999999999999999' is not a 64-bit integer");
  EXPECT_EQ(ErrorOf("func @f(%x: f32[floordiv(n, 0)])"),
            "1:17: dim overflows, divides by zero or is too large");
  EXPECT_EQ(ErrorOf("func @f(%x: f32[sqrt(n)])"),
            "1:21: no function 'sqrt' of 1 dims is known");
  EXPECT_EQ(ErrorOf("dim n in 3..2"), "1:7: range 3..2 is empty");
  EXPECT_EQ(ErrorOf("dim n in 3.., divisor=0"),
            "1:7: divisor is 0, expected 1 or more");
  EXPECT_EQ(ErrorOf("entry @f"), "1:7: entry @f is no function");
  EXPECT_EQ(ErrorOf("metadata \"a"), "1:10: string does not end on its line");
  EXPECT_EQ(ErrorOf("metadata \"\\q\" = \"\""),
            "1:10: string has an unknown escape");
  EXPECT_EQ(ErrorOf("func @f(%x: f32[]) { %a, %b = relu %x : f32[] }"),
            "1:39: 1 types for 2 results");
  EXPECT_EQ(ErrorOf("func @f() -> (a: f32[], f32[])"),
            "1:31: 1 of 2 results are named, expected all or none");
  EXPECT_EQ(ErrorOf("func @f(%x: f32[]) { %a = relu %x {a=1, a=2} }"),
            "1:41: attribute 'a' is given twice");
  EXPECT_EQ(ErrorOf("func @f(%x: f32[]) { %a = relu %x {a=b} }"),
            "1:38: 'b' is not an attribute value");
  EXPECT_EQ(ErrorOf("func @f(%x: f32[]) { %a = relu %x {a=[1, \"b\"]} }"),
            "1:38: list mixes strings and numbers");
  EXPECT_EQ(ErrorOf("func @f(%x: sequence(f32[], f32[]))"),
            "1:13: sequence has 2 element types, expected 1");
  EXPECT_EQ(ErrorOf("func @f(%x: f32[]) { & }"), "1:22: unexpected character");
  EXPECT_EQ(ErrorOf("const @w : u8[1] = hex\"0\""),
            "1:23: 1 hex digits, expected an even number");
  EXPECT_EQ(ErrorOf("const @w : u8[1] = hex\"0g\""),
            "1:23: '0g' is not a byte");
  EXPECT_EQ(ErrorOf("const @true : f32[]\nfunc @f() { yield %true }"),
            "2:19: %true is not defined here, and @true is no bool scalar");
}

TEST(ParserTest, NestingEndsWithAnError) {
  const auto nested = [](std::string_view open, std::string_view inside,
                         std::string_view close, int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += open;
    text += inside;
    for (int i = 0; i < levels; ++i) text += close;
    return text;
  };
  const std::string ifs = "func @f(%c: bool[]) { " +
                          nested("if %c {", "", "} else { yield }", 300) + "}";
  EXPECT_NE(ErrorOf(ifs).find("nesting is deeper than 256"), std::string::npos);
  EXPECT_EQ(ErrorOf("func @f(%c: bool[]) { " +
                    nested("if %c { ", "", " } else { }", 255) + "}"),
            "no error");
  const std::string types =
      "func @f(%t: " + nested("tuple(", "int", ")", 300) + ")";
  EXPECT_NE(ErrorOf(types).find("nesting is deeper than 256"),
            std::string::npos);
  const std::string dims =
      "func @f(%t: f32[" + nested("(", "n", ")", 100000) + "])";
  EXPECT_NE(ErrorOf(dims).find("nesting is deeper than 256"),
            std::string::npos);
}

TEST(ParserTest, LeavesOutDataOfLargeConstants) {
  const auto module =
      ParseModule("const @w : f32[3] = [1, 2, 3]\nconst @v : i8[1] = [1]\n");
  ASSERT_TRUE(module.has_value());
  EXPECT_EQ(Print(*module, PrintOptions{.max_constant_bytes = 4}),
            "const @w : f32[3]\nconst @v : i8[1] = [1]\n");
}

TEST(ParserTest, DataIsAlignedForKernels) {
  const auto module = ParseModule("const @w : i8[3] = [1, 2, 3]");
  ASSERT_TRUE(module.has_value());
  const auto address =
      reinterpret_cast<uintptr_t>(module->constants[0].data.data());
  EXPECT_EQ(address % 64, 0u);
}

TEST(ParserTest, AConstantMayBeDeclaredAfterItsUse) {
  const auto module = ParseModule(
      "func @f() { %w = constant @w return }\nconst @w : i8[1] = [1]");
  ASSERT_TRUE(module.has_value()) << module.error().ToString();
  EXPECT_EQ(module->constants.size(), 1u);
  EXPECT_EQ(module->constants[0].data.size(), 1u);
}

}  // namespace
}  // namespace ebb::ir
