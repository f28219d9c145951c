#include "tests/cases/case_files.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "bytecode/half.h"
#include "bytecode/mapped_file.h"
#include "compiler/onnx/reader.h"
#include "compiler/onnx/weights.h"

namespace ebb::cases {
namespace {

namespace fs = std::filesystem;

double FloatAt(DType dtype, const std::byte* data, std::size_t i) {
  const auto load = [&](auto value) {
    std::memcpy(&value, data + i * sizeof value, sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::kF64:
      return load(double());
    case DType::kF16:
      return F16ToF32(load(uint16_t()));
    case DType::kBF16:
      return BF16ToF32(load(uint16_t()));
    default:
      return static_cast<double>(load(float()));
  }
}

bool Close(DType dtype, double got, double expected) {
  if (std::isnan(expected)) return std::isnan(got);
  if (got == expected) return true;
  const double relative = DTypeBits(dtype) == 16 ? 2e-3 : 1e-4;
  return std::abs(got - expected) <= 1e-5 + relative * std::abs(expected);
}

Expected<std::vector<NamedTensor>> ReadFiles(const fs::path& folder,
                                             const std::string& stem) {
  std::vector<NamedTensor> tensors;
  for (int i = 0;; ++i) {
    const fs::path path = folder / (stem + std::to_string(i) + ".pb");
    if (!fs::exists(path)) return tensors;
    TRY(NamedTensor tensor, ReadTensorFile(path.string()));
    tensors.push_back(std::move(tensor));
  }
}

}  // namespace

vm::TensorView NamedTensor::View() {
  return {.dtype = dtype, .dims = dims, .strides = {}, .data = bytes.data()};
}

std::string FolderOf(const std::string& name) {
  const char* const shared = std::getenv("EBB_SHARED_DIR");
  if (shared == nullptr || *shared == '\0') return "";
  const fs::path folder = fs::path(shared) / "cases" / name;
  return fs::is_directory(folder) ? folder.string() : "";
}

Expected<NamedTensor> ReadTensorFile(const std::string& path) {
  TRY(const MappedFile file, MappedFile::Open(path));
  TRY(const onnx::Tensor proto, onnx::ReadTensor(file.bytes()));
  onnx::ExternalFiles none("");
  std::vector<std::shared_ptr<const void>> owned;
  TRY(const ir::Constant constant, onnx::ToConstant(proto, none, owned));
  NamedTensor tensor;
  tensor.name = constant.name;
  tensor.dtype = constant.dtype;
  tensor.dims = constant.dims;
  tensor.bytes.assign(constant.data.begin(), constant.data.end());
  return tensor;
}

Expected<DataSet> ReadDataSet(const std::string& name, int number) {
  const fs::path folder =
      fs::path(FolderOf(name)) / ("test_data_set_" + std::to_string(number));
  DataSet set;
  TRY(set.inputs, ReadFiles(folder, "input_"));
  TRY(set.outputs, ReadFiles(folder, "output_"));
  return set;
}

Expected<vm::ProgramRef> Compile(const std::string& name,
                                 compiler::CompileOptions options) {
  options.for_running = true;
  TRY(bytecode::Module module,
      compiler::CompileFile(FolderOf(name) + "/model.onnx", options));
  return vm::Program::Load(std::move(module), {});
}

Status Feed(vm::Session& session, std::vector<NamedTensor>& inputs) {
  for (NamedTensor& input : inputs) {
    TRY(const std::size_t index, session.InputIndex(input.name));
    RETURN_IF_ERROR(session.SetInput(index, input.View()));
  }
  return {};
}

std::string Difference(const vm::TensorView& got, const NamedTensor& expected) {
  const std::string wanted = vm::ShapeText(expected.dtype, expected.dims);
  const std::string shape = vm::ShapeText(got.dtype, got.dims);
  if (shape != wanted)
    return expected.name + " is " + shape + ", not " + wanted;
  const auto* data = static_cast<const std::byte*>(got.data);
  if (!IsFloat(expected.dtype)) {
    return expected.bytes.empty() || std::memcmp(data, expected.bytes.data(),
                                                 expected.bytes.size()) == 0
               ? ""
               : expected.name + " differs";
  }
  const auto size = static_cast<std::size_t>(DTypeBits(expected.dtype) / 8);
  for (std::size_t i = 0; i < expected.bytes.size() / size; ++i) {
    const double a = FloatAt(expected.dtype, data, i);
    const double b = FloatAt(expected.dtype, expected.bytes.data(), i);
    if (!Close(expected.dtype, a, b)) {
      return expected.name + "[" + std::to_string(i) + "] is " +
             std::to_string(a) + ", not " + std::to_string(b);
    }
  }
  return "";
}

std::string Difference(const vm::Session& session, const DataSet& set) {
  for (const NamedTensor& expected : set.outputs) {
    const auto index = session.OutputIndex(expected.name);
    if (!index.has_value()) return index.error().ToString();
    const auto got = session.Output(*index);
    if (!got.has_value()) return got.error().ToString();
    if (auto text = Difference(*got, expected); !text.empty()) return text;
  }
  return "";
}

std::string RunAndCompare(vm::Session& session, DataSet& set) {
  if (Status fed = Feed(session, set.inputs); !fed.has_value()) {
    return fed.error().ToString();
  }
  if (Status run = session.Run(); !run.has_value()) {
    return run.error().ToString();
  }
  return Difference(session, set);
}

}  // namespace ebb::cases
