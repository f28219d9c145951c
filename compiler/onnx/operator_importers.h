// Which ONNX operators are known, and how a node of each becomes core
// operators. One table; the importers are in importers_*.cc by family.
#ifndef EBB_COMPILER_ONNX_OPERATOR_IMPORTERS_H_
#define EBB_COMPILER_ONNX_OPERATOR_IMPORTERS_H_

#include <string_view>

#include "bytecode/error.h"
#include "bytecode/operators.h"
#include "compiler/onnx/node_context.h"

namespace ebb::onnx {

struct OperatorImporter {
  // Turns the node into instructions and sets its outputs.
  Status (*import)(NodeContext& node, OperatorCode code) = nullptr;
  OperatorCode code{};  // Passed to `import`.
};

// nullptr for what is not built in. `domain` "" is ai.onnx. `If` is handled
// by the graph importer and not in the table.
const OperatorImporter* FindImporter(std::string_view domain,
                                     std::string_view op_type);

// Same inputs, same attributes as the row of the core operator.
Status ImportDirect(NodeContext& node, OperatorCode code);

// importers_elementwise.cc
Status ImportBinary(NodeContext& node, OperatorCode code);
Status ImportVariadic(NodeContext& node, OperatorCode code);
Status ImportMean(NodeContext& node, OperatorCode code);
Status ImportClip(NodeContext& node, OperatorCode code);
Status ImportCast(NodeContext& node, OperatorCode code);
Status ImportPRelu(NodeContext& node, OperatorCode code);
Status ImportIdentity(NodeContext& node, OperatorCode code);
Status ImportDropout(NodeContext& node, OperatorCode code);

// importers_movement.cc
Status ImportReshape(NodeContext& node, OperatorCode code);
Status ImportSqueeze(NodeContext& node, OperatorCode code);
Status ImportSlice(NodeContext& node, OperatorCode code);
Status ImportSplit(NodeContext& node, OperatorCode code);
Status ImportPad(NodeContext& node, OperatorCode code);
Status ImportTile(NodeContext& node, OperatorCode code);
Status ImportConcat(NodeContext& node, OperatorCode code);
Status ImportResize(NodeContext& node, OperatorCode code);
Status ImportUpsample(NodeContext& node, OperatorCode code);
Status ImportConstant(NodeContext& node, OperatorCode code);
Status ImportConstantOfShape(NodeContext& node, OperatorCode code);

// importers_network.cc
Status ImportSoftmax(NodeContext& node, OperatorCode code);
Status ImportBatchNormalization(NodeContext& node, OperatorCode code);
Status ImportPool(NodeContext& node, OperatorCode code);
Status ImportGlobalPool(NodeContext& node, OperatorCode code);
Status ImportReduce(NodeContext& node, OperatorCode code);
Status ImportArg(NodeContext& node, OperatorCode code);
Status ImportGemm(NodeContext& node, OperatorCode code);

}  // namespace ebb::onnx

#endif  // EBB_COMPILER_ONNX_OPERATOR_IMPORTERS_H_
