// What small integer tensors hold, as dims: the shape arithmetic that models
// do with tensors (Shape, Gather, Concat, …) is followed here, element by
// element, so that it costs nothing at run time.
//
// Does not follow floats, and gives up (nullopt) on a result of which any
// element is not known or which has more than kMaxContents elements.
#ifndef EBB_COMPILER_ANALYSIS_CONTENTS_H_
#define EBB_COMPILER_ANALYSIS_CONTENTS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "compiler/ir/ir.h"

namespace ebb::ir {

inline constexpr std::size_t kMaxContents = 1024;

// Elements of a constant of integer or bool dtype.
std::optional<std::vector<Dim>> ContentsOfConstant(DimTable& dims,
                                                   const Constant& constant);
// Elements of a constant of float dtype, for value inputs such as scales.
std::optional<std::vector<double>> FloatsOfConstant(const Constant& constant);

// Contents of result 0 of an operator whose result types are known.
std::optional<std::vector<Dim>> ContentsOfOperator(Module& module,
                                                   const Function& function,
                                                   const Instr& instr);

}  // namespace ebb::ir

#endif  // EBB_COMPILER_ANALYSIS_CONTENTS_H_
