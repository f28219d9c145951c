// The order in which the nodes of a graph are imported: each after those that
// make its inputs, otherwise as they stand in the file. What a node's subgraphs
// read from outside counts as its input; names that they define themselves are
// their own, also when the graph around has the same ones.
//
//   TRY(std::vector<std::size_t> order, OrderNodes(graph));
//
// Linear in the graph, times the nesting of subgraphs.
#ifndef EBB_COMPILER_ONNX_NODE_ORDER_H_
#define EBB_COMPILER_ONNX_NODE_ORDER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/error.h"
#include "compiler/onnx/proto.h"

namespace ebb::onnx {

// Names in a cycle and results with two producers are errors.
Expected<std::vector<std::size_t>> OrderNodes(const Graph& graph);

// "Conv", "com.microsoft.Gelu".
std::string FullName(const Node& node);
// Nodes without a name go by that of their first result.
std::string_view NameOf(const Node& node);

}  // namespace ebb::onnx

#endif  // EBB_COMPILER_ONNX_NODE_ORDER_H_
