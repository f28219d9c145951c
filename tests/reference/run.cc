#include <optional>
#include <utility>

#include "bytecode/shape_rules/rule.h"
#include "tests/reference/operand.h"
#include "tests/reference/reference.h"

namespace ebb::reference {
namespace {

Expected<std::vector<ReferenceTensor>> MakeOutputs(
    const OperatorInfo& info, const Attributes& attributes,
    const std::vector<ReferenceTensor>& inputs, std::size_t output_count) {
  std::vector<Shaped<int64_t>> shaped;
  std::vector<std::optional<Contents<int64_t>>> contents;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    shaped.push_back(
        {.dtype = inputs[i].dtype, .ranked = true, .dims = inputs[i].dims});
    contents.emplace_back();
    if (inputs[i].absent() || !info.ReadsValue(i)) continue;
    Contents<int64_t>& list = contents.back().emplace();
    for (int64_t k = 0; k < inputs[i].count(); ++k) {
      if (IsFloat(inputs[i].dtype)) {
        list.floats.push_back(GetFloat(inputs[i], k));
      } else {
        list.ints.push_back(static_cast<int64_t>(GetInt(inputs[i], k)));
      }
    }
  }
  IntArith arith;
  std::vector<Shaped<int64_t>> outputs(output_count);
  RuleContext<IntArith> context{arith,  info,     attributes,
                                shaped, contents, outputs};
  RETURN_IF_ERROR(InferShapes(context));
  std::vector<ReferenceTensor> result;
  for (const Shaped<int64_t>& output : outputs) {
    result.push_back(MakeTensor(output.dtype, output.dims));
  }
  return result;
}

Status Dispatch(const Call& call) {
  switch (call.code) {
    case OperatorCode::kMatMul:
    case OperatorCode::kGemm:
      return RunProduct(call);
    case OperatorCode::kConv:
    case OperatorCode::kConvTranspose:
    case OperatorCode::kMaxPool:
    case OperatorCode::kAveragePool:
      return RunWindow(call);
    case OperatorCode::kLrn:
    case OperatorCode::kBatchNormalization:
    case OperatorCode::kLayerNormalization:
    case OperatorCode::kInstanceNormalization:
    case OperatorCode::kSoftmax:
    case OperatorCode::kLogSoftmax:
      return RunNormalization(call);
    case OperatorCode::kReduceSum:
    case OperatorCode::kReduceMean:
    case OperatorCode::kReduceMax:
    case OperatorCode::kReduceMin:
    case OperatorCode::kArgMax:
      return RunReduction(call);
    case OperatorCode::kIdentity:
    case OperatorCode::kConcat:
    case OperatorCode::kSplit:
    case OperatorCode::kSlice:
    case OperatorCode::kGather:
    case OperatorCode::kTranspose:
    case OperatorCode::kReshape:
    case OperatorCode::kFlatten:
    case OperatorCode::kSqueeze:
    case OperatorCode::kUnsqueeze:
    case OperatorCode::kExpand:
    case OperatorCode::kTile:
    case OperatorCode::kPad:
      return RunMovement(call);
    case OperatorCode::kResize:
      return RunResize(call);
    case OperatorCode::kShape:
    case OperatorCode::kSize:
    case OperatorCode::kFull:
    case OperatorCode::kRange:
      return RunMaker(call);
    default:
      return RunElementwise(call);
  }
}

}  // namespace

Expected<std::vector<ReferenceTensor>> Run(
    OperatorCode code, const Attributes& attributes,
    const std::vector<ReferenceTensor>& inputs, std::size_t output_count) {
  const OperatorInfo& info = InfoOf(code);
  RETURN_IF_ERROR(CheckAttributes(info, attributes));
  TRY(std::vector<ReferenceTensor> outputs,
      MakeOutputs(info, attributes, inputs, output_count));
  RETURN_IF_ERROR(Dispatch(Call{code, attributes, inputs, outputs}));
  return outputs;
}

}  // namespace ebb::reference
