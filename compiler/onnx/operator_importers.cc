#include "compiler/onnx/operator_importers.h"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ebb::onnx {
namespace {

using Code = OperatorCode;

const std::unordered_map<std::string_view, OperatorImporter>& Table() {
  static const std::unordered_map<std::string_view, OperatorImporter> kTable = {
      {"Abs", {ImportDirect, Code::kAbs}},
      {"Add", {ImportBinary, Code::kAdd}},
      {"And", {ImportBinary, Code::kAnd}},
      {"ArgMax", {ImportArg, Code::kArgMax}},
      {"AveragePool", {ImportPool, Code::kAveragePool}},
      {"BatchNormalization",
       {ImportBatchNormalization, Code::kBatchNormalization}},
      {"Cast", {ImportCast, Code::kCast}},
      {"Clip", {ImportClip, Code::kClip}},
      {"Concat", {ImportConcat, Code::kConcat}},
      {"Constant", {ImportConstant, Code::kIdentity}},
      {"ConstantOfShape", {ImportConstantOfShape, Code::kFull}},
      {"Conv", {ImportDirect, Code::kConv}},
      {"ConvTranspose", {ImportDirect, Code::kConvTranspose}},
      {"Div", {ImportBinary, Code::kDiv}},
      {"Dropout", {ImportDropout, Code::kIdentity}},
      {"Equal", {ImportBinary, Code::kEqual}},
      {"Erf", {ImportDirect, Code::kErf}},
      {"Exp", {ImportDirect, Code::kExp}},
      {"Expand", {ImportDirect, Code::kExpand}},
      {"Flatten", {ImportDirect, Code::kFlatten}},
      {"Gather", {ImportDirect, Code::kGather}},
      {"Gelu", {ImportDirect, Code::kGelu}},
      {"Gemm", {ImportGemm, Code::kGemm}},
      {"GlobalAveragePool", {ImportGlobalPool, Code::kReduceMean}},
      {"GlobalMaxPool", {ImportGlobalPool, Code::kReduceMax}},
      {"Greater", {ImportBinary, Code::kGreater}},
      {"GreaterOrEqual", {ImportBinary, Code::kGreaterOrEqual}},
      {"HardSigmoid", {ImportDirect, Code::kHardSigmoid}},
      {"HardSwish", {ImportDirect, Code::kHardSwish}},
      {"Identity", {ImportIdentity, Code::kIdentity}},
      {"InstanceNormalization", {ImportDirect, Code::kInstanceNormalization}},
      {"LRN", {ImportDirect, Code::kLrn}},
      {"LayerNormalization", {ImportDirect, Code::kLayerNormalization}},
      {"LeakyRelu", {ImportDirect, Code::kLeakyRelu}},
      {"Less", {ImportBinary, Code::kLess}},
      {"LessOrEqual", {ImportBinary, Code::kLessOrEqual}},
      {"Log", {ImportDirect, Code::kLog}},
      {"LogSoftmax", {ImportSoftmax, Code::kLogSoftmax}},
      {"MatMul", {ImportDirect, Code::kMatMul}},
      {"Max", {ImportVariadic, Code::kMax}},
      {"MaxPool", {ImportPool, Code::kMaxPool}},
      {"Mean", {ImportMean, Code::kAdd}},
      {"Min", {ImportVariadic, Code::kMin}},
      {"Mul", {ImportBinary, Code::kMul}},
      {"Neg", {ImportDirect, Code::kNeg}},
      {"Not", {ImportDirect, Code::kNot}},
      {"Or", {ImportBinary, Code::kOr}},
      {"PRelu", {ImportPRelu, Code::kPRelu}},
      {"Pad", {ImportPad, Code::kPad}},
      {"Pow", {ImportBinary, Code::kPow}},
      {"Range", {ImportDirect, Code::kRange}},
      {"Reciprocal", {ImportDirect, Code::kReciprocal}},
      {"ReduceMax", {ImportReduce, Code::kReduceMax}},
      {"ReduceMean", {ImportReduce, Code::kReduceMean}},
      {"ReduceMin", {ImportReduce, Code::kReduceMin}},
      {"ReduceSum", {ImportReduce, Code::kReduceSum}},
      {"Relu", {ImportDirect, Code::kRelu}},
      {"Reshape", {ImportReshape, Code::kReshape}},
      {"Resize", {ImportResize, Code::kResize}},
      {"Shape", {ImportDirect, Code::kShape}},
      {"Sigmoid", {ImportDirect, Code::kSigmoid}},
      {"Size", {ImportDirect, Code::kSize}},
      {"Slice", {ImportSlice, Code::kSlice}},
      {"Softmax", {ImportSoftmax, Code::kSoftmax}},
      {"Split", {ImportSplit, Code::kSplit}},
      {"Sqrt", {ImportDirect, Code::kSqrt}},
      {"Squeeze", {ImportSqueeze, Code::kSqueeze}},
      {"Sub", {ImportBinary, Code::kSub}},
      {"Sum", {ImportVariadic, Code::kAdd}},
      {"Tanh", {ImportDirect, Code::kTanh}},
      {"Tile", {ImportTile, Code::kTile}},
      {"Transpose", {ImportDirect, Code::kTranspose}},
      {"Unsqueeze", {ImportSqueeze, Code::kUnsqueeze}},
      {"Upsample", {ImportUpsample, Code::kResize}},
      {"Where", {ImportDirect, Code::kWhere}},
  };
  return kTable;
}

Expected<AttributeValue> ReadAttribute(NodeContext& node,
                                       const AttributeInfo& info) {
  switch (info.kind) {
    case AttributeKind::kInt: {
      TRY(const int64_t value, node.Int(info.name, 0));
      return value;
    }
    case AttributeKind::kFloat: {
      TRY(const float value, node.Float(info.name, 0));
      return value;
    }
    case AttributeKind::kString: {
      TRY(std::string value, node.String(info.name, ""));
      return value;
    }
    case AttributeKind::kInts: {
      TRY(auto value, node.Ints(info.name));
      return std::move(*value);
    }
    case AttributeKind::kFloats: {
      TRY(auto value, node.Floats(info.name));
      return std::move(*value);
    }
    case AttributeKind::kStrings:
      break;
  }
  return node.Unsupported("attribute " + std::string(info.name) +
                          " is a list of strings");
}

}  // namespace

