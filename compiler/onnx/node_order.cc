#include "compiler/onnx/node_order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace ebb::onnx {
namespace {

using NameSet = std::unordered_set<std::string_view>;

// Calls `visit` with the names that a subgraph reads and that neither it nor
// those of `around` define. Recursion ends at the depth that the reader allows.
template <class Visit>
void ForEachFreeName(const Graph& graph, std::vector<NameSet>& around,
                     Visit visit) {
  NameSet& defined = around.emplace_back();
  for (const ValueInfo& input : graph.inputs) defined.insert(input.name);
  for (const Tensor& tensor : graph.initializers) defined.insert(tensor.name);
  for (const Node& node : graph.nodes) {
    defined.insert(node.outputs.begin(), node.outputs.end());
  }
  const auto visit_free = [&](std::string_view name) {
    const auto defines = [name](const NameSet& names) {
      return names.contains(name);
    };
    if (std::none_of(around.begin(), around.end(), defines)) visit(name);
  };
  for (const ValueInfo& output : graph.outputs) visit_free(output.name);
  for (const Node& node : graph.nodes) {
    for (const std::string_view name : node.inputs) visit_free(name);
    for (const Attribute& attribute : node.attributes) {
      if (attribute.g != nullptr) ForEachFreeName(*attribute.g, around, visit);
    }
  }
  around.pop_back();
}

// Names of the graph that a node reads, its subgraphs included.
template <class Visit>
void ForEachNameRead(const Node& node, Visit visit) {
  for (const std::string_view name : node.inputs) visit(name);
  std::vector<NameSet> around;
  for (const Attribute& attribute : node.attributes) {
    if (attribute.g != nullptr) ForEachFreeName(*attribute.g, around, visit);
  }
}

}  // namespace

std::string FullName(const Node& node) {
  return node.domain.empty() || node.domain == "ai.onnx"
             ? std::string(node.op_type)
             : std::string(node.domain) + "." + std::string(node.op_type);
}

std::string_view NameOf(const Node& node) {
  if (!node.name.empty() || node.outputs.empty()) return node.name;
  return node.outputs[0];
}

Expected<std::vector<std::size_t>> OrderNodes(const Graph& graph) {
  std::unordered_map<std::string_view, std::size_t> producer;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const std::string_view output : graph.nodes[n].outputs) {
      if (output.empty()) continue;
      if (!producer.emplace(output, n).second) {
        return Fail(ErrorCode::kInvalidModel,
                    "value \"" + std::string(output) + "\" has two producers");
      }
    }
  }
  std::vector<std::vector<std::size_t>> readers(graph.nodes.size());
  std::vector<std::size_t> missing(graph.nodes.size());
  bool in_order = true;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    ForEachNameRead(graph.nodes[n], [&](std::string_view name) {
      const auto at = producer.find(name);
      if (at == producer.end()) return;
      readers[at->second].push_back(n);
      ++missing[n];
      in_order = in_order && at->second < n;
    });
  }
  std::vector<std::size_t> order;
  if (in_order) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) order.push_back(n);
    return order;
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>>
      ready;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (missing[n] == 0) ready.push(n);
  }
  while (!ready.empty()) {
    const std::size_t n = ready.top();
    ready.pop();
    order.push_back(n);
    for (const std::size_t reader : readers[n]) {
      if (--missing[reader] == 0) ready.push(reader);
    }
  }
  if (order.size() == graph.nodes.size()) return order;
  const auto stuck = static_cast<std::size_t>(
      std::find_if(missing.begin(), missing.end(),
                   [](std::size_t count) { return count != 0; }) -
      missing.begin());
  const Node& node = graph.nodes[stuck];
  return Fail(
      ErrorCode::kInvalidModel, "needs its own result: the graph has a cycle",
      "node \"" + std::string(NameOf(node)) + "\" (" + FullName(node) + ")");
}

}  // namespace ebb::onnx
