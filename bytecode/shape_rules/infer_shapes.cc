#include "bytecode/shape_rules/dispatch.h"
#include "bytecode/shape_rules/rule.h"

namespace ebb {

Status InferShapes(RuleContext<IntArith>& context) {
  return InferShapesWith(context);
}

}  // namespace ebb
