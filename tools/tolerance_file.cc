#include "tools/tolerance_file.h"

#include <boost/json.hpp>
#include <utility>

#include "tools/load_model.h"

namespace ebb::tools {
namespace {

namespace json = boost::json;

Expected<double> NumberOf(const json::value& value, const std::string& what) {
  if (value.is_double() && value.get_double() >= 0) return value.get_double();
  if (value.is_int64() && value.get_int64() >= 0) {
    return static_cast<double>(value.get_int64());
  }
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  return Fail(ErrorCode::kInvalidFile, what + " is not a number from 0 up");
}

Expected<ModelTolerance> ParseModel(const json::object& model,
                                    const std::string& id) {
  const std::string where = "model \"" + id + "\": ";
  ModelTolerance tolerance;
  if (const json::value* rtol = model.if_contains("rtol")) {
    TRY(tolerance.rtol, NumberOf(*rtol, where + "rtol"));
  }
  if (const json::value* atol = model.if_contains("atol")) {
    TRY(tolerance.atol, NumberOf(*atol, where + "atol"));
  }
  const json::value* outputs = model.if_contains("output_atol");
  if (outputs == nullptr) return tolerance;
  if (!outputs->is_object()) {
    return Fail(ErrorCode::kInvalidFile, where + "output_atol is no object");
  }
  for (const auto& [name, value] : outputs->get_object()) {
    TRY(const double atol,
        NumberOf(value, where + "output_atol of " + std::string(name)));
    tolerance.output_atol.emplace(name, atol);
  }
  return tolerance;
}

}  // namespace

Tolerance ModelTolerance::For(const std::string& output,
                              Tolerance otherwise) const {
  Tolerance tolerance = otherwise;
  tolerance.rtol = rtol.value_or(tolerance.rtol);
  tolerance.atol = atol.value_or(tolerance.atol);
  if (const auto at = output_atol.find(output); at != output_atol.end()) {
    tolerance.atol = at->second;
  }
  return tolerance;
}

Expected<ToleranceFile> ParseTolerances(const std::string& text) {
  boost::system::error_code error;
  const json::value document = json::parse(text, error);
  if (error) {
    return Fail(ErrorCode::kInvalidFile, "is not JSON: " + error.message());
  }
  const json::object* top = document.if_object();
  const json::value* models =
      top == nullptr ? nullptr : top->if_contains("models");
  if (models == nullptr || !models->is_array()) {
    return Fail(ErrorCode::kInvalidFile, "has no array \"models\"");
  }
  ToleranceFile tolerances;
  for (const json::value& entry : models->get_array()) {
    const json::object* model = entry.if_object();
    const json::value* id =
        model == nullptr ? nullptr : model->if_contains("id");
    if (id == nullptr || !id->is_string()) {
      return Fail(ErrorCode::kInvalidFile, "holds a model without an \"id\"");
    }
    const std::string name(id->get_string());
    TRY(ModelTolerance tolerance, ParseModel(*model, name));
    tolerances[name] = std::move(tolerance);
  }
  return tolerances;
}

Expected<ToleranceFile> ReadTolerances(const std::string& path) {
  TRY(const std::string text, ReadText(path));
  auto tolerances = ParseTolerances(text);
  if (!tolerances.has_value()) {
    Error error = std::move(tolerances).error();
    error.where = path;
    return std::unexpected(std::move(error));
  }
  return tolerances;
}

}  // namespace ebb::tools
