// Runs a shape rule on text and gives its answer as text, so that a test is
// one line:
//
//   EXPECT_EQ(Infer("concat", "axis=0", "f32[2,3] f32[n,3]"), "f32[n+2,3]");
//
// Inputs: "f32[2,n]", "f32[*]" without a rank, "-" absent; contents follow
// as "i64[2]={0,-1}" or "f32[2]={0.5,2}". A dim is a number or a symbol; "?"
// is unknown. The answer is the outputs, or "error: message". A line without
// symbols is run with IntArith too, and both must agree.
#ifndef EBB_TESTS_BYTECODE_SHAPE_RULES_RULE_RUNNER_H_
#define EBB_TESTS_BYTECODE_SHAPE_RULES_RULE_RUNNER_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace ebb {

std::string Infer(std::string_view mnemonic, std::string_view attributes,
                  std::string_view inputs, std::size_t output_count = 1);

}  // namespace ebb

#endif  // EBB_TESTS_BYTECODE_SHAPE_RULES_RULE_RUNNER_H_
