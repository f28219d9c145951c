// From a TensorProto to a constant: checks dims against bytes, borrows what
// lies in the model as it is (raw_data, external files) and decodes the rest.
// External files must lie in the model's folder and are mapped once.
#ifndef EBB_COMPILER_ONNX_WEIGHTS_H_
#define EBB_COMPILER_ONNX_WEIGHTS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bytecode/error.h"
#include "bytecode/mapped_file.h"
#include "compiler/ir/ir.h"
#include "compiler/onnx/proto.h"

namespace ebb::onnx {

// Maps the side files of one model, which lies in `folder`; "" when the model
// has no folder (it came as bytes): then external data is an error.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}

  // `location` as in the model. Refuses absolute paths and any that leave the
  // folder, by `..` or through links, before the file is opened.
  Expected<std::shared_ptr<const MappedFile>> Open(const std::string& location);

 private:
  std::string folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

// Bytes are borrowed from the tensor's message or from a mapped file; what
// keeps the latter (or decoded bytes) alive is added to `owned`. Errors name
// the tensor.
Expected<ir::Constant> ToConstant(
    const Tensor& tensor, ExternalFiles& files,
    std::vector<std::shared_ptr<const void>>& owned);

}  // namespace ebb::onnx

#endif  // EBB_COMPILER_ONNX_WEIGHTS_H_