const OperatorImporter* FindImporter(std::string_view domain,
                                     std::string_view op_type) {
  if (!domain.empty() && domain != "ai.onnx") return nullptr;
  const auto at = Table().find(op_type);
  return at == Table().end() ? nullptr : &at->second;
}

Status ImportDirect(NodeContext& node, OperatorCode code) {
  const OperatorInfo& info = InfoOf(code);
  RETURN_IF_ERROR(node.CheckInputs(static_cast<std::size_t>(info.min_inputs),
                                   static_cast<std::size_t>(info.max_inputs)));
  Attributes attributes;
  for (const AttributeInfo& attribute : info.attributes) {
    if (!node.HasAttribute(attribute.name)) continue;
    TRY(AttributeValue value, ReadAttribute(node, attribute));
    attributes.Set(attribute.name, std::move(value));
  }
  std::vector<ir::ValueId> inputs;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    inputs.push_back(node.Input(i));
  }
  const std::size_t count = node.output_count();
  if (count > static_cast<std::size_t>(info.max_outputs)) {
    return node.Invalid("names " + std::to_string(count) +
                        " results, the operator has " +
                        std::to_string(info.max_outputs));
  }
  TRY(const auto results,
      node.Op(code, std::move(inputs), std::move(attributes), count));
  for (std::size_t i = 0; i < count; ++i) node.SetOutput(i, results[i]);
  return {};
}

}  // namespace ebb::onnx
