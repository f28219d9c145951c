#include "tools/output_writer.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "tools/element.h"
#include "tools/host_tensor.h"
#include "tools/json_output.h"
#include "tools/npy.h"
#include "tools/table.h"
#include "tools/tensor_summary.h"
#include "vm/value.h"

namespace ebb::tools {
namespace {

// Nesting ends where the verifier ends that of types; an explicit stack keeps
// the order.
void AddTensors(const std::string& name, const vm::Value* value,
                std::vector<NamedView>& to) {
  std::vector<std::pair<std::string, const vm::Value*>> pending = {
      {name, value}};
  while (!pending.empty()) {
    const auto [label, next] = pending.back();
    pending.pop_back();
    if (const vm::Tensor* tensor = vm::AsTensor(next)) {
      to.push_back({label, vm::ViewOf(*tensor)});
    } else if (const vm::Object* object = vm::AsObject(next)) {
      for (std::size_t i = object->fields.size(); i-- > 0;) {
        pending.emplace_back(label + "." + std::to_string(i),
                             object->fields[i]);
      }
    }
  }
}

std::string FileName(const std::string& name) {
  std::string file;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                       c == '.';
    file += plain ? c : '_';
  }
  // Neither hidden nor "..", and of a length that file systems take.
  constexpr std::size_t kMaxLength = 200;
  file.resize(std::min(file.size(), kMaxLength));
  return file.empty() || file[0] == '.' ? "_" + file : file;
}

}  // namespace

Expected<std::vector<NamedView>> OutputTensors(const vm::Session& session) {
  const bytecode::Module& module = session.program().module();
  const bytecode::Function& entry = session.program().entry();
  std::vector<NamedView> outputs;
  for (std::size_t i = 0; i < session.output_count(); ++i) {
    TRY(const vm::Value* value, session.OutputValue(i));
    std::string name = module.string(entry.results[i].name);
    if (name.empty()) name = "output_" + std::to_string(i);
    AddTensors(name, value, outputs);
  }
  return outputs;
}

Expected<std::vector<std::string>> WriteOutputs(
    const std::vector<NamedView>& outputs, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder)) {
    return Fail(ErrorCode::kIo,
                "cannot make the folder" +
                    (error ? ": " + error.message() : std::string()),
                folder);
  }
  std::vector<std::string> paths;
  std::set<std::string> taken;
  for (const NamedView& output : outputs) {
    const std::string base = FileName(output.name);
    std::string file = base;
    for (int n = 1; !taken.insert(file).second; ++n) {
      file = base + "_" + std::to_string(n);
    }
    paths.push_back((std::filesystem::path(folder) / (file + ".npy")).string());
    RETURN_IF_ERROR(WriteNpy(paths.back(), output.view));
  }
  return paths;
}

std::string OutputsText(const std::vector<NamedView>& outputs) {
  Table table({"", "", ""}, {Align::kLeft, Align::kLeft, Align::kLeft});
  for (const NamedView& output : outputs) {
    table.Add(
        {output.name, ShapeTextOf(output.view), SummaryText(output.view)});
  }
  return table.Text();
}

boost::json::array OutputsJson(const std::vector<NamedView>& outputs) {
  constexpr int64_t kFirst = 8;
  boost::json::array array;
  for (const NamedView& output : outputs) {
    const TensorSummary summary = Summarize(output.view);
    boost::json::object one;
    one["name"] = JsonText(output.name);
    one["dtype"] = std::string(DTypeName(output.view.dtype));
    one["shape"] = JsonInts(output.view.dims);
    if (summary.finite_count != 0) {
      one["min"] = summary.min;
      one["mean"] = summary.mean;
      one["max"] = summary.max;
    }
    one["nan_count"] = summary.nan_count;
    boost::json::array first;
    for (int64_t i = 0; i < std::min(summary.count, kFirst); ++i) {
      first.emplace_back(
          JsonText(ElementText(output.view.dtype, output.view.data, i)));
    }
    one["first"] = std::move(first);
    array.emplace_back(std::move(one));
  }
  return array;
}

}  // namespace ebb::tools
