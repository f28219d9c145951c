// NumPy's `.npy` files, read and written without NumPy: format versions 1 to
// 3, C and Fortran order, either byte order, all of NumPy's plain dtypes and
// its fixed-width strings (U as UTF-8, S as bytes).
//
// NumPy has no bfloat16, float8 or 4-bit integers. Written, a bfloat16 tensor
// becomes float32 (which holds it exactly), 4-bit integers become 8-bit ones,
// float8 becomes raw bytes (V1). `ConvertFromNpy` turns what was read back
// into what a model wants.
#ifndef EBB_TOOLS_NPY_H_
#define EBB_TOOLS_NPY_H_

#include <cstddef>
#include <span>
#include <string>

#include "bytecode/error.h"
#include "tools/host_tensor.h"
#include "vm/tensor_view.h"

namespace ebb::tools {

// `bytes` may be damaged or hostile: memory stays in proportion to them. Raw
// items (V2, V1) come as u16 and u8.
Expected<HostTensor> ParseNpy(std::span<const std::byte> bytes);
Expected<HostTensor> ReadNpy(const std::string& path);

// Whole or not at all. The view must be dense.
Status WriteNpy(const std::string& path, const vm::TensorView& view);

// The tensor as `wanted`, when wanted is a dtype that NumPy lacks: float32 or
// u16 bits to bfloat16, u8 bits to float8, 8-bit integers to 4-bit ones.
// Anything else comes back as it is.
Expected<HostTensor> ConvertFromNpy(HostTensor tensor, DType wanted);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_NPY_H_
