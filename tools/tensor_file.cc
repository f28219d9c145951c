#include "tools/tensor_file.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "bytecode/mapped_file.h"
#include "compiler/onnx/reader.h"
#include "compiler/onnx/weights.h"

namespace ebb::tools {
namespace {

Error In(const std::string& path, Error error) {
  if (error.where != path) {
    error.where = error.where.empty() ? path : path + ": " + error.where;
  }
  return error;
}

Expected<NamedTensor> ParsePb(std::span<const std::byte> bytes) {
  TRY(const onnx::Tensor message, onnx::ReadTensor(bytes));
  onnx::ExternalFiles files("");
  std::vector<std::shared_ptr<const void>> owned;
  TRY(const ir::Constant constant, onnx::ToConstant(message, files, owned));
  TRY(HostTensor tensor, HostTensor::MakeOfBytes(constant.dtype, constant.dims,
                                                 constant.data.size()));
  std::ranges::copy(constant.data, tensor.bytes().begin());
  return NamedTensor{std::string(message.name), std::move(tensor)};
}

}  // namespace

Expected<NamedTensor> ReadPb(const std::string& path) {
  TRY(const MappedFile file, MappedFile::Open(path));
  auto tensor = ParsePb(file.bytes());
  if (!tensor.has_value()) {
    return std::unexpected(In(path, std::move(tensor).error()));
  }
  return tensor;
}

Expected<HostTensor> ReadRaw(const std::string& path, DType dtype,
                             std::vector<int64_t> dims) {
  TRY(const MappedFile file, MappedFile::Open(path));
  const auto needed = DTypeBytes(dtype, CountElements(dims));
  if (!needed.has_value() ||
      static_cast<uint64_t>(*needed) != file.bytes().size()) {
    return Fail(ErrorCode::kInvalidFile,
                "holds " + std::to_string(file.bytes().size()) + " bytes, " +
                    vm::ShapeText(dtype, dims) + " needs " +
                    (needed.has_value() ? std::to_string(*needed)
                                        : std::string("another form")),
                path);
  }
  TRY(HostTensor tensor, HostTensor::Make(dtype, std::move(dims)));
  std::ranges::copy(file.bytes(), tensor.bytes().begin());
  return tensor;
}

}  // namespace ebb::tools
