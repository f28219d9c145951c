#include "compiler/onnx/node_context.h"

#include <utility>

namespace ebb::onnx {

std::string NodeContext::Where() const {
  std::string where = "node ";
  const std::string_view name = !node_.name.empty()     ? node_.name
                                : node_.outputs.empty() ? std::string_view()
                                                        : node_.outputs[0];
  where += "\"" + std::string(name) + "\" (";
  if (!node_.domain.empty()) where += std::string(node_.domain) + ".";
  where += std::string(node_.op_type);
  return where + ", opset " + std::to_string(opset_) + ")";
}

std::unexpected<Error> NodeContext::Invalid(std::string message) const {
  return Fail(ErrorCode::kInvalidModel, std::move(message), Where());
}

std::unexpected<Error> NodeContext::Unsupported(std::string message) const {
  return Fail(ErrorCode::kUnsupported, std::move(message), Where());
}

std::unexpected<Error> NodeContext::WrongKind(std::string_view name) const {
  return Invalid("attribute " + std::string(name) + " has the wrong type");
}

Status NodeContext::CheckInputs(std::size_t least, std::size_t most) {
  if (inputs_.size() < least || inputs_.size() > most) {
    const bool few = inputs_.size() < least;
    return Invalid((few ? "needs at least " : "takes at most ") +
                   std::to_string(few ? least : most) + " inputs, has " +
                   std::to_string(inputs_.size()));
  }
  for (std::size_t i = 0; i < least; ++i) {
    if (!inputs_[i].valid()) {
      return Invalid("input " + std::to_string(i) + " may not be absent");
    }
  }
  return {};
}

const Attribute* NodeContext::Raw(std::string_view name) {
  asked_.emplace(name);
  return node_.Find(name);
}

bool NodeContext::HasAttribute(std::string_view name) {
  return Raw(name) != nullptr;
}

Expected<int64_t> NodeContext::Int(std::string_view name, int64_t fallback) {
  const Attribute* a = Raw(name);
  if (a == nullptr) return fallback;
  if (a->type != Attribute::kInt) return WrongKind(name);
  return a->i;
}

Expected<float> NodeContext::Float(std::string_view name, float fallback) {
  const Attribute* a = Raw(name);
  if (a == nullptr) return fallback;
  if (a->type != Attribute::kFloat) return WrongKind(name);
  return a->f;
}

Expected<std::string> NodeContext::String(std::string_view name,
                                          std::string_view fallback) {
  const Attribute* a = Raw(name);
  if (a == nullptr) return std::string(fallback);
  if (a->type != Attribute::kString) return WrongKind(name);
  return std::string(a->s);
}

Expected<std::optional<std::vector<int64_t>>> NodeContext::Ints(
    std::string_view name) {
  const Attribute* a = Raw(name);
  if (a == nullptr) return std::nullopt;
  if (a->type != Attribute::kInts) return WrongKind(name);
  return a->ints;
}

Expected<std::optional<std::vector<float>>> NodeContext::Floats(
    std::string_view name) {
  const Attribute* a = Raw(name);
  if (a == nullptr) return std::nullopt;
  if (a->type != Attribute::kFloats) return WrongKind(name);
  return a->floats;
}

Expected<std::vector<ir::ValueId>> NodeContext::Op(
    OperatorCode code, std::vector<ir::ValueId> inputs, Attributes attributes,
    std::size_t outputs) {
  while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
  ir::Instr instr;
  instr.kind = ir::InstrKind::kOperator;
  instr.code = code;
  for (const ir::ValueId input : inputs) instr.operands.push_back({input});
  instr.attributes = std::move(attributes);
  if (Status status = CheckAttributes(InfoOf(code), instr.attributes);
      !status.has_value()) {
    return Invalid(status.error().message);
  }
  const std::string hint = node_.outputs.empty() || node_.outputs[0].empty()
                               ? std::string(InfoOf(code).mnemonic)
                               : std::string(node_.outputs[0]) + "_" +
                                     std::string(InfoOf(code).mnemonic);
  auto results = builder_.Add(std::move(instr), outputs, hint);
  if (!results.has_value()) {
    Error error = std::move(results).error();
    error.where = Where();
    return std::unexpected(std::move(error));
  }
  return results;
}

Expected<ir::ValueId> NodeContext::Op1(OperatorCode code,
                                       std::vector<ir::ValueId> inputs,
                                       Attributes attributes) {
  TRY(const auto results, Op(code, std::move(inputs), std::move(attributes)));
  return results[0];
}

Status NodeContext::Finish() {
  for (const Attribute& attribute : node_.attributes) {
    if (!asked_.contains(attribute.name)) {
      return Invalid("has an attribute \"" + std::string(attribute.name) +
                     "\" that the operator does not know");
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (Wants(i) && !outputs_[i].valid()) {
      return Invalid("gives fewer results than the " +
                     std::to_string(outputs_.size()) + " it names");
    }
  }
  return {};
}

}  // namespace ebb::onnx
