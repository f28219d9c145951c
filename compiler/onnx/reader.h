// Reads ONNX's protobuf encoding with protozero, without copying: views point
// into `bytes`. Checks the encoding and the nesting of graphs (kMaxNesting);
// what the fields mean is checked by the importer.
#ifndef EBB_COMPILER_ONNX_READER_H_
#define EBB_COMPILER_ONNX_READER_H_

#include <cstddef>
#include <span>

#include "bytecode/error.h"
#include "compiler/onnx/proto.h"

namespace ebb::onnx {

Expected<Model> ReadModel(std::span<const std::byte> bytes);

// A TensorProto on its own, as in `.pb` files of test data.
Expected<Tensor> ReadTensor(std::span<const std::byte> bytes);

}  // namespace ebb::onnx

#endif  // EBB_COMPILER_ONNX_READER_H_
