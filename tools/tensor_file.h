// Tensors of files other than `.npy`: TensorProto messages (`.pb`), as ONNX's
// test data has them, and raw bytes.
#ifndef EBB_TOOLS_TENSOR_FILE_H_
#define EBB_TOOLS_TENSOR_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/dtype.h"
#include "bytecode/error.h"
#include "tools/host_tensor.h"

namespace ebb::tools {

struct NamedTensor {
  std::string name;  // As the message has it; may be empty.
  HostTensor tensor;
};

// Errors name the file.
Expected<NamedTensor> ReadPb(const std::string& path);

// The file's bytes are the elements, dense row-major and little-endian.
Expected<HostTensor> ReadRaw(const std::string& path, DType dtype,
                             std::vector<int64_t> dims);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_TENSOR_FILE_H_
