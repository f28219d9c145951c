// The text form of the IR. `ParseModule(Print(m))` prints to the same text,
// for everything a module can hold. Names are quoted where they must be; types
// that follow from the instruction (int, shape, storage, closure) are left
// out, and so are the predefined constants %true and %false.
//
// Module level, in this order, all but functions optional:
//   entry @name                     (not needed when it is @main)
//   metadata "key" = "value"
//   dim n in 1..8, divisor=4        (not needed for 0.., divisor 1)
//   const @w : f32[2] = [1.0, 2.0]  (or = repeat 0.5, = hex"…", or nothing;
//                                   packed(order=[1, 0], blocks=[0:16]) first)
//   func @f(%x: f32[n], %y: donated f32[n], %z: f32[] = @w) -> f32[n] { … }
//
// Instructions:
//   results = word operands {attributes} into outs scratch %s : types
//   node "source node"
// with `_` for an absent operand or result. The kinds' own forms stand in
// ir.h.
#ifndef EBB_COMPILER_IR_PRINTER_H_
#define EBB_COMPILER_IR_PRINTER_H_

#include <cstdint>
#include <string>

#include "compiler/ir/ir.h"

namespace ebb::ir {

struct PrintOptions {
  // Constants with more data than this are printed without it.
  int64_t max_constant_bytes = INT64_MAX;
};

std::string Print(const Module& module, const PrintOptions& options = {});
std::string Print(const Module& module, const Function& function);
std::string ToString(const DimTable& dims, const Type& type);
std::string ToString(const Attributes& attributes);  // "{axis=1}"

// The data of a constant as the text form has it: "[1.0, 2.0]", "repeat 1",
// "hex\"00ff\"". (constant_text.cc)
std::string ConstantDataText(const Constant& constant);

// %true and %false: bool scalars that need no declaration. In a function that
// uses them they are defined at its start, `true` first.
bool IsPredefined(const Constant& constant);

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_PRINTER_H_
